#include "wire/training_profile.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "json/document.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ProfileObject ReadProfile(std::string_view spec, std::string_view status = "{}") {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"image","namespace":"team","uid":"u","generation":3}},"spec":{},"status":{}}})",
      spec, status);
  const Result<json::Document> document = json::Document::Parse(text);
  EXPECT_TRUE(document);
  json::FieldReader fields(document->root());
  return ReadProfileObject(fields, document->root());
}

std::vector<std::string> ProblemsOf(std::string_view spec) {
  const ProfileObject object = ReadProfile(spec);
  EXPECT_EQ(object.profile == nullptr, !object.problems.empty());
  return object.problems;
}

TEST(ReadProfileTest, ReadsMeasuredPoints) {
  const ProfileObject object = ReadProfile(
      R"({"gpuProduct":"A100","gpus":2,"tolerance":0.05,"checkpoints":true,"points":[
        {"cpu":1,"memory":"10G","throughput":0.5},{"cpu":"2500m","memory":"10G","throughput":1}]})");
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.Key(), "team/image");
  EXPECT_EQ(object.uid, "u");
  EXPECT_EQ(object.generation, 3);
  EXPECT_EQ(object.training.model, "image");
  EXPECT_EQ(object.training.gpu_product, "A100");
  EXPECT_EQ(object.tolerance, 0.05);
  EXPECT_TRUE(object.checkpoints);
  ASSERT_NE(object.profile, nullptr);
  EXPECT_EQ(object.profile->gpus(), Gpus(2));
  EXPECT_EQ(object.profile->Demand(0), (ResourceVector{Gpus(2), MilliCpu(2500), GB(10)}));
}

TEST(ReadProfileTest, CalculatesTheMemoryDimension) {
  const ProfileObject object = ReadProfile(
      R"({"points":[{"cpu":3,"throughput":1000},{"cpu":12,"throughput":3000}],
        "datasetSize":"100G","storageBandwidth":"50M","bytesPerSample":"100k","memories":["20G",100000000000]})");
  EXPECT_THAT(object.problems, IsEmpty());
  ASSERT_NE(object.profile, nullptr);
  EXPECT_THAT(object.profile->memories(), ElementsAre(GB(20), GB(100)));
  EXPECT_EQ(object.training.gpus, Gpus(1));
}

TEST(ReadProfileTest, ReadsTheProcessMemory) {
  const std::string_view point = R"("points":[{"cpu":1,"memory":"10G","throughput":1}])";
  const auto with = [point](std::string_view memory) {
    return fmt::format(R"({{{},"processMemory":{}}})", point, memory);
  };
  EXPECT_EQ(ReadProfile(with(R"("4G")")).profile->process_memory(), GB(4));
  EXPECT_EQ(ReadProfile(with("null")).profile->process_memory(), std::nullopt);
  EXPECT_THAT(ProblemsOf(with("0")), ElementsAre("spec.processMemory: must be more than zero"));
  EXPECT_THAT(ProblemsOf(with(R"("11G")")), ElementsAre(HasSubstr("more than any point's memory")));
}

TEST(ReadProfileTest, ReadsWhatSpreadingCosts) {
  const auto with = [](std::string_view more) {
    return fmt::format(R"({{"points":[{{"cpu":1,"memory":"10G","throughput":1}}],{}}})", more);
  };
  const ProfileObject object =
      ReadProfile(with(R"("spreadSpeed":{"nodes":0.7,"racks":0.5},"tensorSkew":0.61)"));
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.profile->spread(), (SpreadCost{0.7, 0.5, 0.61}));
  EXPECT_EQ(ForGpus(object.profile, Gpus(4))->spread(), object.profile->spread());
  EXPECT_THAT(ProblemsOf(with(R"("spreadSpeed":{"racks":0.5})")),
              ElementsAre("spec.spreadSpeed.nodes: is missing"));
  EXPECT_THAT(ProblemsOf(with(R"("spreadSpeed":{"nodes":0})")),
              ElementsAre("spec.spreadSpeed.nodes: must be above 0 and at most 1"));
  EXPECT_THAT(ProblemsOf(with(R"("spreadSpeed":{"nodes":0.5,"racks":0.6})")),
              ElementsAre("spec.spreadSpeed.racks: must be at most nodes"));
  EXPECT_THAT(ProblemsOf(with(R"("tensorSkew":1.5)")),
              ElementsAre("spec.tensorSkew: must be from 0 to 1"));
}

