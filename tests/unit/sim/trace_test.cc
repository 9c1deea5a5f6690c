#include "sim/trace.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

const std::string kHeader =
    "job_id,model,arrival_s,total_iterations,gpus,iter_time_s_at_fair,duration_s_at_fair\n";

std::string TraceError(const std::string& text) {
  const auto jobs = ParseTrace(text, "trace.csv");
  return jobs ? "no error" : jobs.error().message;
}

TEST(TraceTest, EveryColumnIsRead) {
  const auto jobs = ParseTrace(kHeader + "7,alexnet,0.25,3349,4,0.6,2009.4\n", "trace.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  const TraceJob& job = jobs->front();
  EXPECT_EQ(job.id, 7);
  EXPECT_EQ(job.model, "alexnet");
  EXPECT_EQ(job.arrival, Seconds(0.25));
  EXPECT_EQ(job.total_iterations, 3349);
  EXPECT_EQ(job.gpus, Gpus(4));
  EXPECT_EQ(job.iteration_time, Seconds(0.6));
  EXPECT_EQ(job.duration, Seconds(2009.4));
}

TEST(TraceTest, TimesAtTheFairShareMayBeLeftOutAndOtherColumnsAdded) {
  const auto jobs = ParseTrace(
      "gpus,tenant,job_id,model,total_iterations,arrival_s\n1,x,0,lstm,5,9\n", "trace.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->front().arrival, Seconds(9));
  EXPECT_EQ(jobs->front().iteration_time, Seconds(0));
  EXPECT_EQ(jobs->front().duration, Seconds(0));
}

TEST(TraceTest, PrioritiesAreReadAndAreZeroWithoutTheColumn) {
  const std::string header = "job_id,model,arrival_s,total_iterations,gpus,priority\n";
  const auto jobs = ParseTrace(header + "0,a,0,1,1,7\n1,a,0,1,1,0\n", "trace.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_EQ(jobs->at(0).priority, 7);
  EXPECT_EQ(jobs->at(1).priority, 0);
  const auto without = ParseTrace(kHeader + "0,a,0,1,1,1,1\n", "trace.csv");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->front().priority, 0);
  EXPECT_EQ(TraceError(header + "0,a,0,1,1,-1\n"),
            "trace.csv:2:11: priority is \"-1\": write a whole number, 0 or more");
  EXPECT_EQ(TraceError(header + "0,a,0,1,1,2000000000\n"),
            "trace.csv:2:11: priority is \"2000000000\": write a priority of at most 1000000000");
}

TEST(TraceTest, TheOrderOfTheFileIsKept) {
  const auto jobs = ParseTrace(kHeader + "2,a,20,1,1,1,1\n1,a,10,1,1,1,1\n", "trace.csv");
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->at(0).id, 2);
  EXPECT_EQ(jobs->at(1).id, 1);
}

TEST(TraceTest, WrongFieldsAreRejectedWithFileLineColumnAndCure) {
  const std::string good = "0,a,0,1,1,1,1\n";
  EXPECT_EQ(TraceError(kHeader + good + "1,a,0,1,two,1,1\n"),
            "trace.csv:3:9: gpus is \"two\": write a whole number, 1 or more");
  EXPECT_EQ(TraceError(kHeader + "1,a,-5,1,1,1,1\n"),
            "trace.csv:2:5: arrival_s is \"-5\": write a number, 0 or more");
  EXPECT_EQ(TraceError(kHeader + "1,a,0,0,1,1,1\n"),
            "trace.csv:2:7: total_iterations is \"0\": write a whole number, 1 or more");
  EXPECT_EQ(TraceError(kHeader + "1,,0,1,1,1,1\n"),
            "trace.csv:2:3: model is \"\": write the model's name");
  EXPECT_EQ(
      TraceError(kHeader + good + good),
      "trace.csv:3:1: job_id is \"0\": line 2 has the same id: give each job an id of its own");
  EXPECT_EQ(TraceError(kHeader), "trace.csv: no jobs: write a line for each under the header");
  EXPECT_EQ(TraceError("job_id,model\n1,a\n"),
            "trace.csv:1: the header has no column \"arrival_s\": add it; existing columns: "
            "job_id, model");
}

}  // namespace
}  // namespace synergy::testing
