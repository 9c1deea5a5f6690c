#include "gavel/type_rounds.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr size_t kFast = 0;
constexpr size_t kSlow = 1;

TypedJob Job(const std::string& name, std::vector<double> throughput) {
  TypedJob job;
  job.name = name;
  job.throughput = std::move(throughput);
  job.steps_left = 1000;
  return job;
}

class TypeRoundsTest : public ::testing::Test {
 protected:
  void Use(const char* policy, double restart_cost = 0) {
    rounds_.emplace(
        *TypeRounds::Create(policy, {"fast", "slow"},
                            {.round = 300, .restart_cost = restart_cost, .make = MakeGavelPolicy}));
  }
  std::vector<GavelPick> Decide(const std::vector<TypedJob>& jobs, bool begins = true) {
    const auto picks = rounds_->Decide(jobs, gpus_, prices_, begins, now_);
    EXPECT_TRUE(picks.has_value()) << (picks ? "" : picks.error().message);
    return picks.value_or(std::vector<GavelPick>());
  }
  // Runs this many rounds in which all jobs follow the decisions. Returns the fraction of them in
  // which the job had the type.
  double PartOn(std::vector<TypedJob> jobs, const std::string& name, size_t type, int count) {
    int had = 0;
    for (int round = 0; round < count; ++round) {
      const std::vector<GavelPick> picks = Decide(jobs);
      for (TypedJob& job : jobs) job.on.reset();
      for (const GavelPick& pick : picks) {
        for (TypedJob& job : jobs) {
          if (job.name == pick.job) job.on = pick.type;
        }
        rounds_->Charge(pick.job, pick.type, 300);
        had += pick.job == name && pick.type == type ? 1 : 0;
      }
      now_ += 300;
    }
    return had / static_cast<double>(count);
  }

  std::optional<TypeRounds> rounds_;
  std::vector<double> gpus_ = {1, 1};
  std::vector<double> prices_;
  double now_ = 10'000;
};

TEST_F(TypeRoundsTest, EachHasTheTypeOnWhichItIsWorthMore) {
  Use("gavel-las");
  EXPECT_THAT(Decide({Job("a", {2, 1.9}), Job("b", {4, 1})}),
              ElementsAre(GavelPick{"b", kFast}, GavelPick{"a", kSlow}));
}

TEST_F(TypeRoundsTest, EqualJobsShareTheFastType) {
  Use("gavel-las");
  const std::vector<TypedJob> jobs = {Job("a", {2, 1}), Job("b", {2, 1})};
  EXPECT_NEAR(PartOn(jobs, "a", kFast, 20), 0.5, 0.1);
}

TEST_F(TypeRoundsTest, AMoveThatDoesNotPayIsMadeForNobodysSakeOnly) {
  // 2 (300 - 200) < 1 x 300, so neither job gains by the change.
  Use("gavel-las", 200);
  std::vector<TypedJob> jobs = {Job("a", {2, 1}), Job("b", {2, 1})};
  EXPECT_NEAR(PartOn(jobs, "a", kFast, 20) * 20, 20, 1) << "they stay where they are";
  // A waiting job gets the fast type in its turn.
  Use("gavel-las", 200);
  jobs.push_back(Job("c", {2, 0}));
  EXPECT_GT(PartOn(jobs, "c", kFast, 20), 0.2);
}

TEST_F(TypeRoundsTest, AMoveThatPaysIsMade) {
  Use("gavel-las", 30);
  std::vector<TypedJob> jobs = {Job("a", {4, 1})};
  jobs[0].on = kSlow;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"a", kFast}));
}

TEST_F(TypeRoundsTest, UnmovableJobGetsItsTypeFirst) {
  Use("gavel-las");
  std::vector<TypedJob> jobs = {Job("a", {4, 1}), Job("b", {4, 1})};
  jobs[1].on = kFast;
  jobs[1].stays = true;
  EXPECT_DOUBLE_EQ(PartOn({jobs[0]}, "a", kFast, 1), 1);
  for (int round = 0; round < 5; ++round) {
    EXPECT_THAT(Decide(jobs), UnorderedElementsAre(GavelPick{"b", kFast}, GavelPick{"a", kSlow}));
    now_ += 2000;
  }
}

TEST_F(TypeRoundsTest, FreeGpusWithinARoundGoToWaitingJobs) {
  Use("gavel-las");
  EXPECT_THAT(Decide({Job("a", {4, 1}), Job("b", {4, 3})}),
              ElementsAre(GavelPick{"a", kFast}, GavelPick{"b", kSlow}));
  now_ += 10;
  EXPECT_THAT(Decide({Job("b", {4, 3}), Job("c", {9, 1})}, false),
              UnorderedElementsAre(GavelPick{"c", kFast}, GavelPick{"b", kSlow}));
}

