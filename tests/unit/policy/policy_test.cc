#include "policy/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Job MakeJob(uint64_t id, double arrival, double ideal, double remaining, double attained) {
  Job job;
  job.id = id;
  job.gpus = Gpus(1);
  job.arrival = Seconds(arrival);
  job.ideal = Seconds(ideal);
  job.remaining = Seconds(remaining);
  job.attained = Seconds(attained);
  return job;
}

std::vector<JobIndex> OrderBy(std::string_view policy, const std::vector<Job>& jobs, double now) {
  return Order(jobs, **MakePolicy(policy), Seconds(now));
}

const std::vector<Job> kJobs = {
    MakeJob(0, 100, 1000, 900, 100),
    MakeJob(1, 0, 5000, 200, 4800),
    MakeJob(2, 50, 100, 100, 0),
};

TEST(PolicyTest, FifoGoesByArrival) {
  EXPECT_THAT(OrderBy("fifo", kJobs, 200), ElementsAre(1, 2, 0));
}

TEST(PolicyTest, SrtfGoesByTheWorkLeft) {
  EXPECT_THAT(OrderBy("srtf", kJobs, 200), ElementsAre(2, 1, 0));
}

TEST(PolicyTest, LasGoesByTheGpuTimeHeld) {
  EXPECT_THAT(OrderBy("las", kJobs, 200), ElementsAre(2, 0, 1));
}

TEST(PolicyTest, FtfPutsTheWorstTreatedFirst) {
  // Finish compared with ideal: (100 + 900) / 1000 = 1, (200 + 200) / 5000 = 0.08, (150 + 100) /
  // 100 = 2.5.
  EXPECT_THAT(OrderBy("ftf", kJobs, 200), ElementsAre(2, 0, 1));
}

TEST(PolicyTest, EqualRanksGoByArrivalThenId) {
  const std::vector<Job> jobs = {MakeJob(7, 5, 10, 10, 0), MakeJob(3, 5, 10, 10, 0),
                                 MakeJob(9, 1, 10, 10, 0)};
  EXPECT_THAT(OrderBy("srtf", jobs, 20), ElementsAre(2, 1, 0));
}

TEST(PolicyTest, AnUnknownNameIsAnErrorThatListsTheNames) {
  const auto policy = MakePolicy("lottery");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, HasSubstr("fifo, srtf, las, ftf, 2d-las, 2d-gittins"));
}

// The queues end at 100 and 300 GPU-seconds.
const PolicyOptions kTwoLimits = {.queues = {.limits = {100, 300}}};

// Returns a job like MakeJob's, with two GPUs, after it has run for `ran`.
Job Ran(uint64_t id, double arrival, double ran, const Policy& policy) {
  Job job = MakeJob(id, arrival, 1000, 1000, 0);
  job.gpus = Gpus(2);
  job.holds = {Share{}};
  policy.Charge(job, Seconds(ran), Seconds(arrival + ran));
  return job;
}

TEST(PolicyTest, QueuedLasMovesAJobDownAtTheLimitOverItsGpus) {
  const auto policy = *MakePolicy("2d-las", kTwoLimits);
  EXPECT_EQ(Ran(0, 0, 49, *policy).place.queue, 0U);
  EXPECT_EQ(Ran(0, 0, 50, *policy).place.queue, 1U);
  EXPECT_EQ(Ran(0, 0, 150, *policy).place.queue, 2U);
  // It is charged late, but entered its queue when it reached the limit.
  EXPECT_EQ(Ran(0, 10, 70, *policy).place.entered, Seconds(60));
}

TEST(PolicyTest, QueuedLasPrefersHigherQueuesAndThenRunningJobs) {
  const auto policy = *MakePolicy("2d-las", kTwoLimits);
  Job waits = Ran(1, 0, 60, *policy);
  waits.holds.clear();
  const std::vector<Job> jobs = {Ran(0, 0, 200, *policy), waits, Ran(2, 100, 60, *policy),
                                 MakeJob(3, 90, 10, 10, 0), MakeJob(4, 80, 10, 10, 0)};
  EXPECT_THAT(Order(jobs, *policy, Seconds(300)), ElementsAre(4, 3, 2, 1, 0));
}

TEST(PolicyTest, TheFirstQueueGoesByTheStartThenByArrival) {
  const auto policy = *MakePolicy("2d-las", kTwoLimits);
  // The second job was too large for the room at first, and has started later than the third one.
  Job late = Ran(1, 20, 10, *policy);
  late.arrival = Seconds(2);
  std::vector<Job> jobs = {MakeJob(0, 1, 10, 10, 0), late, Ran(2, 5, 10, *policy),
                           MakeJob(3, 0, 10, 10, 0)};
  for (Job& job : jobs) job.holds.clear();
  EXPECT_THAT(Order(jobs, *policy, Seconds(100)), ElementsAre(2, 1, 3, 0));
}

TEST(PolicyTest, AJobThatWaitedLongEnoughGoesBackToTheFirstQueue) {
  PolicyOptions options = kTwoLimits;
  options.queues.promote = 2;
  const auto policy = *MakePolicy("2d-las", options);
  Job job = Ran(0, 0, 60, *policy);
  job.holds.clear();
  policy->Charge(job, Seconds(119), Seconds(179));
  EXPECT_EQ(job.place.queue, 1U);
  policy->Charge(job, Seconds(1), Seconds(180));
  EXPECT_EQ(job.place, (QueuePlace{.entered = Seconds(180)}));
}

TEST(PolicyTest, AJobThatNeverRanIsNotPromoted) {
  QueuePlace place;
  ChargeWait(place, Seconds(1000), Seconds(1000), {.limits = {100}, .promote = 1});
  EXPECT_EQ(place, QueuePlace{});
}

TEST(PolicyTest, QueuedGittinsPutsTheLikeliestToEndFirst) {
  PolicyOptions options = kTwoLimits;
  options.sizes = SizeHistory({50, 60, 1000});
  const auto policy = *MakePolicy("2d-gittins", options);
  // Both are in the first queue. Two of three jobs end soon; after 60 GPU-seconds none ends before
  // 100.
  const std::vector<Job> jobs = {Ran(0, 0, 40, *policy), Ran(1, 5, 20, *policy)};
  EXPECT_THAT(Order(jobs, *policy, Seconds(100)), ElementsAre(1, 0));
}

TEST(PolicyTest, AJobWithALeaseGoesBeforeAllOthers) {
  std::vector<Job> jobs = kJobs;
  jobs[1].holds = {Share{}};
  jobs[1].lease_end = Seconds(300);
  EXPECT_THAT(OrderBy("las", jobs, 200), ElementsAre(1, 2, 0));
  EXPECT_THAT(OrderBy("las", jobs, 300), ElementsAre(2, 0, 1));
}

TEST(SizeHistoryTest, TheIndexIsTheBestRateOfJobsEndedPerServiceGiven) {
  const SizeHistory history({40, 10, 20, 100});
  // Service up to 10: one of four jobs for 4 x 10; up to 20: 2 / (10 + 3 x 20); up to 40: 3 / (10 +
  // 20 + 2 x 40).
  EXPECT_DOUBLE_EQ(history.Index(0), 2.0 / 70);
  EXPECT_DOUBLE_EQ(history.Index(0, 15), 1.0 / 40);
  EXPECT_DOUBLE_EQ(history.Index(20), 1.0 / 40);
  EXPECT_DOUBLE_EQ(history.Index(0, 5), 0);
  EXPECT_DOUBLE_EQ(history.Index(100), 0);
}

}  // namespace
}  // namespace synergy
