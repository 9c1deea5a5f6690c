#include "research/tiresias/tiresias_input.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

std::string TraceError(const std::string& text) {
  const auto jobs = ParseTiresiasTrace(text, "t.csv");
  EXPECT_FALSE(jobs);
  return jobs ? "" : jobs.error().message;
}

TEST(TiresiasInputTest, ATraceIsReadByTheNamesOfItsColumns) {
  const auto jobs = ParseTiresiasTrace(
      "duration,num_gpu,job_id,submit_time,model_name,x\n9.7,2,5,30,vgg,1\n", "t.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  const TiresiasJob& job = jobs->front();
  EXPECT_EQ(job.id, 5);
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.submitted, 30);
  EXPECT_EQ(job.duration, 9);
  EXPECT_EQ(job.model, "vgg");
}

TEST(TiresiasInputTest, ErrorsNameLineAndField) {
  const std::string head = "job_id,num_gpu,submit_time,duration\n";
  EXPECT_THAT(TraceError(head + "0,0,0,10\n"), HasSubstr("t.csv:2:3: num_gpu is \"0\""));
  EXPECT_THAT(TraceError(head + "0,1,-1,10\n"), HasSubstr("t.csv:2:5: submit_time"));
  EXPECT_THAT(TraceError(head + "0,1,0,nan\n"), HasSubstr("t.csv:2:7: duration"));
  EXPECT_THAT(TraceError(head + "0,1,0,1e300\n"), HasSubstr("t.csv:2:7: duration"));
  EXPECT_THAT(TraceError(head + "0,1,0,1\n0,1,0,1\n"), HasSubstr("t.csv:3:1: job_id"));
  EXPECT_THAT(TraceError(head + "0,1,0\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(TraceError(head), HasSubstr("no jobs"));
  EXPECT_THAT(TraceError("job_id,num_gpu,submit_time\n0,1,0\n"), HasSubstr("\"duration\""));
}

TEST(TiresiasInputTest, ClustersAreNodesOfGpus) {
  const auto cluster = ParseTiresiasCluster("n15g4");
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->nodes, 15);
  EXPECT_EQ(cluster->gpus, 4);
  for (const char* wrong : {"", "n2", "n2g", "2g4", "n0g4", "n2g0", "n2g4x", "n-1g4", "n2g9999"}) {
    EXPECT_FALSE(ParseTiresiasCluster(wrong)) << wrong;
  }
}

TEST(TiresiasInputTest, SchedulesHaveAPromoteKnob) {
  using enum TiresiasSchedule::Kind;
  EXPECT_EQ(ParseTiresiasSchedule("dlas-gpu")->promote, 0);
  EXPECT_EQ(ParseTiresiasSchedule("dlas-gpu-100")->promote, 100);
  EXPECT_EQ(ParseTiresiasSchedule("dlas-gpu-05")->promote, 0.5);
  EXPECT_EQ(ParseTiresiasSchedule("dlas-gpu-0.5")->promote, 0.5);
  EXPECT_EQ(ParseTiresiasSchedule("dlas-gpu-gittins")->kind, kDlasGpuGittins);
  EXPECT_EQ(ParseTiresiasSchedule("shortest-gpu")->kind, kShortestGpu);
  for (const char* wrong : {"", "dlas", "dlas-gpu-", "dlas-gpu-0", "dlas-gpu-x", "dlas-gpu--1",
                            "fifo-2", "dlas-gpu-inf"}) {
    EXPECT_FALSE(ParseTiresiasSchedule(wrong)) << wrong;
  }
}

TEST(TiresiasInputTest, SizesOfPastJobsAreWholeAndAboveZero) {
  EXPECT_THAT(*ParseSizeHistory("duration\n5\n3\n", "h.csv"), ::testing::ElementsAre(5, 3));
  const auto wrong = ParseSizeHistory("duration\n5\n0\n", "h.csv");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("h.csv:3:1: duration"));
}

}  // namespace
}  // namespace synergy::testing