TEST_F(TypeRoundsTest, TheFirstDecisionWithinARoundMovesNothingAndTheNextRoundFollowsThePolicy) {
  Use("gavel-las", 30);
  std::vector<TypedJob> jobs = {Job("a", {2, 1.9}), Job("b", {4, 1}), Job("c", {4, 1})};
  jobs[0].on = kFast;
  jobs[1].on = kSlow;
  EXPECT_THAT(Decide(jobs, false),
              UnorderedElementsAre(GavelPick{"a", kFast}, GavelPick{"b", kSlow}));
  now_ += 10;
  EXPECT_THAT(Decide(jobs, false),
              UnorderedElementsAre(GavelPick{"a", kFast}, GavelPick{"b", kSlow}));
  now_ += 10;
  EXPECT_THAT(Decide(jobs), Contains(AnyOf(GavelPick{"b", kFast}, GavelPick{"c", kFast})));
}

TEST_F(TypeRoundsTest, NoJobOvertakesABlockedFifoQueueWithinARound) {
  Use("gavel-fifo");
  gpus_ = {2, 0};
  TypedJob large = Job("large", {4, 1});
  large.gpus = 2;
  EXPECT_THAT(Decide({Job("a", {4, 1}), large}), ElementsAre(GavelPick{"a", kFast}));
  now_ += 10;
  EXPECT_THAT(Decide({Job("a", {4, 1}), large, Job("late", {4, 1})}, false),
              ElementsAre(GavelPick{"a", kFast}));
  EXPECT_THAT(Decide({large, Job("late", {4, 1})}, false), ElementsAre(GavelPick{"large", kFast}));
}

TEST_F(TypeRoundsTest, UnderFifoARunningJobMovesAndTheNextTakesItsPlace) {
  Use("gavel-fifo", 30);
  std::vector<TypedJob> jobs = {Job("a", {4, 1}), Job("b", {4, 1})};
  jobs[0].on = kSlow;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"a", kFast}, GavelPick{"b", kSlow}));
}

TEST_F(TypeRoundsTest, UnderFifoAMovingJobKeepsItsPlace) {
  Use("gavel-fifo", 30);
  std::vector<TypedJob> jobs = {Job("a", {4, 1}), Job("b", {4, 1})};
  jobs[0].on = kSlow;
  jobs[1].on = kFast;
  EXPECT_THAT(Decide(jobs), UnorderedElementsAre(GavelPick{"a", kSlow}, GavelPick{"b", kFast}));
  // The second job ends. The first one moves when a round begins, whatever else changes before.
  jobs = {jobs[0]};
  now_ += 10;
  EXPECT_THAT(Decide(jobs, false), ElementsAre(GavelPick{"a", kSlow}));
  now_ += 290;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"a", kFast}));
  // It is first at its old place, then nowhere, then at the new one.
  for (const std::optional<size_t> on :
       {std::optional(kSlow), std::optional<size_t>(), std::optional(kFast)}) {
    jobs[0].on = on;
    now_ += 5;
    EXPECT_THAT(Decide(jobs, false), ElementsAre(GavelPick{"a", kFast}));
  }
  now_ += 300;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"a", kFast}));
}

TEST_F(TypeRoundsTest, UnderFifoAMoveThatDoesNotPayLeavesTheFreeTypeToTheNext) {
  Use("gavel-fifo", 200);
  std::vector<TypedJob> jobs = {Job("a", {4, 3}), Job("b", {4, 1})};
  jobs[0].on = kSlow;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"b", kFast}, GavelPick{"a", kSlow}));
}

TEST_F(TypeRoundsTest, ATypeWithoutGpusIsNone) {
  Use("gavel-las");
  gpus_ = {0, 1};
  EXPECT_THAT(Decide({Job("a", {4, 1}), Job("only-fast", {4, 0})}),
              ElementsAre(GavelPick{"a", kSlow}));
  gpus_ = {0, 0};
  now_ += 2000;
  EXPECT_THAT(Decide({Job("a", {4, 1})}), IsEmpty());
  gpus_ = {1, 0};
  now_ += 2000;
  EXPECT_THAT(Decide({Job("a", {4, 1})}), ElementsAre(GavelPick{"a", kFast}));
}

TEST_F(TypeRoundsTest, DeadlinesThatCannotBeKeptAreNamed) {
  Use("gavel-cost");
  prices_ = {10, 1};
  std::vector<TypedJob> jobs = {Job("late", {4, 1}), Job("in-time", {4, 1})};
  jobs[0].deadline = 10;
  jobs[1].deadline = 300;
  EXPECT_THAT(Decide(jobs), ElementsAre(GavelPick{"in-time", kFast}, GavelPick{"late", kSlow}));
  EXPECT_THAT(rounds_->missed(), ElementsAre("late"));
}

TEST_F(TypeRoundsTest, ErrorNamesTheMissingInput) {
  Use("gavel-makespan");
  TypedJob job = Job("a", {2, 1});
  job.steps_left.reset();
  const auto picks = rounds_->Decide(std::vector{job}, gpus_, prices_, true, now_);
  EXPECT_THAT(picks.error().message, HasSubstr("num_steps_remaining[\"a\"]"));
  EXPECT_FALSE(TypeRounds::Create("las", {"fast"}, {}).has_value());
}

}  // namespace
}  // namespace synergy::testing
