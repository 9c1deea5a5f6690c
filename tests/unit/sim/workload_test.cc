#include "sim/workload.h"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr std::array<std::string_view, 5> kImage = {"alexnet", "res18", "res50", "mobilenet",
                                                    "shufflenet"};
constexpr std::array<std::string_view, 3> kLanguage = {"gnmt", "transformer", "lstm"};
constexpr std::array<std::string_view, 2> kSpeech = {"m5", "deepspeech"};

ModelFacts AllModels() {
  ModelFacts facts;
  const auto add = [&](std::string_view model) {
    facts.Set(std::string(model), Gpus(1), {.iteration_time = Seconds(0.6)});
  };
  for (const std::string_view model : kImage) add(model);
  for (const std::string_view model : kLanguage) add(model);
  for (const std::string_view model : kSpeech) add(model);
  return facts;
}

std::vector<TraceJob> Make(const WorkloadOptions& options) {
  auto jobs = GenerateWorkload(options, AllModels());
  EXPECT_TRUE(jobs) << jobs.error().message;
  return jobs ? *std::move(jobs) : std::vector<TraceJob>();
}

std::string WorkloadError(std::string_view text) {
  const auto options = ParseWorkloadOptions(text);
  return options ? "no error" : options.error().message;
}

void ExpectSame(const std::vector<TraceJob>& a, const std::vector<TraceJob>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t at = 0; at < a.size(); ++at) {
    SCOPED_TRACE(at);
    EXPECT_EQ(a[at].id, b[at].id);
    EXPECT_EQ(a[at].model, b[at].model);
    EXPECT_EQ(a[at].arrival, b[at].arrival);
    EXPECT_EQ(a[at].total_iterations, b[at].total_iterations);
    EXPECT_EQ(a[at].gpus, b[at].gpus);
    EXPECT_EQ(a[at].iteration_time, b[at].iteration_time);
    EXPECT_EQ(a[at].duration, b[at].duration);
  }
}

TEST(WorkloadOptionsTest, EveryPartIsRead) {
  const auto options =
      ParseWorkloadOptions("rate=4.5/h,split=50:0:50,gpus=1x3:16x0.5,jobs=7000,seed=7");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->jobs_per_hour, 4.5);
  EXPECT_EQ(options->split, (std::array<int, 3>{50, 0, 50}));
  EXPECT_EQ(options->gpus, (std::vector<std::pair<int64_t, double>>{{1, 3}, {16, 0.5}}));
  EXPECT_EQ(options->jobs, 7000);
  EXPECT_EQ(options->seed, 7U);
}

TEST(WorkloadOptionsTest, PartsMayBeLeftOut) {
  const auto options = ParseWorkloadOptions("");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->jobs, 1000);
  EXPECT_EQ(options->jobs_per_hour, 9);
}

TEST(WorkloadOptionsTest, PhillysGpuCountsHaveAName) {
  const auto options = ParseWorkloadOptions("gpus=philly");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->gpus,
            (std::vector<std::pair<int64_t, double>>{{1, 70}, {2, 10}, {4, 15}, {8, 5}}));
}

TEST(WorkloadOptionsTest, OneNumberOfGpusNeedsNoWeight) {
  const auto options = ParseWorkloadOptions("gpus=4");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->gpus, (std::vector<std::pair<int64_t, double>>{{4, 1}}));
}

TEST(WorkloadOptionsTest, ErrorsNameThePartAndTheCure) {
  EXPECT_EQ(WorkloadError("rate"), "workload: \"rate\" is not of the form name=value");
  EXPECT_EQ(WorkloadError("rate=9/h,"), "workload: \"\" is not of the form name=value");
  EXPECT_EQ(WorkloadError("pace=9/h"),
            "workload: unknown \"pace\": use rate, split, gpus, jobs and seed");
  EXPECT_EQ(WorkloadError("rate=9"), "workload: rate is \"9\": expected jobs per hour, as 9/h");
  EXPECT_EQ(WorkloadError("split=20:70"),
            "workload: split is \"20:70\": expected image:language:speech in percent, together "
            "100, as 20:70:10");
  EXPECT_EQ(WorkloadError("gpus=1x"),
            "workload: gpus is \"1x\": expected philly, a number, or numbers with weights as "
            "1x70:2x10");
  EXPECT_EQ(WorkloadError("jobs=0"),
            "workload: jobs is \"0\": expected a number from 1 to 10000000");
  EXPECT_EQ(WorkloadError("seed=-1"), "workload: seed is \"-1\": expected a whole number from 0");
}

