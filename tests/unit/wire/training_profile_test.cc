#include "wire/training_profile.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/document.h"
#include "wire/object_readers.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ProfileObject Read(std::string_view spec, std::string_view status = "{}") {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"image","namespace":"team","uid":"u","generation":3}},"spec":{},"status":{}}})",
      spec, status);
  const Result<json::Document> document = json::Document::Parse(text);
  EXPECT_TRUE(document);
  return ReadProfileObject(document->root());
}

std::vector<std::string> ProblemsOf(std::string_view spec) {
  const ProfileObject object = Read(spec);
  EXPECT_EQ(object.profile == nullptr, !object.problems.empty());
  return object.problems;
}

TEST(ReadProfileTest, ReadsMeasuredPoints) {
  const ProfileObject object = Read(
      R"({"gpuProduct":"A100","gpus":2,"tolerance":0.05,"points":[
        {"cpu":1,"memory":"10G","throughput":0.5},{"cpu":"2500m","memory":"10G","throughput":1}]})");
  EXPECT_THAT(object.problems, IsEmpty());
  EXPECT_EQ(object.Key(), "team/image");
  EXPECT_EQ(object.uid, "u");
  EXPECT_EQ(object.generation, 3);
  EXPECT_EQ(object.training.model, "image");
  EXPECT_EQ(object.training.gpu_product, "A100");
  EXPECT_EQ(object.tolerance, 0.05);
  ASSERT_NE(object.profile, nullptr);
  EXPECT_EQ(object.profile->gpus(), Gpus(2));
  EXPECT_EQ(object.profile->Demand(0), (ResourceVector{Gpus(2), MilliCpu(2500), GB(10)}));
}

TEST(ReadProfileTest, CalculatesTheMemoryDimension) {
  const ProfileObject object = Read(
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
  EXPECT_EQ(Read(with(R"("4G")")).profile->process_memory(), GB(4));
  EXPECT_EQ(Read(with("null")).profile->process_memory(), std::nullopt);
  EXPECT_THAT(ProblemsOf(with("0")), ElementsAre("spec.processMemory: must be more than zero"));
  EXPECT_THAT(ProblemsOf(with(R"("11G")")), ElementsAre(HasSubstr("more than any point's memory")));
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
              ElementsAre(HasSubstr("spec.points[0].memory: points have no memory")));
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"throughput":1}],"datasetSize":"1G"})"),
              ElementsAre("spec.storageBandwidth: is missing", "spec.bytesPerSample: is missing"));
}

TEST(ReadProfileTest, TheSameAmountsTwiceAreRefused) {
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"memory":"1G","throughput":1},
      {"cpu":"1000m","memory":1000000000,"throughput":2}]})"),
              ElementsAre("spec.points[1]: the same amounts as points[0]"));
}

TEST(ReadProfileTest, WhatNoProfileCanBeMadeOfIsToldOfThePoints) {
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":1,"memory":"1G","throughput":0}]})"),
              ElementsAre(HasSubstr("spec.points: ")));
  EXPECT_THAT(ProblemsOf(R"({"points":[{"cpu":"9e18","memory":"1G","throughput":1}]})"),
              ElementsAre(HasSubstr("spec.points: ")));
}

TEST(ReadProfileTest, ManyProblemsAreCounted) {
  std::string points;
  for (int i = 0; i < 100; ++i) points += points.empty() ? "7" : ",7";
  const std::vector<std::string> problems = ProblemsOf("{\"points\":[" + points + "]}");
  EXPECT_LT(problems.size(), 20U);
  EXPECT_THAT(problems.back(), HasSubstr("more"));
}

TEST(ProfileStatusTest, WhatIsWrittenIsRead) {
  ProfileStatus status;
  status.observed_generation = 3;
  status.demand_cpu = "9";
  status.demand_memory = "80G";
  status.speed_up = "2.4";
  status.valid = "True";
  status.reason = "Usable";
  status.message = "a \"quoted\" one";
  status.since = "2026-11-21T07:05:03Z";
  const Result<json::Document> written = json::Document::Parse(WriteProfileStatus("u", status));
  ASSERT_TRUE(written);
  EXPECT_EQ(written->root()["metadata"]["uid"].text(), "u");
  const std::string text = WriteProfileStatus("u", status);
  const ProfileObject object = Read(
      "{}", text.substr(text.find(R"({"observed)"), text.size() - text.find(R"({"observed)") - 1));
  EXPECT_EQ(object.status, status);
}

TEST(ProfileStatusTest, WhatThereIsNotIsTakenAway) {
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

}  // namespace
}  // namespace synergy::wire
