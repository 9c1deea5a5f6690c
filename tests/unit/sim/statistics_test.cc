#include "sim/statistics.h"

#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

JobTimes Job(int64_t id, double submitted, double started, double finished) {
  return {id, Seconds(submitted), Seconds(started), Seconds(finished)};
}

TEST(StatisticsTest, TheFiguresAreThoseOfTheWindowAlone) {
  const std::vector<JobTimes> jobs = {Job(0, 0, 0, 1000), Job(1, 10, 20, 110), Job(2, 20, 40, 320),
                                      Job(3, 5, 6, 7)};
  const RunStatistics statistics = Summarize(jobs, {.first = 1, .end = 3});
  EXPECT_EQ(statistics.measured, 2U);
  EXPECT_EQ(statistics.mean, Seconds(200));
  EXPECT_EQ(statistics.makespan, Seconds(310));
  EXPECT_EQ(statistics.mean_wait, Seconds(15));
}

TEST(StatisticsTest, QuantilesAreInterpolatedBetweenNeighbours) {
  std::vector<JobTimes> jobs;
  for (int i = 0; i <= 10; ++i) jobs.push_back(Job(i, 0, 0, 100.0 * (10 - i)));
  const RunStatistics statistics = Summarize(jobs, {});
  EXPECT_DOUBLE_EQ(statistics.p50.count(), 500);
  EXPECT_DOUBLE_EQ(statistics.p95.count(), 950);
  EXPECT_DOUBLE_EQ(statistics.p99.count(), 990);
  EXPECT_DOUBLE_EQ(statistics.p999.count(), 999);
}

TEST(StatisticsTest, JobsThatDidNotFinishDoNotCount) {
  const std::vector<JobTimes> jobs = {Job(0, 0, 0, 10), {.id = 1}};
  EXPECT_EQ(Summarize(jobs, {}).measured, 1U);
  EXPECT_EQ(Summarize(jobs, {}).unfinished, 1U);
  EXPECT_EQ(Summarize(jobs, {}).p999, Seconds(10));
  EXPECT_EQ(Summarize(jobs, {.first = 0, .end = 1}).unfinished, 0U);
  EXPECT_EQ(Summarize(jobs, {.first = 1, .end = 2}).measured, 0U);
  EXPECT_EQ(Summarize(jobs, {.first = 1, .end = 2}).unfinished, 1U);
  EXPECT_EQ(Summarize(jobs, {.first = 1, .end = 2}).mean, Seconds(0));
}

TEST(JobWindowTest, IsWrittenAsTwoIdsWithAColon) {
  const auto window = ParseJobWindow("4000:5000");
  ASSERT_TRUE(window);
  EXPECT_FALSE(window->Contains(3999));
  EXPECT_TRUE(window->Contains(4000));
  EXPECT_TRUE(window->Contains(4999));
  EXPECT_FALSE(window->Contains(5000));
  for (const char* text : {"", ":", "1:", ":2", "2:2", "3:2", "-1:2", "a:b", "1-2", "1:2:3"})
    EXPECT_FALSE(ParseJobWindow(text)) << text;
}

}  // namespace
}  // namespace synergy::testing
