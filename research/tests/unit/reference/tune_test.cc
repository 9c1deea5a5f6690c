#include "research/reference/tune.h"

#include <deque>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

// Tests one round with Tune.
class TuneTest : public ::testing::Test {
 protected:
  // Adds a job; jobs come in the order of these calls.
  Job& Add(const std::string& model, int64_t gpus = 1) {
    jobs_.push_back(Made(OneOf(model, static_cast<int64_t>(jobs_.size()), gpus, 0, 100'000)));
    ordered_.push_back(&jobs_.back());
    return jobs_.back();
  }
  void Add(int count, const std::string& model) {
    for (int i = 0; i < count; ++i) Add(model);
  }

  Result<> Allocate(uint32_t servers) {
    cluster_ = Cluster(servers, kServer);
    Tune tune({cluster_, placement_, kRound});
    return tune.Allocate(ordered_, running_);
  }

  Cluster cluster_{1, kServer};
  Placement placement_{cluster_, /*consolidate=*/false};
  std::deque<Job> jobs_;
  std::vector<Job*> ordered_;
  std::vector<Job*> running_;
};

TEST_F(TuneTest, DemandsThatFitAreMet) {
  const Job& first = Add("alexnet");
  const Job& second = Add("res18");
  ASSERT_TRUE(Allocate(1));
  EXPECT_EQ(first.held[kCpu], 12);
  EXPECT_EQ(second.held[kCpu], 9);
  EXPECT_EQ(first.done, 900);
  EXPECT_EQ(second.done, 600);
}

TEST_F(TuneTest, JobWithoutRoomIsCutToTheFairShare) {
  Add("alexnet");
  Add("res18");
  const Job& third = Add("res18");
  ASSERT_TRUE(Allocate(1));
  EXPECT_TRUE(third.cut);
  EXPECT_EQ(third.held[kCpu], 3);
  EXPECT_EQ(third.held[kMemory], 62.5);
  EXPECT_EQ(third.done, 300);
}

TEST_F(TuneTest, IfThatIsNotEnoughJobsWithMostCpuAreCut) {
  const Job& hungry = Add("res18");
  const Job& hungriest = Add("alexnet");
  Add(4, "gnmt");  // 25 - 24 CPUs: one is lacking for the last job
  ASSERT_TRUE(Allocate(1));
  EXPECT_EQ(running_.size(), 6U);
  EXPECT_TRUE(hungriest.cut);
  EXPECT_EQ(hungriest.held[kCpu], 3);
  EXPECT_EQ(hungriest.done, 300);
  EXPECT_EQ(hungriest.attained, 300);
  EXPECT_FALSE(hungry.cut);
  EXPECT_EQ(hungry.held[kCpu], 9);
}

TEST_F(TuneTest, TheServerWithTheFewestFreeGpusMakesRoomForOneGpu) {
  const Job& first = Add("alexnet");  // server 0
  Add("alexnet");                     // server 0
  const Job& third = Add("alexnet");  // server 1
  Add("alexnet");                     // server 1
  Add("gnmt");
  ASSERT_TRUE(Allocate(2));
  EXPECT_TRUE(first.cut);
  EXPECT_FALSE(third.cut);
}

TEST_F(TuneTest, AJobOnSeveralServersIsCutBackOnAllOfThem) {
  const Job& wide = Add("alexnet", 4);  // 6 CPUs per GPU: 4 of them on server 0
  Add(4, "gnmt");
  ASSERT_TRUE(Allocate(1));
  EXPECT_TRUE(wide.cut);
  EXPECT_EQ(wide.held[kCpu], 12);
  EXPECT_EQ(running_.size(), 5U);
}

TEST_F(TuneTest, EveryJobWithGpusRuns) {
  for (int i = 0; i < 16; ++i) Add(i % 2 == 0 ? "alexnet" : "res18");
  ASSERT_TRUE(Allocate(2));
  EXPECT_EQ(running_.size(), 16U);
  EXPECT_EQ(cluster_.free_gpus(), 0);
}

}  // namespace
}  // namespace synergy::reference