TEST(ReadProfileTest, NamesEveryFieldThatIsWrong) {
  EXPECT_THAT(ProblemsOf("null"), ElementsAre("spec: is missing"));
  EXPECT_THAT(ProblemsOf("[]"), ElementsAre(HasSubstr("spec: must be an object")));
  EXPECT_THAT(ProblemsOf("{}"), ElementsAre("spec.points: is missing"));
  EXPECT_THAT(ProblemsOf(R"({"points":[]})"), ElementsAre("spec.points: the list is empty"));
  EXPECT_THAT(ProblemsOf(R"({"points":[7]})"),
              ElementsAre("spec.points[0]: must be an object, not a number"));
  EXPECT_THAT(
      ProblemsOf(R"({"gpus":0,"tolerance":1,"points":[{"cpu":"0","memory":"x","throughput":-1}]})"),
      ElementsAre(HasSubstr("spec.gpus: "), "spec.tolerance: must be at least 0 and below 1",
                  "spec.points[0].cpu: must be more than zero",
                  "spec.points[0].memory: \"x\" is not a quantity",
                  "spec.points[0].throughput: must not be negative"));
}

TEST(ReadProfileTest, NumbersHaveToBeNumbers) {
  for (const char* throughput : {R"("fast")", "true", "[]"}) {
    EXPECT_THAT(ProblemsOf(fmt::format(R"({{"points":[{{"cpu":1,"memory":1,"throughput":{}}}]}})",
                                       throughput)),
                ElementsAre(HasSubstr("spec.points[0].throughput: ")))
        << throughput;
  }
}

TEST(ReadProfileTest, PointsHaveAMemoryExactlyWhereItIsMeasured) {
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"throughput":1}]})"),
              ElementsAre(HasSubstr("spec.points[0]: memory is missing")));
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"memory":"1G","throughput":1}],
      "datasetSize":"1G","storageBandwidth":"1M","bytesPerSample":"1k"})"),
              ElementsAre(HasSubstr("spec.points[0].memory: must not be set in points")));
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"throughput":1}],"datasetSize":"1G"})"),
              ElementsAre("spec.storageBandwidth: is missing", "spec.bytesPerSample: is missing"));
}

TEST(ReadProfileTest, TheSameAmountsTwiceAreRefused) {
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"memory":"1G","throughput":1},
      {"cpu":"1000m","memory":1000000000,"throughput":2}]})"),
              ElementsAre("spec.points[1]: the same amounts as points[0]"));
}

TEST(ReadProfileTest, ProblemOfUnusablePointsNamesThem) {
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"memory":"1G","throughput":0}]})"),
              ElementsAre(HasSubstr("spec.points: ")));
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":"9e18","memory":"1G","throughput":1}]})"),
              ElementsAre(HasSubstr("spec.points: ")));
}