TEST(WorkloadOptionsTest, FiguresThatMakeNoSenseAreRejected) {
  for (const char* text : {"rate=0/h",
                           "rate=-9/h",
                           "rate=nan/h",
                           "rate=inf/h",
                           "rate=2e6/h",
                           "rate=/h",
                           "rate=9/d",
                           "split=20:70:11",
                           "split=-10:100:10",
                           "split=a:b:c",
                           "split=20:70:10:0",
                           "split=2147483647:2147483647:102",
                           "gpus=",
                           "gpus=0",
                           "gpus=1025",
                           "gpus=1x0",
                           "gpus=1x-1",
                           "gpus=1x2x3",
                           "gpus=1xinf",
                           "gpus=1xnan",
                           "gpus=Philly",
                           "jobs=10000001",
                           "jobs=1e3",
                           "jobs=-5",
                           "seed=1.5",
                           "seed="}) {
    EXPECT_NE(WorkloadError(text), "no error") << text;
  }
}

TEST(WorkloadTest, TheSameSeedGivesTheSameJobs) {
  const WorkloadOptions options{.gpus = {{1, 70}, {8, 30}}, .jobs = 200, .seed = 7};
  ExpectSame(Make(options), Make(options));
}

TEST(WorkloadTest, AnotherSeedGivesOtherJobs) {
  const auto a = Make({.jobs = 10, .seed = 7});
  const auto b = Make({.jobs = 10, .seed = 8});
  EXPECT_NE(ToTraceCsv(a), ToTraceCsv(b));
}

TEST(WorkloadTest, ClassesHaveTheirProportionsAndModelsTakeTurns) {
  std::map<std::string, int, std::less<>> counts;
  for (const TraceJob& job : Make({.split = {20, 70, 10}, .jobs = 300})) ++counts[job.model];
  for (const std::string_view model : kImage) EXPECT_EQ(counts.find(model)->second, 12) << model;
  for (const std::string_view model : kLanguage) EXPECT_EQ(counts.find(model)->second, 70) << model;
  for (const std::string_view model : kSpeech) EXPECT_EQ(counts.find(model)->second, 15) << model;
}

TEST(WorkloadTest, AClassWithoutAPartHasNoJobs) {
  for (const TraceJob& job : Make({.split = {0, 0, 100}, .jobs = 20})) {
    EXPECT_TRUE(job.model == "m5" || job.model == "deepspeech") << job.model;
  }
}

TEST(WorkloadTest, JobsArriveAtTheRateInOrderAndLastAsLongAsPhillys) {
  const auto jobs = Make({.jobs_per_hour = 9, .jobs = 5000});
  Seconds last{};
  size_t short_ones = 0;
  for (size_t at = 0; at < jobs.size(); ++at) {
    const TraceJob& job = jobs[at];
    EXPECT_EQ(job.id, static_cast<int64_t>(at));
    EXPECT_GT(job.arrival, last);
    last = job.arrival;
    // The job runs until the iteration ends that was under way when the time was up.
    EXPECT_GE(job.duration, Seconds(60 * 31.6) - job.iteration_time);
    EXPECT_LE(job.duration, Seconds(60 * 10'000));
    EXPECT_EQ(job.duration, job.iteration_time * static_cast<double>(job.total_iterations));
    if (job.duration < Seconds(60 * 1000) - job.iteration_time) ++short_ones;
  }
  EXPECT_NEAR(last.count() / 3600, 5000.0 / 9, 5000.0 / 9 * 0.05);
  EXPECT_NEAR(static_cast<double>(short_ones) / 5000, 0.8, 0.02);
}

TEST(WorkloadTest, GpuCountsHaveTheirWeights) {
  size_t large = 0;
  for (const TraceJob& job : Make({.gpus = {{1, 3}, {8, 1}}, .jobs = 4000})) {
    ASSERT_TRUE(job.gpus == Gpus(1) || job.gpus == Gpus(8));
    if (job.gpus == Gpus(8)) ++large;
  }
  EXPECT_NEAR(static_cast<double>(large) / 4000, 0.25, 0.025);
}

TEST(WorkloadTest, TraceIsReadBackUnchanged) {
  const auto jobs = Make({.jobs_per_hour = 7, .gpus = {{1, 70}, {4, 30}}, .jobs = 500});
  const auto read = ParseTrace(ToTraceCsv(jobs), "made.csv");
  ASSERT_TRUE(read) << read.error().message;
  ExpectSame(*read, jobs);
}

TEST(WorkloadTest, ModelsOfOtherProfilesTakeTurns) {
  ModelFacts facts;
  facts.Set("mine", Gpus(1), {.iteration_time = Seconds(1)});
  ProfileObject object;
  object.name = "theirs";
  facts.SetObject(object);
  const auto jobs = GenerateWorkload({.split = {0, 100, 0}, .jobs = 3}, facts);
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ((*jobs)[0].model, "mine");
  EXPECT_EQ((*jobs)[1].model, "theirs");
  EXPECT_EQ((*jobs)[1].iteration_time, Seconds(1));
  EXPECT_EQ((*jobs)[2].model, "mine");
  EXPECT_FALSE(GenerateWorkload({.jobs = 2}, ModelFacts()));
}

}  // namespace
}  // namespace synergy::testing
