#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

class PrioritizeTest : public ExtenderTest {};

TEST_F(PrioritizeTest, GivesTenPointsToTheTightestNodeAlone) {
  AddNode("empty");
  AddNode("tight");
  AddNode("tighter");
  state.UpsertPod(MakePod("x", 4, 12, 250, "tight"));
  state.UpsertPod(MakePod("y", 6, 18, 375, "tighter"));
  EXPECT_EQ(
      extender.Prioritize(Args(MakePod("p", 1, 3, 60), {"empty", "tight", "tighter"})),
      R"([{"Host":"empty","Score":5},{"Host":"tight","Score":8},{"Host":"tighter","Score":10}])");
}

TEST_F(PrioritizeTest, OrdersEqualNodesByName) {
  AddNode("b");
  AddNode("a");
  EXPECT_EQ(extender.Prioritize(Args(MakePod("p", 1, 3, 60), {"b", "a"})),
            R"([{"Host":"b","Score":9},{"Host":"a","Score":10}])");
}

// Returns the arguments of a pod that prefers some nodes.
std::string Preferring(std::string args) {
  const std::string affinity =
      R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,)"
      R"("preference":{"matchExpressions":[{"key":"zone","operator":"In","values":["a"]}]}}]}},)";
  const size_t spec = args.find(R"("nodeName")");
  args.insert(spec, affinity);
  return args;
}

TEST_F(PrioritizeTest, LeavesTheChoiceAmongNearlyEqualNodesToAPodThatHasPreferences) {
  AddNode("a");
  AddNode("b");
  AddNode("tight");
  state.UpsertPod(MakePod("x", 1, 3, 60, "b"));
  state.UpsertPod(MakePod("y", 6, 18, 375, "tight"));
  const Pod pod = MakePod("p", 1, 3, 60);
  EXPECT_EQ(extender.Prioritize(Args(pod, {"a", "b"})),
            R"([{"Host":"a","Score":5},{"Host":"b","Score":10}])");
  EXPECT_EQ(FreeGpus("b"), Gpus(6)) << "expected there";
  const Pod other = MakePod("q", 1, 3, 60);
  EXPECT_EQ(extender.Prioritize(Preferring(Args(other, {"a", "b", "tight"}))),
            R"([{"Host":"a","Score":5},{"Host":"b","Score":6},{"Host":"tight","Score":10}])");
  EXPECT_EQ(extender.Prioritize(Preferring(Args(other, {"a", "b"}))),
            R"([{"Host":"a","Score":10},{"Host":"b","Score":10}])");
  EXPECT_EQ(FreeGpus("a"), Gpus(8)) << "nobody knows where it goes";
}

TEST_F(PrioritizeTest, PrefersANodeThatKeepsAReserveForEveryFreeGpu) {
  // Twelve more cores on "half" would leave none for its six other GPUs.
  AddNode("empty");
  AddNode("half");
  state.UpsertPod(MakePod("x", 1, 12, 60, "half"));
  state.UpsertPod(MakePod("waits", 1, 1, 20));
  EXPECT_EQ(extender.Prioritize(Args(MakePod("p", 1, 12, 60), {"empty", "half"})),
            R"([{"Host":"empty","Score":10},{"Host":"half","Score":4}])");
}

TEST_F(PrioritizeTest, CountsThePodWhereItWillGoBeforeItIsBound) {
  AddNode("a");
  AddNode("b");
  extender.Prioritize(Args(MakePod("first", 8, 24, 500), {"a", "b"}));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(extender.Prioritize(Args(MakePod("second", 1, 1, 1), {"a", "b"})),
            R"([{"Host":"a","Score":0},{"Host":"b","Score":10}])");
}

TEST_F(PrioritizeTest, RepeatsItselfForTheSamePod) {
  AddNode("a");
  AddNode("b");
  const std::string args = Args(MakePod("p", 8, 24, 500), {"a", "b"});
  const std::string first = extender.Prioritize(args);
  EXPECT_EQ(extender.Prioritize(args), first);
}

TEST_F(PrioritizeTest, PrefersTheNodeWhereFewestShareAGpu) {
  using namespace synergy::testing;
  for (const char* name : {"a", "b"})
    state.UpsertNode(MakeSharedNode(name, 2, 4, {Gpus(0), Cores(24), GiB(500)}));
  state.UpsertPod(OnNode(MakeSlicePod("there", 1), "a"));
  std::string args = Args(ExtenderTest::MakePod("p", 1, 1, 1), {"a", "b"});
  args.insert(args.find("nvidia.com/gpu") + std::string_view("nvidia.com/gpu").size(), ".shared");
  EXPECT_THAT(extender.Prioritize(args), ::testing::HasSubstr(R"({"Host":"b","Score":10})"));
}

TEST_F(PrioritizeTest, GivesPodsWithoutGpusNoPreference) {
  EXPECT_EQ(extender.Prioritize(Args(MakePod("web", 0, 1, 1), {"a", "b"})),
            R"([{"Host":"a","Score":0},{"Host":"b","Score":0}])");
}

TEST_F(PrioritizeTest, AnswersAnEmptyListWithAnEmptyList) {
  EXPECT_EQ(extender.Prioritize(Args(MakePod("p", 1, 1, 1), {})), "[]");
}

}  // namespace
}  // namespace synergy::extender