// One of these amounts to 2^63 bytes, which an earlier version counted one by one.
TEST(ReadProfileTest, AbsurdAmountsAreRefusedBeforeTheyAreCalculatedWith) {
  constexpr std::string_view kPoints = R"("points":[{"cpu":1,"throughput":1e17}])";
  const auto problems = [](std::string_view data, std::string_view bandwidth,
                           std::string_view sample, std::string_view rest) {
    return ProblemsOf(
        fmt::format(R"({{"datasetSize":"{}","storageBandwidth":"{}","bytesPerSample":"{}",{}}})",
                    data, bandwidth, sample, rest));
  };
  EXPECT_THAT(problems("8Ei", "1", "1", kPoints),
              ElementsAre("spec.points: the data set is more than 1Pi"));
  EXPECT_THAT(problems("1", "1e30", "1", kPoints),
              ElementsAre("spec.points: the storage's bandwidth is more than 1Pi"));
  EXPECT_THAT(problems("1", "1", "8E", kPoints),
              ElementsAre("spec.points: a sample is more than 1Pi"));
  EXPECT_THAT(
      problems("1Gi", "1", "1", R"("processMemory":"8Ei","points":[{"cpu":1,"throughput":1}])"),
      ElementsAre("spec.points: the process memory is negative or more than 1Pi"));
  EXPECT_THAT(
      problems("1Gi", "1", "1", R"("memories":["8Ei"],"points":[{"cpu":1,"throughput":1}])"),
      ElementsAre(HasSubstr("memory is negative or more than 1Pi")));
  EXPECT_THAT(problems("1Pi", "1", "1", R"("points":[{"cpu":1,"throughput":1e300}])"),
              ElementsAre(HasSubstr("throughput 1e+300: must be 0 or from 1e-18 to 1e+18")));
  EXPECT_THAT(problems("1Pi", "1", "1", kPoints), IsEmpty());
}

// The CustomResourceDefinition does not check a profile in a review.
TEST(ReadProfileTest, NoMorePointsAreReadThanTheApiServerLetsPass) {
  std::string points;
  for (int i = 0; i < 1025; ++i)
    points += fmt::format(R"({}{{"cpu":"{}m","throughput":1}})", i == 0 ? "" : ",", i + 1);
  const std::string cache = R"("datasetSize":1,"storageBandwidth":1,"bytesPerSample":1,)";
  EXPECT_THAT(ProblemsOf(fmt::format(R"({{{}"points":[{}]}})", cache, points)),
              ElementsAre("spec.points: has 1025 elements: at most 1024 are read"));
  points.resize(points.rfind(",{"));
  std::string memories = "1";
  for (int i = 1; i < 64; ++i) memories += fmt::format(",{}", i + 1);
  EXPECT_THAT(
      ProblemsOf(fmt::format(R"({{{}"memories":[{}],"points":[{}]}})", cache, memories, points)),
      ElementsAre("spec.points: 1024 CPU amounts and 64 memory amounts: more than 16384 cells"));
  EXPECT_THAT(
      ProblemsOf(fmt::format(R"({{{}"memories":[{},65],"points":[{{"cpu":1,"throughput":1}}]}})",
                             cache, memories)),
      ElementsAre("spec.memories: has 65 elements: at most 64 are read"));
}

TEST(ReadProfileTest, ManyProblemsAreCounted) {
  std::string points;
  for (int i = 0; i < 100; ++i) points += points.empty() ? "7" : ",7";
  const std::vector<std::string> problems = ProblemsOf("{\"points\":[" + points + "]}");
  EXPECT_LT(problems.size(), 20U);
  EXPECT_THAT(problems.back(), HasSubstr("more"));
}

