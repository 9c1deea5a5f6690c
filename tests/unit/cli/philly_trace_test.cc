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
  const auto trace = ReadPhillyTrace(text, "log.json");
  return trace ? "no error" : trace.error().message;
}

// Returns a job with one attempt from `start` to `end`.
std::string JobFrom(const std::string& start, const std::string& end) {
  return R"({"submitted_time": "2017-10-09 07:00:00", "attempts": [{"start_time": ")" + start +
         R"(", "end_time": ")" + end + R"(", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]})";
}

TEST(PhillyTraceTest, JobsComeInTheOrderOfSubmissionAfterTheFirst) {
  const auto trace = ReadPhillyTrace(ReadExample(), "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->jobs.size(), 3U);
  EXPECT_EQ(trace->jobs[0].submitted, Seconds(0));
  EXPECT_EQ(trace->jobs[1].submitted, Seconds(3900));
  EXPECT_EQ(trace->jobs[2].submitted, Seconds(86400));
}

TEST(PhillyTraceTest, AddsUpTheGpuTimeOfAttempts) {
  const auto trace = ReadPhillyTrace(ReadExample(), "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[1].duration, Seconds(600 * 2.0 / 4 + 7205));
  EXPECT_EQ(trace->jobs[1].gpus, Gpus(4));  // GPUs on two machines
}

TEST(PhillyTraceTest, GpuTimeIsThatOfAllAttempts) {
  const auto attempt = [](const char* start, const char* end, const char* gpus) {
    return std::string(R"({"start_time": "2017-10-09 )") + start +
           R"(", "end_time": "2017-10-09 )" + end + R"(", "detail": [{"ip": "m", "gpus": )" + gpus +
           "}]}";
  };
  const std::string four = R"(["gpu0", "gpu1", "gpu2", "gpu3"])";
  const std::string job =
      R"({"jobid": "a", "submitted_time": "2017-10-09 01:00:00", "attempts": [)" +
      attempt("02:00:00", "03:00:00", four.c_str()) + "," +
      attempt("04:00:00", "06:00:00", R"(["gpu0"])") + "]}";
  const auto trace = ReadPhillyTrace("[" + job + "]", "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].gpus, Gpus(4));
  EXPECT_EQ(trace->jobs[0].duration, Seconds((4 * 1 + 1 * 2) * 3600 / 4));
  EXPECT_EQ(ErrorOf(R"([{"attempts": [{"detail": [{"gpus": "gpu1"}]}]}])"),
            "log.json: [0].attempts[0].detail[0].gpus is \"gpu1\": write a list of GPUs");
  EXPECT_EQ(ErrorOf(R"([{"attempts": [{"detail": "m1"}]}])"),
            "log.json: [0].attempts[0].detail is \"m1\": write a list of machines");
  EXPECT_EQ(ErrorOf(R"([{"attempts": "none"}])"),
            "log.json: [0].attempts is \"none\": write a list of attempts");
}

TEST(PhillyTraceTest, AnAttemptMayCrossMidnight) {
  const auto trace = ReadPhillyTrace(ReadExample(), "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[0].duration, Seconds(20));
  EXPECT_EQ(trace->jobs[0].gpus, Gpus(1));
}

TEST(PhillyTraceTest, AttemptsWithoutABeginningOrAnEndOrThatEndTooEarlyDoNotCount) {
  const auto trace = ReadPhillyTrace(ReadExample(), "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs[2].duration, Seconds(3600));
  EXPECT_EQ(trace->jobs[2].gpus, Gpus(8));
}

TEST(PhillyTraceTest, JobsThatNeverRanOrNeverEndedAreLeftOutAndCounted) {
  const auto trace = ReadPhillyTrace(ReadExample(), "log.json");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->Describe(),
            "read as Philly's cluster_job_log: 3 jobs, left out: 2 never ran, 1 without an end");
}

TEST(PhillyTraceTest, ReportsTimesThatAreNone) {
  const std::string good = JobFrom("2017-10-09 07:00:46", "2017-10-09 08:00:46");
  for (const char* wrong : {"2017-02-30 07:00:00", "2017-13-01 07:00:00", "2017-10-09 24:00:00",
                            "2017-10-09 07:60:00", "yesterday", "2017-10-09 07:0x:00"}) {
    EXPECT_EQ(ErrorOf("[" + good + "," + JobFrom(wrong, "2017-10-09 08:00:46") + "]"),
              "log.json: [1].attempts[0].start_time is \"" + std::string(wrong) +
                  "\": write a time as 2017-10-09 07:00:46, or null");
  }
  EXPECT_EQ(ErrorOf(R"([{"submitted_time": {}}])"),
            "log.json: [0].submitted_time is an object: write a time as 2017-10-09 07:00:46, or "
            "null");
}

TEST(PhillyTraceTest, RejectsTextThatIsNoTrace) {
  EXPECT_EQ(ErrorOf(R"({"jobs": []})"),
            "log.json: not a Philly trace: an object instead of an array of jobs (of Slurm: sacct "
            "-P, not --json)");
  EXPECT_NE(ErrorOf("[]").find("log.json: no job to simulate"), std::string::npos);
  EXPECT_NE(ErrorOf("[{}]").find("left out: 1 never ran"), std::string::npos);
  EXPECT_EQ(ErrorOf(R"([{}, "x"])"), "log.json: [1] is \"x\": write a job as an object");
  EXPECT_NE(ErrorOf("[{]"), "no error");
}

}  // namespace
}  // namespace synergy::cli
