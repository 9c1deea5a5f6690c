#include "extender/nodes/ended_pods.h"

#include <string>

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFailedThere[] = "node has recently failed a similar pod (TopologyAffinityError)";

// The watch excludes terminal pods, so it reports the end of a pod with its last living state.
class EndedPodsTest : public ExtenderTest {
 protected:
  EndedPodsTest() {
    AddNode("a");
    Put("four", 4);
  }

  void Put(const std::string& name, int64_t gpus) {
    const Pod pod = MakePod(name, gpus, 1, 1, "a");
    api.Put(pod);
    ended.Upsert(pod);
  }
  void Fail(bool misaligned) {
    const Pod living = api.pod("four");
    api.Change("four", [&](Pod& pod) {
      pod.terminal = true;
      pod.misaligned = misaligned;
    });
    ended.Remove(living);
  }
  std::string Filter(int64_t gpus) {
    return extender.Filter(Args(MakePod("p", gpus, 1, 1), {"a"}));
  }

  EndedPods ended{state, api, clock};
};

TEST_F(EndedPodsTest, ANodeThatCouldNotAlignAPodIsNotTriedAgainForSuchPods) {
  Put("other", 1);
  Fail(true);
  ended.Look();
  EXPECT_THAT(Filter(4), HasSubstr(kFailedThere));
  EXPECT_THAT(Filter(2), Not(HasSubstr(kFailedThere)));
  ended.Remove(api.pod("other"));
  EXPECT_THAT(Filter(4), Not(HasSubstr(kFailedThere))) << "GPUs are free again";
}

TEST_F(EndedPodsTest, ANodeThatAnotherPodHasLeftSinceIsTriedAgain) {
  Put("other", 1);
  Fail(true);
  ended.Remove(api.pod("other"));
  ended.Look();
  EXPECT_THAT(Filter(4), Not(HasSubstr(kFailedThere)));
}

TEST_F(EndedPodsTest, SoIsOneThatAnotherPodLeavesDuringTheRead) {
  Put("other", 1);
  Fail(true);
  api.before_call = [&](std::string_view call) -> Result<> {
    if (call == "get four") ended.Remove(MakePod("other", 1, 1, 1, "a"));
    return {};
  };
  ended.Look();
  EXPECT_THAT(Filter(4), Not(HasSubstr(kFailedThere)));
}

TEST_F(EndedPodsTest, OtherFailuresKeepNoPodAway) {
  Fail(false);
  ended.Look();
  EXPECT_THAT(Filter(4), Not(HasSubstr(kFailedThere)));
}

TEST_F(EndedPodsTest, OnlyPodsThatEndedByThemselvesAreReadAndOnce) {
  int reads = 0;
  api.before_call = [&](std::string_view call) -> Result<> {
    if (call.starts_with("get")) ++reads;
    return {};
  };
  Pod deleted = MakePod("deleted", 1, 1, 1, "a");
  deleted.deleting = true;
  ended.Remove(deleted);
  ended.Remove(MakePod("waiting", 1, 1, 1));
  ended.Remove(MakePod("without GPUs", 0, 1, 1, "a"));
  ended.Look();
  EXPECT_EQ(reads, 0);
  Fail(true);
  ended.Look();
  ended.Look();
  EXPECT_EQ(reads, 1);
}

TEST_F(EndedPodsTest, ANamesakeIsAnotherPod) {
  const Pod living = api.pod("four");
  Pod namesake = living;
  namesake.uid = "another";
  namesake.misaligned = true;
  namesake.terminal = true;
  api.Put(namesake);
  ended.Remove(living);
  ended.Look();
  EXPECT_THAT(Filter(4), Not(HasSubstr(kFailedThere)));
}

}  // namespace
}  // namespace synergy::extender
