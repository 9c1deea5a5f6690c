// Tests what an extender does about gangs that an earlier one has bound in part.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "unit/extender/gangs_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// Nodes a, b and c of 4 GPUs, and a gang of three members with 4 GPUs each.
class ResumedGangsTest : public GangsTest {
 protected:
  ResumedGangsTest() {
    for (const char* name : {"a", "b", "c"}) AddNode(name, 4);
    clock.Advance(std::chrono::seconds(100));
    for (int i = 0; i < 3; ++i) {
      members.push_back(Member("g", i, 3));
      members.back().waiting = std::make_shared<const Waiting>();
    }
  }

  // Creates the members, of which the first `bound` ones are on nodes a, b and c.
  void CreateMembers(size_t bound) {
    for (size_t i = 0; i < members.size(); ++i) {
      if (i < bound) {
        members[i].node = kNodes[i];
        members[i].waiting = nullptr;
      }
      Put(members[i]);
    }
  }
  std::string FilterSingle(const std::string& node) {
    return extender.Filter(Args(MakePod("single", 1, 1, 1), {node}));
  }

  const std::vector<std::string> kNodes = {"a", "b", "c"};
  std::vector<Pod> members;
};

TEST_F(ResumedGangsTest, ThePlacesOfTheOthersAreHeldFromTheStart) {
  CreateMembers(1);
  EXPECT_THAT(FilterSingle("b"), HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_THAT(FilterSingle("c"), HasSubstr("Insufficient nvidia.com/gpu"));
  std::vector<std::string> nodes;
  for (const size_t i : {1, 2}) {
    ASSERT_THAT(Filter(members[i], {"b", "c"}), HasSubstr(R"("NodeNames":[")"));
    nodes.push_back(state.FindPlacement(members[i].uid)->pod->node);
  }
  EXPECT_THAT(BindAll({members[1], members[2]}, nodes), Each(kBound));
}

TEST_F(ResumedGangsTest, AMemberThatHadPassedTheFilterIsBound) {
  CreateMembers(2);
  EXPECT_EQ(extender.Bind(BindArgs(members[2], "c")), kBound);
}

TEST_F(ResumedGangsTest, TheHoldEndsAsUsual) {
  CreateMembers(1);
  ASSERT_THAT(FilterSingle("b"), HasSubstr("Insufficient nvidia.com/gpu"));
  clock.Advance(kHold - std::chrono::seconds(1));
  extender.gangs().Look();
  EXPECT_THAT(FilterSingle("b"), HasSubstr("Insufficient nvidia.com/gpu"));
  clock.Advance(std::chrono::seconds(1));
  extender.gangs().Look();
  EXPECT_THAT(FilterSingle("b"), HasSubstr(Passes("b")));
  EXPECT_THAT(Filter(members[1], {"b", "c"}), HasSubstr("tried again after 30 s"));
}

TEST_F(ResumedGangsTest, NothingIsHeldForAGangOfWhichNoMemberRuns) {
  CreateMembers(0);
  EXPECT_THAT(FilterSingle("b"), HasSubstr(Passes("b")));
}

TEST_F(ResumedGangsTest, NothingIsHeldIfTheOthersDoNotAllFit) {
  CreateMembers(1);
  Put(MakePod("other", 1, 1, 1, "c"));
  EXPECT_THAT(FilterSingle("b"), HasSubstr(Passes("b")));
}

TEST_F(ResumedGangsTest, OtherPlacesDoNotYieldToIt) {
  CreateMembers(1);
  Pod kept = MakePod("kept", 4, 1, 1);
  kept.priority = -1;
  auto waiting = std::make_shared<Waiting>();
  waiting->kept_node = "c";
  waiting->kept_until = clock.WallNow() + std::chrono::seconds(60);
  kept.waiting = std::move(waiting);
  Put(kept);
  EXPECT_THAT(FilterSingle("b"), HasSubstr(Passes("b")));
  EXPECT_TRUE(state.FindPlacement(kept.uid));
}

TEST_F(ResumedGangsTest, ThePlacesDoNotYieldBecauseTheGangIsAboutToRun) {
  for (Pod& member : members) member.priority = -1;
  CreateMembers(1);
  EXPECT_THAT(FilterSingle("b"), HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(ResumedGangsTest, AnExtenderThatTakesOverHoldsThePlacesToo) {
  ASSERT_THAT(FilterSingle("b"), HasSubstr(Passes("b")));
  state.RemovePod("uid-single");
  CreateMembers(1);
  extender.Look();
  EXPECT_THAT(FilterSingle("b"), HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_THAT(FilterSingle("c"), HasSubstr("Insufficient nvidia.com/gpu"));
}

// A hold that has ended does not begin again before kube-scheduler asks about a member.
TEST_F(ResumedGangsTest, PlacesAreHeldOnlyOnceWithoutAQuestion) {
  CreateMembers(1);
  extender.Look();
  ASSERT_EQ(extender.gangs().Count().held, 1U);
  clock.Advance(kHold);
  extender.Look();
  clock.Advance(std::chrono::minutes(20));
  extender.Look();
  EXPECT_EQ(extender.gangs().Count().held, 0U);
}

}  // namespace
}  // namespace synergy::extender