TEST(ProfileStatusTest, StatusIsReadBackUnchanged) {
  ProfileStatus status;
  status.observed_generation = 3;
  status.demand_cpu = "9";
  status.demand_memory = "80G";
  status.speed_up = "2.4";
  status.valid = "True";
  status.reason = "Usable";
  status.message = "a \"quoted\" one";
  status.since = "2026-11-21T07:05:03Z";
  status.contradiction = "with 9 of CPU pods are 1.00 times as fast as with 3";
  status.contradicted_since = "2026-11-22T07:05:03Z";
  const Result<json::Document> written = json::Document::Parse(WriteProfileStatus("u", status));
  ASSERT_TRUE(written);
  EXPECT_EQ(written->root()["metadata"]["uid"].text(), "u");
  const std::string text = WriteProfileStatus("u", status);
  const ProfileObject object = ReadProfile(
      "{}", text.substr(text.find(R"({"observed)"), text.size() - text.find(R"({"observed)") - 1));
  EXPECT_EQ(object.status, status);
}

TEST(ProfileStatusTest, WriteRemovesAbsentMembers) {
  ProfileStatus status;
  status.valid = "False";
  status.reason = "Unusable";
  status.since = "2026-11-21T07:05:03Z";
  const Result<json::Document> written = json::Document::Parse(WriteProfileStatus("u", status));
  ASSERT_TRUE(written);
  const Value body = written->root()["status"];
  EXPECT_TRUE(body["demand"].absent() && !body["demand"].missing());
  EXPECT_TRUE(body["speedUp"].absent() && !body["speedUp"].missing());
}

MeasuredProfile MeasuredBert() {
  MeasuredProfile measured;
  measured.workload = "bert";
  measured.gpu_product = "A100";
  measured.gpus = Gpus(2);
  measured.node = "n1";
  measured.revision = 3;
  measured.at = WallTime(std::chrono::microseconds(1'764'000'000'123'456));
  measured.points = {{MilliCpu(75), 37.5, PointCertainty::kExact, 2, 0.01},
                     {Cores(1), 99.5, PointCertainty::kAtLeast, 1, 0},
                     {Cores(8), 1e-7 + 99.5, PointCertainty::kGuess, 0, 0}};
  measured.cpu_seconds = 0.002;
  measured.confirmed = true;
  measured.censored = true;
  measured.estimate = true;
  measured.probes = 2;
  measured.lost_iterations = 12.5;
  measured.note = "a \"quoted\" one";
  return measured;
}

// Returns the controller's object as the API server stores it after `status` is written.
ProfileObject Kept(const MeasuredProfile& measured, const std::string& patch) {
  std::string text = WriteNewMeasured("team", measured);
  text.pop_back();
  const size_t status = patch.find(R"("status":)");
  const Result<ProfileObject> object =
      ReadTrainingProfile(text + (patch.empty() ? "}" : "," + patch.substr(status)));
  EXPECT_TRUE(object);
  return *object;
}

TEST(MeasuredProfileTest, ProfileIsReadBackUnchanged) {
  const MeasuredProfile measured = MeasuredBert();
  const ProfileObject object = Kept(measured, WriteMeasured("u", measured));
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.profile_namespace, "team");
  EXPECT_EQ(object.name, MeasuredName("bert", Gpus(2), "A100"));
  EXPECT_TRUE(object.kept_by_us);
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(*object.measured, measured);
  EXPECT_EQ(object.PointsGeneration(), 3);
  ASSERT_NE(object.profile, nullptr);
  EXPECT_EQ(object.profile->ThroughputAt(MilliCpu(75), GiB(1)), 37.5);
  EXPECT_FALSE(object.profile->process_memory());
  const Result<JobProfile> again = MakeJobProfile(object.training);
  ASSERT_TRUE(again) << "a journal has the training alone";
  EXPECT_EQ(again->ThroughputAt(MilliCpu(500), GiB(1)),
            object.profile->ThroughputAt(MilliCpu(500), GiB(1)));
}

TEST(MeasuredProfileTest, HasLooserIdentitiesAndItsSource) {
  MeasuredProfile measured = MeasuredBert();
  measured.alike = {.arguments = "a-0123456789abcdef", .owner = "o-fedcba9876543210"};
  measured.taken = {"measured-w-1", LooserIdentity::kOwner};
  const ProfileObject object = Kept(measured, WriteMeasured("u", measured));
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(*object.measured, measured);
  measured.taken.reset();
  measured.alike = {};
  const Result<json::Document> written = json::Document::Parse(WriteMeasured("u", measured));
  ASSERT_TRUE(written);
  const Value body = written->root()["status"]["measured"];
  EXPECT_TRUE(body["takenFrom"].absent() && !body["takenFrom"].missing()) << "it is taken away";

  std::string odd = WriteMeasured("u", measured);
  odd.replace(odd.find(R"("takenFrom":null)"), 16, R"("takenFrom":{"profile":"p","by":"x"})");
  EXPECT_THAT(Kept(measured, odd).problems, ElementsAre(HasSubstr("takenFrom.by")));
}

TEST(MeasuredProfileTest, HasTheSizeOfTheGang) {
  MeasuredProfile measured = MeasuredBert();
  measured.gang_size = 4;
  const ProfileObject object = Kept(measured, WriteMeasured("u", measured));
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.gang_size, 4);
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(*object.measured, measured);
  EXPECT_THAT(
      ReadProfile(R"({"gangSize":4,"points":[{"cpu":1,"memory":"1G","throughput":1}]})").problems,
      ElementsAre(HasSubstr("spec.gangSize")));
  EXPECT_THAT(ReadProfile(R"({"workload":"bert","gangSize":257})").problems,
              ElementsAre(HasSubstr("spec.gangSize")));
}

TEST(MeasuredProfileTest, WriteRemovesMembersThatAreNoLongerKnown) {
  MeasuredProfile measured = MeasuredBert();
  measured.cpu_seconds.reset();
  const Result<json::Document> written = json::Document::Parse(WriteMeasured("u", measured));
  ASSERT_TRUE(written);
  EXPECT_EQ(written->root()["metadata"]["uid"].text(), "u");
  const Value body = written->root()["status"]["measured"];
  EXPECT_TRUE(body["cpuSeconds"].absent() && !body["cpuSeconds"].missing());
}

TEST(MeasuredProfileTest, MemoryIsReadBackAndPartOfTheProfile) {
  MeasuredProfile measured = MeasuredBert();
  measured.memory = MeasuredMemory{GB(8), GB(40), Bytes(4'000'001), Bytes(20'000'000), true};
  const ProfileObject object = Kept(measured, WriteMeasured("u", measured));
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(*object.measured, measured);
  EXPECT_EQ(object.training.process_memory, GB(8));
  ASSERT_TRUE(object.training.cached);
  EXPECT_EQ(object.training.cached->model.data_set, GB(40));
  EXPECT_EQ(object.profile->process_memory(), GB(8));
  measured.memory->storage_bandwidth.reset();
  measured.memory->confirmed = false;
  EXPECT_EQ(Kept(measured, WriteMeasured("u", measured)).measured, measured);
  measured.memory->data_set = measured.memory->bytes_per_iteration = Bytes(0);
  EXPECT_EQ(Kept(measured, WriteMeasured("u", measured)).measured, measured);
}

const WallTime kPackedAt{std::chrono::seconds(1'764'000'000)};

// Returns the profile with this status.packing.
ProfileObject WithPacking(const std::string& records,
                          std::vector<std::string>* problems = nullptr) {
  const std::string text = R"({"kind":"TrainingProfile","metadata":{"name":"p","namespace":"team",)"
                           R"("uid":"u","resourceVersion":"41"},"spec":{"workload":"bert"},)"
                           R"("status":{"packing":)" +
                           records + "}}";
  const Result<json::Document> document = json::Document::Parse(text);
  EXPECT_TRUE(document);
  json::FieldReader fields(document->root());
  ProfileObject object = ReadProfileObject(fields, document->root());
  if (problems != nullptr) *problems = fields.findings();
  EXPECT_THAT(object.problems, IsEmpty()) << "the profile does not depend on them";
  return object;
}

TEST(PackingStatusTest, RecordsAreReadBack) {
  const std::vector<PackRecord> records = {
      {"bert", true, 0.8125, 0.7, 0, kPackedAt, {}},
      {"cnn", false, 0, 1e-9, 3, kPackedAt, std::chrono::minutes(40)}};
  const std::string body = WritePacking(WithPacking("[]"), records);
  EXPECT_THAT(body, HasSubstr(R"("uid":"u","resourceVersion":"41")"));
  const size_t begin = body.find('[');
  std::vector<std::string> problems;
  EXPECT_EQ(WithPacking(body.substr(begin, body.rfind(']') - begin + 1), &problems).packing,
            records);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(WritePacking(WithPacking("[]"), {}), HasSubstr(R"("packing":[])"));
}

TEST(PackingStatusTest, RecordsThatCannotBeReadAreLeftOutAndReported) {
  const std::string good =
      R"({"with":"cnn","verdict":"Good","speed":0.8,"otherSpeed":0.7,"at":"2026-11-21T07:05:03Z"})";
  const std::string refused =
      R"({"with":"cnn","verdict":"Refused","speed":0.4,"otherSpeed":0.4,"refusals":1,)"
      R"("at":"2026-11-21T07:05:03Z","refusedUntil":"2026-11-21T11:05:03Z"})";
  const auto changed = [](std::string record, const std::string& from, const std::string& to) {
    record.replace(record.find(from), from.size(), to);
    return record;
  };
  for (const std::string& bad :
       {std::string("7"), std::string("{}"), changed(good, "0.8", "-0.1"),
        changed(good, "0.8", "11"), changed(good, "0.8", "1e300"), changed(good, "0.8", R"("NaN")"),
        changed(good, "cnn", ""), changed(good, "cnn", std::string(64, 'w')),
        changed(good, "Good", "Best"), changed(good, "2026-11", "now"),
        changed(good, "2026-11", "1801-11"), changed(refused, ":1,", ":0,"),
        changed(refused, ":1,", ":9999999,"), changed(refused, "11:05:03", "11:05:04"),
        changed(refused, "11:05:03", "07:05:02"), changed(refused, "T11", "T1"),
        changed(refused, R"("2026-11-21T11)", R"("2199-11-21T11)")}) {
    std::vector<std::string> problems;
    const ProfileObject object =
        WithPacking("[" + bad + "," + changed(good, "cnn", "gpt") + "]", &problems);
    ASSERT_EQ(object.packing.size(), 1U) << bad;
    EXPECT_EQ(object.packing.front().with, "gpt");
    EXPECT_THAT(problems, Not(IsEmpty())) << bad;
  }
  std::vector<std::string> problems;
  EXPECT_EQ(WithPacking("[" + good + "," + refused + "]", &problems).packing.size(), 1U);
  EXPECT_THAT(problems, ElementsAre("status.packing[1]: is of the same workload as another one"));
  std::string many = "[" + good;
  for (int other = 0; other < 64; ++other)
    many += "," + changed(good, "cnn", "w" + std::to_string(other));
  EXPECT_THAT(WithPacking(many + "]", &problems).packing, IsEmpty());
  EXPECT_THAT(problems, ElementsAre("status.packing: has 65 elements: at most 64 are read"));
  EXPECT_THAT(WithPacking("{}", &problems).packing, IsEmpty());
}

TEST(MeasuredProfileTest, ARaiseOfItsMemoryIsReadBackAndCounts) {
  MeasuredProfile measured = MeasuredBert();
  measured.memory = MeasuredMemory{GB(8), GB(40), Bytes(4'000'001), Bytes(20'000'000), true};
  ProfileObject object = Kept(measured, WriteMeasured("u", measured));
  object.resource_version = "41";
  const MemoryRaise raise{.process = GB(12),
                          .too_small = GB(9),
                          .times = 2,
                          .at = *ParseTime("2026-11-27T08:00:00Z"),
                          .ran = std::chrono::seconds(90)};
  const std::string body = WriteMemoryRaise(object, raise);
  EXPECT_THAT(body, HasSubstr(R"("resourceVersion":"41")"));
  const auto with_raise = [&] {
    std::string patch = WriteMeasured("u", measured);
    const size_t member = body.find(R"("memoryRaise")");
    patch.insert(patch.find(R"("measured")"), body.substr(member, body.size() - member - 2) + ",");
    return Kept(measured, patch);
  };
  object = with_raise();
  EXPECT_THAT(object.problems, IsEmpty());
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(object.measured->raise, raise);
  EXPECT_EQ(object.profile->process_memory(), GB(12));
  EXPECT_EQ(object.training.process_memory, GB(12));
  EXPECT_EQ(object.PointsGeneration(), 5) << "running pods get it, too";
  // It ends by a measurement.
  measured.memory->raise_over = raise.at;
  object = with_raise();
  ASSERT_TRUE(object.measured);
  EXPECT_EQ(object.measured->memory, measured.memory);
  EXPECT_EQ(object.profile->process_memory(), GB(9));
  measured.memory->process = GB(10);
  EXPECT_EQ(with_raise().profile->process_memory(), GB(10));
}

// If the CRD is older than the controller, the API server drops members that it does not know.
TEST(MeasuredProfileTest, MembersThatTheApiServerHasDroppedAreNotKnown) {
  MeasuredProfile measured = MeasuredBert();
  const std::string without = WriteMeasured("u", measured);
  measured.memory = MeasuredMemory{GB(8), GB(40), MiB(4), MiB(20), true};
  std::string patch = WriteMeasured("u", measured);
  const size_t begin = patch.find(R"(,"memory":)");
  ASSERT_NE(begin, std::string::npos);
  patch.erase(begin, patch.find('}', begin) + 1 - begin);
  const ProfileObject object = Kept(measured, patch);
  EXPECT_EQ(object.problems, std::vector<std::string>());
  ASSERT_TRUE(object.measured);
  EXPECT_FALSE(object.measured->memory);
  EXPECT_FALSE(object.profile->process_memory());
  EXPECT_NE(without.find(R"("memory":null)"), std::string::npos) << "what was there has to go";
}

TEST(MeasuredProfileTest, AWorkloadWithoutPointsIsNotMeasuredYetAndNoProblem) {
  const ProfileObject object = Kept(MeasuredBert(), "");
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.workload, "bert");
  EXPECT_EQ(object.profile, nullptr);
  EXPECT_FALSE(object.measured);
}

TEST(MeasuredProfileTest, ObjectWithOwnPointsIsGivenNotMeasured) {
  const ProfileObject object =
      ReadProfile(R"({"workload":"bert","points":[{"cpu":1,"memory":"1G","throughput":1}]})",
                  R"({"measured":{"revision":1,"at":"2026-11-21T07:05:03Z","points":[]}})");
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_NE(object.profile, nullptr);
  EXPECT_FALSE(object.measured || object.kept_by_us);
  EXPECT_EQ(object.PointsGeneration(), 3);
}

TEST(MeasuredProfileTest, MeasurementOfAnotherWorkloadIsNotUsed) {
  const std::string patch = WriteMeasured("u", MeasuredBert());
  MeasuredProfile other = MeasuredBert();
  other.gpus = Gpus(4);
  std::string text = WriteNewMeasured("team", MeasuredBert());
  text.replace(text.find(R"("gpus":2)"), 8, R"("gpus":4)").pop_back();
  const Result<ProfileObject> object =
      ReadTrainingProfile(text + "," + patch.substr(patch.find(R"("status":)")));
  ASSERT_TRUE(object);
  EXPECT_EQ(object->profile, nullptr);
  EXPECT_THAT(object->problems, ElementsAre(HasSubstr("is of another workload")));
}

TEST(MeasuredProfileTest, InvalidMeasurementHasAProblem) {
  const std::string good = WriteMeasured("u", MeasuredBert());
  for (const auto& [from, to] : {std::pair(R"("at least")", R"("perhaps")"),
                                 std::pair(R"("throughput":37.5)", R"("throughput":-1)"),
                                 std::pair(R"("revision":3)", R"("revision":0)"),
                                 std::pair(R"("cpu":"75m")", R"("cpu":"0")")}) {
    std::string patch = good;
    patch.replace(patch.find(from), std::string_view(from).size(), to);
    const ProfileObject object = Kept(MeasuredBert(), patch);
    EXPECT_EQ(object.profile, nullptr) << to;
    EXPECT_FALSE(object.measured) << to;
    EXPECT_FALSE(object.problems.empty()) << to;
  }
}

TEST(MeasuredProfileTest, NoMemoryIsMeasured) {
  EXPECT_THAT(ReadProfile(R"({"workload":"bert","processMemory":"1G"})").problems,
              ElementsAre(HasSubstr("need points")));
}

}  // namespace
}  // namespace synergy::wire
