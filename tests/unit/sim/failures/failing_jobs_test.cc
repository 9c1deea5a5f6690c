#include "sim/failures/failing_jobs.h"

#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using namespace std::chrono_literals;

class FailingJobsTest : public ::testing::Test {
 protected:
  // One job with two GPUs that always meets the failure, after exactly a minute.
  FailingJobs Jobs(Category category) {
    FailureAssumption failure;
    failure.category = category;
    failure.jobs = 1;
    failure.median = failure.mean = Seconds(60);
    failure.tries = 7;
    settings_.assumptions = {failure};
    return FailingJobs(settings_, std::vector<FailingJobs::Job>{{1, Gpus(2), Seconds(3600)}});
  }
  FailureAssumption& failure() { return settings_.assumptions.front(); }
  // Runs an attempt until it fails.
  FailingJobs::End Attempt(FailingJobs& jobs) {
    const auto fails = jobs.Run(0, {"n1"}, at_);
    EXPECT_EQ(fails, Duration(1min));
    Pass(1min);
    return jobs.Fail(0, at_);
  }
  void Pass(Duration time) {
    at_.now += time;
    at_.wall += time;
  }

  FailureSettings settings_;
  Moment at_{Instant(1h), WallTime(Duration(1h))};
};

TEST_F(FailingJobsTest, AJobIsRetriedWithGrowingBackoffAsOftenAsItsOwnerAllows) {
  FailingJobs jobs = Jobs(Category::kSyntax);
  std::vector<Duration> backoffs;
  for (FailingJobs::End end = Attempt(jobs); end.retry_after; end = Attempt(jobs)) {
    backoffs.push_back(*end.retry_after);
    Pass(*end.retry_after);
  }
  EXPECT_EQ(backoffs, (std::vector<Duration>{10s, 20s, 40s, 80s, 160s, 320s}));
  const FailureFigures figures = jobs.TakeFigures(at_);
  EXPECT_EQ(figures.trials, 7U);
  EXPECT_EQ(figures.failed_jobs, 1U);
  EXPECT_EQ(figures.LostBy(Cause::kUser), Seconds(7 * 60 * 2));
  EXPECT_EQ(figures.busy, figures.Lost());
}

TEST_F(FailingJobsTest, StopFutileEndsItAfterTheSecondFailure) {
  settings_.actions.stop_futile = true;
  FailingJobs jobs = Jobs(Category::kSyntax);
  EXPECT_TRUE(Attempt(jobs).retry_after);
  EXPECT_FALSE(Attempt(jobs).retry_after);
  EXPECT_EQ(jobs.TakeFigures(at_).stopped_jobs, 1U);
}

TEST_F(FailingJobsTest, APauseDoesNotEndAnAttempt) {
  FailingJobs jobs = Jobs(Category::kSyntax);
  jobs.Run(0, {"n1"}, at_);
  Pass(20s);
  jobs.Pause(0, at_);
  EXPECT_FALSE(jobs.BeginsAttempt(0));
  Pass(1h);
  EXPECT_EQ(jobs.Run(0, {"n2"}, at_), Duration(40s));
  Pass(40s);
  jobs.Fail(0, at_);
  EXPECT_EQ(jobs.TakeFigures(at_).busy, Seconds(120));
}

TEST_F(FailingJobsTest, WorkUpToACheckpointIsKeptUnlessTheJobFailsForGood) {
  FailingJobs jobs = Jobs(Category::kNetwork);
  failure().checkpoint = Seconds(25);
  failure().tries = 2;
  EXPECT_DOUBLE_EQ(Attempt(jobs).kept, 50.0 / 60);
  EXPECT_FALSE(Attempt(jobs).retry_after);
  const FailureFigures figures = jobs.TakeFigures(at_);
  EXPECT_EQ(figures.LostBy(Cause::kInfrastructure), Seconds(240));
  EXPECT_EQ(figures.useful, Seconds(0));
}

TEST_F(FailingJobsTest, ATransientFailureDependsOnTheNode) {
  settings_.actions.elsewhere = true;
  FailingJobs jobs = Jobs(Category::kGpuLost);
  failure().again = 0;
  const FailingJobs::End end = Attempt(jobs);
  EXPECT_EQ(end.avoid, std::vector<std::string>{"n1"});
  EXPECT_EQ(end.until, at_.wall + 1h);
  EXPECT_TRUE(Attempt(jobs).retry_after);
  EXPECT_FALSE(jobs.Run(0, {"n2"}, at_));
  Pass(10min);
  jobs.Pass(0, at_);
  EXPECT_EQ(jobs.TakeFigures(at_).useful, Seconds(1200));
}

TEST_F(FailingJobsTest, AFailedPrerunKeepsTheJobFromStartingOnlyInItsCategories) {
  settings_.prerun = true;
  for (const Category category : {Category::kSyntax, Category::kGpuOom}) {
    FailingJobs jobs = Jobs(category);
    EXPECT_EQ(jobs.BeginPrerun(0, at_), Duration(1min));
    Pass(1min);
    EXPECT_EQ(jobs.EndPrerun(0, at_), category == Category::kSyntax);
    const FailureFigures figures = jobs.TakeFigures(at_);
    EXPECT_EQ(figures.prerun, Seconds(60));
    EXPECT_EQ(figures.caught_jobs, category == Category::kSyntax ? 1U : 0U);
  }
  FailingJobs jobs = Jobs(Category::kSyntax);
  jobs.BeginPrerun(0, at_);
  Pass(30s);
  jobs.Run(0, {"n1"}, at_);
  Pass(30s);
  EXPECT_FALSE(jobs.EndPrerun(0, at_)) << "the job's own start has ended it";
}

}  // namespace
}  // namespace synergy::testing
