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
  // Finish against ideal: (100 + 900) / 1000 = 1, (200 + 200) / 5000 = 0.08, (150 + 100) / 100
  // = 2.5.
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
  EXPECT_THAT(policy.error().message, HasSubstr("fifo, srtf, las, ftf"));
}

}  // namespace
}  // namespace synergy
