#include "research/reference/placement.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class PlacementTest : public ::testing::Test {
 protected:
  // Takes GPUs of a server, and nothing else.
  void Occupy(uint32_t server, int gpus) {
    Job job;
    job.gpus = gpus;
    ASSERT_TRUE(cluster_.Take(job, {{server, {static_cast<double>(gpus), 0, 0, 0, 0}}}));
  }

  // Returns the server and the GPUs of each part; empty if there is no room.
  std::vector<std::pair<uint32_t, double>> Find(const Amounts& demand, bool consolidate) {
    Placement placement(cluster_, consolidate);
    std::vector<std::pair<uint32_t, double>> found;
    if (!placement.Find(demand)) return found;
    for (const Part& part : placement.parts()) found.emplace_back(part.server, part.amounts[kGpu]);
    return found;
  }

  Cluster cluster_{3, kServer};
};

TEST_F(PlacementTest, TheFirstServerWithRoomIsTaken) {
  Occupy(0, 8);
  EXPECT_THAT(Find({1, 3, 60, 60, 0}, false), ElementsAre(Pair(1, 1)));
}

TEST_F(PlacementTest, AJobIsSplitFreelyWhereTheFirstServersHaveRoom) {
  Occupy(0, 7);
  Occupy(1, 6);
  EXPECT_THAT(Find({4, 4, 80, 250, 0}, false), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 1)));
}

TEST_F(PlacementTest, CpuLimitsHowManyGpusOfAServerAreTaken) {
  EXPECT_THAT(Find({4, 48, 80, 250, 0}, false), ElementsAre(Pair(0, 2), Pair(1, 2)));
  EXPECT_THAT(Find({8, 96, 80, 500, 0}, false), ElementsAre());
}

TEST_F(PlacementTest, ConsolidatingTakesTheFullestServerThatHoldsTheWholeJob) {
  Occupy(0, 2);
  Occupy(1, 4);
  Occupy(2, 5);
  EXPECT_THAT(Find({4, 4, 80, 250, 0}, true), ElementsAre(Pair(1, 4)));
  EXPECT_THAT(Find({2, 4, 80, 125, 0}, true), ElementsAre(Pair(2, 2)));
}

TEST_F(PlacementTest, ConsolidatingFillsTheFullestServersWhereNoneHoldsTheWholeJob) {
  Occupy(0, 5);
  Occupy(1, 6);
  Occupy(2, 6);
  EXPECT_THAT(Find({4, 4, 80, 250, 0}, true), ElementsAre(Pair(1, 2), Pair(2, 2)));
  EXPECT_THAT(Find({1, 1, 20, 62.5, 0}, true), ElementsAre(Pair(1, 1)));
}

}  // namespace
}  // namespace synergy::reference
