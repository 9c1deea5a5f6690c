#include "wire/kueue/queued_job.h"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

QueuedJob ReadJob(const std::string& annotations,
                  const std::string& spec = R"("completionMode":"Indexed","completions":3)") {
  const auto page = ObjectReader().ReadList<QueuedJob>(
      R"({"items":[{"metadata":{"name":"train","namespace":"team","uid":"u","resourceVersion":"7",)"
      R"("annotations":{)" +
      annotations + R"(}},"spec":{"parallelism":3,)" + spec + R"(},"status":{"succeeded":1}}]})");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

const std::string kBounds = R"("synergy.io/min-workers":"2","synergy.io/max-workers":"8")";

TEST(QueuedJobs, HaveTheirBoundsOfWorkers) {
  const QueuedJob job = ReadJob(kBounds + R"(,"synergy.io/target-loss":"0.25")");
  EXPECT_THAT(job.problem, IsEmpty());
  EXPECT_TRUE(job.IsElastic());
  EXPECT_EQ(job.Key(), "team/train");
  EXPECT_EQ(job.workers, 3);
  EXPECT_EQ(job.succeeded, 1);
  EXPECT_EQ(job.least, 2);
  EXPECT_EQ(job.most, 8);
  EXPECT_EQ(job.target_loss, 0.25);
}

TEST(QueuedJobs, WithoutBoundsAreNotElasticAndHaveNoProblem) {
  const QueuedJob job = ReadJob(R"("synergy.io/target-loss":"0.25")", R"("completions":3)");
  EXPECT_FALSE(job.IsElastic());
  EXPECT_THAT(job.problem, IsEmpty());
}

TEST(QueuedJobs, ErrorsNameFieldAndRemedy) {
  const auto problem = [](const auto&... given) {
    const QueuedJob job = ReadJob(given...);
    EXPECT_FALSE(job.IsElastic());
    return job.problem;
  };
  EXPECT_EQ(problem(R"("synergy.io/max-workers":"8")"),
            "annotation synergy.io/min-workers: missing; an elastic job needs "
            "synergy.io/min-workers and synergy.io/max-workers");
  EXPECT_EQ(problem(R"("synergy.io/min-workers":"0","synergy.io/max-workers":"8")"),
            "annotation synergy.io/min-workers: write a whole number from 1 to 10000, not \"0\"");
  EXPECT_EQ(problem(R"("synergy.io/min-workers":"1","synergy.io/max-workers":"8x")"),
            "annotation synergy.io/max-workers: write a whole number from 1 to 10000, not \"8x\"");
  EXPECT_EQ(problem(R"("synergy.io/min-workers":"4","synergy.io/max-workers":"2")"),
            "annotation synergy.io/min-workers: 4 is more than the 2 of synergy.io/max-workers");
  EXPECT_THAT(problem(kBounds + R"(,"synergy.io/target-loss":"nan")"),
              HasSubstr("annotation synergy.io/target-loss: write a number above 0"));
  EXPECT_THAT(problem(kBounds, R"("completions":3)"), HasSubstr("spec.completionMode"));
  EXPECT_EQ(problem(kBounds, R"("completionMode":"Indexed","completions":4)"),
            "spec.completions: must equal spec.parallelism, 3, not 4");
  EXPECT_THAT(problem(kBounds + R"(,"kueue.x-k8s.io/job-min-parallelism":"2")"),
              HasSubstr("job-min-parallelism: remove it"));
}

TEST(QueuedJobs, AreSuspendedWithTheirWorkersAllAtOnce) {
  EXPECT_EQ(WriteWorkers(ReadJob(kBounds), 5),
            R"({"metadata":{"uid":"u","resourceVersion":"7"},"spec":{"suspend":true,)"
            R"("parallelism":5,"completions":5}})");
}

QueuedJob ReadTrainJob(const std::string& status, const std::string& annotations = {}) {
  const auto page = ObjectReader().ReadList<QueuedJob>(
      R"({"items":[{"kind":"TrainJob","metadata":{"name":"train","namespace":"team","uid":"u",)"
      R"("resourceVersion":"7","annotations":{)" +
      annotations +
      R"(}},"spec":{"runtimeRef":{"name":"torch"},"trainer":{"numNodes":3}},"status":)" + status +
      "}]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

TEST(QueuedJobs, TrainJobWithBoundsHasAProblem) {
  const QueuedJob silent = ReadTrainJob("{}");
  EXPECT_THAT(silent.problem, IsEmpty());
  const QueuedJob asks = ReadTrainJob("{}", kBounds);
  EXPECT_FALSE(asks.IsElastic());
  EXPECT_THAT(asks.problem, HasSubstr("make it an Indexed Job"));
}

std::optional<TrainerStatus> StatusOf(const std::string& status) {
  return ReadTrainJob(R"({"trainerStatus":)" + status + "}").trainer_status;
}

TEST(QueuedJobs, TrainJobHasItsStatus) {
  const auto trainer_status =
      StatusOf(R"({"progressPercentage":45,"estimatedRemainingSeconds":720,)"
               R"("metrics":[{"name":"loss","value":"0.25"}],)"
               R"("lastUpdatedTime":"2026-11-21T07:05:03Z"})");
  ASSERT_TRUE(trainer_status);
  EXPECT_EQ(trainer_status->percent, 45);
  EXPECT_EQ(trainer_status->remaining, Seconds(720));
  EXPECT_EQ(trainer_status->at, ParseTime("2026-11-21T07:05:03Z"));
  EXPECT_FALSE(ReadTrainJob("{}").trainer_status);
}

TEST(QueuedJobs, InvalidStatusOfATrainJobIsIgnored) {
  for (const char* whole : {R"({"estimatedRemainingSeconds":720})", R"("soon")", "[]", "null", "{}",
                            R"({"estimatedRemainingSeconds":720,"lastUpdatedTime":"soon"})",
                            R"({"estimatedRemainingSeconds":720,"lastUpdatedTime":1795244703})"})
    EXPECT_EQ(StatusOf(whole), std::nullopt) << whole;
  for (const char* number : {"-1", "2147483648", "1e300", "1.5", "-0.0", "99999999999999999999999",
                             R"("720")", "true", "[720]", "{}", "null"}) {
    const auto trainer_status =
        StatusOf(fmt::format(R"({{"lastUpdatedTime":"2026-11-21T07:05:03Z",)"
                             R"("estimatedRemainingSeconds":{0},)"
                             R"("progressPercentage":{0}}})",
                             number));
    ASSERT_TRUE(trainer_status) << number;
    EXPECT_EQ(trainer_status->remaining, std::nullopt) << number;
    EXPECT_EQ(trainer_status->percent, std::nullopt) << number;
  }
  const auto over = StatusOf(R"({"progressPercentage":101,"estimatedRemainingSeconds":2147483647,)"
                             R"("lastUpdatedTime":"2026-11-21T07:05:03Z"})");
  ASSERT_TRUE(over);
  EXPECT_EQ(over->percent, std::nullopt);
  EXPECT_EQ(over->remaining, Seconds(2147483647));
}

}  // namespace
}  // namespace synergy::wire
