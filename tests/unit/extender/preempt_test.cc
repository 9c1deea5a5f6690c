#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

class PreemptTest : public ExtenderTest {
 protected:
  void SetUp() override {
    AddNode("a", 2);
    Pod low = MakePod("low", 1, 1, 1, "a");
    low.priority = 1;
    Pod high = MakePod("high", 1, 1, 1, "a");
    high.priority = 5;
    state.UpsertPod(low);
    state.UpsertPod(high);
  }
  std::string Args(const std::string& victims) {
    return fmt::format(R"({{"Pod":{},{}}})", PodJson(MakePod("p", 1, 1, 1)), victims);
  }
};

TEST_F(PreemptTest, KeepsTheLowestPriorityAmongMoreVictimsThanNeeded) {
  EXPECT_EQ(
      extender.Preempt(Args(
          R"("NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"uid-high"},{"UID":"uid-low"}],"NumPDBViolations":0}})")),
      R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"uid-low"}],"NumPDBViolations":0}}})");
}

TEST_F(PreemptTest, ReadsWholePodsAsVictims) {
  EXPECT_EQ(
      extender.Preempt(
          Args(R"("NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"uid-high"}}]}})")),
      R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"uid-high"}],"NumPDBViolations":0}}})");
}

TEST_F(PreemptTest, DropsNodesThatItDoesNotKnow) {
  EXPECT_EQ(
      extender.Preempt(Args(R"("NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"uid-high"}]}})")),
      R"({"NodeNameToMetaVictims":{}})");
}

TEST_F(PreemptTest, EvictsNobodyOnBadInput) {
  for (const char* body :
       {"", "[]", "{}", R"({"Pod":{},"NodeNameToMetaVictims":{"a":{"Pods":[7]}}})"}) {
    EXPECT_THAT(extender.Preempt(body), ::testing::StartsWith(R"({"Error":")")) << body;
  }
}

}  // namespace
}  // namespace synergy::extender
