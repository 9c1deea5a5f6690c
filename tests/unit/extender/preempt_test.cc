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

TEST_F(PreemptTest, DropsUnknownNodes) {
  EXPECT_EQ(
      extender.Preempt(Args(R"("NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"uid-high"}]}})")),
      R"({"NodeNameToMetaVictims":{}})");
}

TEST_F(PreemptTest, EvictsNoPodForASingleMember) {
  const auto ask = [this](int size) {
    return extender.Preempt(fmt::format(
        R"({{"Pod":{{"metadata":{{"name":"m","namespace":"default","uid":"uid-m",)"
        R"("labels":{{"synergy.io/gang":"g","synergy.io/gang-size":"{}"}}}},)"
        R"("spec":{{"containers":[{{"resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}}]}}}},)"
        R"("NodeNameToMetaVictims":{{"a":{{"Pods":[{{"UID":"uid-low"}}]}}}}}})",
        size));
  };
  EXPECT_EQ(ask(2), R"({"NodeNameToMetaVictims":{}})");
  EXPECT_THAT(ask(1), ::testing::HasSubstr("uid-low")) << "it trains alone";
}

TEST_F(PreemptTest, VictimsOfALauncherWithoutGpusStay) {
  const std::string victims =
      R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"uid-low"}],"NumPDBViolations":1}}})";
  EXPECT_EQ(extender.Preempt(
                R"({"Pod":{"metadata":{"name":"m","namespace":"default","uid":"uid-m",)"
                R"("labels":{"synergy.io/gang":"g","synergy.io/gang-size":"2"}},)"
                R"("spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"0"}}}]}},)" +
                victims.substr(1)),
            victims);
}

// Node "b" has four GPUs and 8 cores. A pod there has 7 cores and needs only one.
class PreemptWithSurplusTest : public PreemptTest {
 protected:
  void SetUp() override {
    AddNode("b", 4, 8, 100);
    AddPodWithSurplus({});
  }
  void AddPodWithSurplus(const ResourceVector& init_peak) {
    Pod pod = MakePod("surplus", 1, 7, 10, "b");
    pod.priority = 1;
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->init_peak = init_peak;
    fungible->requested = pod.requests.main;
    fungible->in_force = fungible->set_aside = fungible->requested;
    fungible->floor = {Gpus(1), Cores(1), GB(10)};
    fungible->demand = fungible->requested;
    fungible->devices = DeviceReading{DeviceSafety::kSafe, {}};
    pod.fungible = fungible;
    state.UpsertPod(pod);
  }
  std::string Ask(int64_t gpus, int64_t cores) {
    return extender.Preempt(fmt::format(
        R"({{"Pod":{},"NodeNameToMetaVictims":{{"b":{{"Pods":[{{"UID":"uid-surplus"}}],"NumPDBViolations":0}}}}}})",
        PodJson(MakePod("p", gpus, cores, 1))));
  }

  static constexpr char kNoNodes[] = R"({"NodeNameToMetaVictims":{}})";
  static constexpr char kTheOne[] =
      R"({"NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"uid-surplus"}],"NumPDBViolations":0}}})";
};

TEST_F(PreemptWithSurplusTest, EvictsNoPodForCpuThatTheTunerCanReclaim) {
  EXPECT_EQ(Ask(2, 6), kNoNodes);
}

TEST_F(PreemptWithSurplusTest, EvictsForCpuIfAResizeHasCostAPodOfTheNodeItsGpus) {
  Pod lost = MakePod("lost", 1, 1, 1, "b");
  auto fungible = std::make_shared<ManagedContainer>();
  fungible->requested = fungible->in_force = fungible->set_aside = lost.requests.main;
  fungible->floor = fungible->demand = fungible->requested;
  fungible->devices = DeviceReading{DeviceSafety::kLost, {}};
  lost.fungible = fungible;
  state.UpsertPod(lost);
  EXPECT_EQ(Ask(2, 6), kTheOne);
}

TEST_F(PreemptWithSurplusTest, EvictsForGpus) { EXPECT_EQ(Ask(4, 6), kTheOne); }

TEST_F(PreemptWithSurplusTest, EvictsForMoreCpuThanThereIsSurplus) {
  EXPECT_EQ(Ask(2, 8), kTheOne);
}

TEST_F(PreemptWithSurplusTest, EvictsForCpuThatInitContainersKeep) {
  AddPodWithSurplus({Gpus(0), Cores(6), Bytes(0)});
  EXPECT_EQ(Ask(2, 2), kNoNodes);
  EXPECT_EQ(Ask(2, 6), kTheOne);
}

TEST_F(PreemptWithSurplusTest, DoesNotWaitForATunerThatDoesNothing) {
  EXPECT_EQ(Ask(2, 6), kNoNodes);
  clock.Advance(std::chrono::seconds(29));
  EXPECT_EQ(Ask(2, 6), kNoNodes);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(2, 6), kTheOne);
}

// The kubelet makes the pod smaller. Until then the pod keeps its old amounts.
TEST_F(PreemptWithSurplusTest, EvictsNoPodForCpuThatIsBeingReclaimed) {
  Pod pod = MakePod("surplus", 1, 1, 10, "b");
  pod.priority = 1;
  auto fungible = std::make_shared<ManagedContainer>();
  fungible->reported = true;
  fungible->requested = fungible->floor = fungible->demand = {Gpus(1), Cores(1), GB(10)};
  fungible->in_force = fungible->set_aside = {Gpus(1), Cores(7), GB(10)};
  pod.requests.main.cpu = Cores(7);
  pod.fungible = fungible;
  state.UpsertPod(pod);
  EXPECT_EQ(Ask(2, 6), kNoNodes);
  EXPECT_EQ(Ask(2, 8), kTheOne);
}

// kube-scheduler tried the pod before the tuner's last cut was made.
TEST_F(PreemptWithSurplusTest, EvictsNoPodForRoomThatHasJustBeenMade) {
  EXPECT_EQ(Ask(2, 1), kNoNodes);
  clock.Advance(std::chrono::seconds(29));
  EXPECT_EQ(Ask(2, 1), kNoNodes);
  // The cause is therefore another resource.
  clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Ask(2, 1), kTheOne);
}

TEST_F(PreemptTest, EvictsNoPodOnBadInput) {
  for (const char* body :
       {"", "[]", "{}", R"({"Pod":{},"NodeNameToMetaVictims":{"a":{"Pods":[7]}}})"}) {
    EXPECT_THAT(extender.Preempt(body), ::testing::StartsWith(R"({"Error":")")) << body;
  }
}

}  // namespace
}  // namespace synergy::extender
