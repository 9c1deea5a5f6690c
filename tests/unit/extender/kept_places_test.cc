// Tests that places which the tuner keeps for waiting pods yield to pods of higher priority.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "unit/extender/gangs_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;

// Nodes a and b of 4 GPUs.
class KeptPlacesTest : public GangsTest {
 protected:
  KeptPlacesTest() {
    AddNode("a", 4);
    AddNode("b", 4);
    clock.Advance(std::chrono::seconds(1));
    state.DropStaleExpectations(clock.Now(), clock.WallNow());
  }

  // Keeps a place for the pod, as the tuner writes it.
  void Keep(Pod pod, const std::string& node,
            std::chrono::seconds for_time = std::chrono::seconds(60), int32_t priority = -1) {
    pod.priority = priority;
    auto waiting = std::make_shared<Waiting>();
    waiting->kept_node = node;
    waiting->kept_until = clock.WallNow() + for_time;
    waiting->selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::move(waiting);
    Put(pod);
  }
  std::string FilterSingle(int64_t gpus = 1, const std::vector<std::string>& nodes = {"a"}) {
    return extender.Filter(Args(MakePod("single", gpus, 1, 1), nodes));
  }
};

TEST_F(KeptPlacesTest, AreGivenToAPodOfHigherPriority) {
  Keep(MakePod("kept", 4, 1, 1), "a");
  EXPECT_THAT(FilterSingle(), HasSubstr(Passes("a")));
  api.Put(MakePod("single", 1, 1, 1));
  EXPECT_EQ(extender.Bind(BindArgs(MakePod("single", 1, 1, 1), "a")), kBound);
}

TEST_F(KeptPlacesTest, AreNotGivenToAPodOfTheSamePriority) {
  Keep(MakePod("kept", 4, 1, 1), "a", std::chrono::seconds(60), 0);
  EXPECT_THAT(FilterSingle(), HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(KeptPlacesTest, AreNotGivenWhereThatDoesNotHelp) {
  Keep(MakePod("kept", 4, 1, 1), "a");
  EXPECT_THAT(FilterSingle(5), HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_THAT(FilterSingle(1, {"a", "b"}), HasSubstr(Passes("b")));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(KeptPlacesTest, TheLowestPriorityYieldsFirst) {
  Keep(MakePod("low", 2, 1, 1), "a", std::chrono::seconds(60), -2);
  Keep(MakePod("middle", 2, 1, 1), "a", std::chrono::seconds(60), -1);
  EXPECT_THAT(FilterSingle(2), HasSubstr(Passes("a")));
  EXPECT_TRUE(state.FindPlacement("uid-middle"));
  EXPECT_FALSE(state.FindPlacement("uid-low"));
}

TEST_F(KeptPlacesTest, AGangYieldsAllOfThem) {
  const auto members = Create("g");
  Keep(members[0], "a");
  Keep(members[1], "b");
  EXPECT_THAT(FilterSingle(), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeGpus("b"), Gpus(4)) << "whole or not at all";
}

TEST_F(KeptPlacesTest, AGangHasThePriorityOfItsHighestPod) {
  const auto members = Create("g");
  Keep(members[0], "a");
  Keep(members[1], "b", std::chrono::seconds(60), 0);
  EXPECT_THAT(FilterSingle(), HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(KeptPlacesTest, AGangYieldsThemWithThoseThatTheExtenderHolds) {
  const auto members = Create("g");
  Keep(members[0], "a");
  Keep(members[1], "b");
  ASSERT_THAT(Filter(members[0], {"a", "b"}), HasSubstr(R"("NodeNames":[")"));
  ASSERT_EQ(extender.gangs().Count().held, 1U);
  EXPECT_THAT(FilterSingle(), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.gangs().Count().held, 0U);
  EXPECT_EQ(FreeGpus("b"), Gpus(4));
}

TEST_F(KeptPlacesTest, AreGivenToAGangOfHigherPriority) {
  Keep(MakePod("kept", 2, 1, 1), "a");
  Keep(MakePod("other", 1, 1, 1), "b");
  const auto members = Create("g", 2, 3);
  EXPECT_THAT(Filter(members[0], {"a", "b"}), HasSubstr(R"("NodeNames":[")"));
  EXPECT_FALSE(state.FindPlacement("uid-kept"));
  EXPECT_TRUE(state.FindPlacement("uid-other")) << "it leaves enough room";
}

TEST_F(KeptPlacesTest, CountAgainOnceTheTunerHasWrittenThemAnew) {
  Keep(MakePod("kept", 4, 1, 1), "a");
  ASSERT_THAT(FilterSingle(), HasSubstr(Passes("a")));
  Keep(MakePod("kept", 4, 1, 1), "a");
  EXPECT_FALSE(state.FindPlacement("uid-kept")) << "the same place, reported again";
  Keep(MakePod("kept", 4, 1, 1), "a", std::chrono::seconds(90));
  EXPECT_TRUE(state.FindPlacement("uid-kept"));
}

}  // namespace
}  // namespace synergy::extender
