#include "cli/simulate/philly_trace.h"

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

std::string ReadExample() {
  const std::ifstream in(SYNERGY_TEST_DATA "/philly/cluster_job_log.json");
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string ErrorOf(std::string_view text) {
  const auto trace = ParsePhillyTrace(text);
  return trace ? "no error" : trace.error().message;
}

// Returns a job with one attempt from `start` to `end`.
std::string JobFrom(const std::string& start, const std::string& end) {
  return R"({"submitted_time": "2017-10-09 07:00:00", "attempts": [{"start_time": ")" + start +
         R"(", "end_time": ")" + end + R"(", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]})";
}

TEST(PhillyTraceTest, JobsComeInTheOrderOfSubmissionAfterTheFirst) {
  const auto trace = ParsePhillyTrace(ReadExample());
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 3U);
  EXPECT_EQ(trace->jobs[0].submitted, Seconds(0));
  EXPECT_EQ(trace->jobs[1].submitted, Seconds(3900));
  EXPECT_EQ(trace->jobs[2].submitted, Seconds(86400));
}

TEST(PhillyTraceTest, AddsUpAttemptsAndUsesTheGpusOfTheLast) {
  const auto trace = ParsePhillyTrace(ReadExample());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[1].duration, Seconds(600 + 7205));
  EXPECT_EQ(trace->jobs[1].gpus, Gpus(4));  // GPUs on two machines
}

TEST(PhillyTraceTest, AnAttemptMayCrossMidnight) {
  const auto trace = ParsePhillyTrace(ReadExample());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].duration, Seconds(20));
  EXPECT_EQ(trace->jobs[0].gpus, Gpus(1));
}

TEST(PhillyTraceTest, AttemptsWithoutABeginningOrAnEndOrThatEndTooEarlyDoNotCount) {
  const auto trace = ParsePhillyTrace(ReadExample());
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[2].duration, Seconds(3600));
  EXPECT_EQ(trace->jobs[2].gpus, Gpus(8));
}

TEST(PhillyTraceTest, JobsThatNeverRanAreLeftOutAndCounted) {
  const auto trace = ParsePhillyTrace(ReadExample());
  ASSERT_TRUE(trace) << trace.error().message;
  // one has no attempt, one has none that ended, one has no machine
  EXPECT_EQ(trace->left_out, 3U);
}

TEST(PhillyTraceTest, TimesThatMakeNoSenseLeaveTheJobOut) {
  const std::string good = JobFrom("2017-10-09 07:00:46", "2017-10-09 08:00:46");
  for (const char* wrong :
       {"2017-02-30 07:00:00", "2017-13-01 07:00:00", "2017-10-09 24:00:00", "2017-10-09 07:60:00",
        "2017-10-09T07:00:00", "2017-10-9 07:00:00", "", "2017-10-09 07:0x:00"}) {
    const auto trace =
        ParsePhillyTrace("[" + good + "," + JobFrom(wrong, "2017-10-09 08:00:46") + "]");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->jobs.size(), 1U) << wrong;
    EXPECT_EQ(trace->left_out, 1U) << wrong;
  }
}

TEST(PhillyTraceTest, RejectsTextThatIsNoTrace) {
  EXPECT_EQ(ErrorOf(R"({"jobs": []})"),
            "not a Philly trace: an object instead of an array of jobs (of Slurm: sacct -P, not "
            "--json)");
  EXPECT_EQ(ErrorOf("[]"), "the trace has no job that ever ran");
  EXPECT_EQ(ErrorOf(R"([7, "x", {}, {"submitted_time": 5}])"),
            "the trace has no job that ever ran");
  EXPECT_NE(ErrorOf("[{]"), "no error");
}

}  // namespace
}  // namespace synergy::cli
