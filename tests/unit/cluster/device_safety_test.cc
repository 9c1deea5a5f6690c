#include "cluster/devices/device_safety.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Returns a node with these pods and this value of the label synergy.io/devices-safe.
NodeState WithPods(const std::vector<Pod>& pods, const std::string& label = {}) {
  Node node = MakeNode("n1", {Gpus(8), Cores(64), GiB(256)});
  if (!label.empty()) node.labels = {{"synergy.io/devices-safe", label}};
  NodeState state = EmptyNode(std::move(node));
  for (const Pod& pod : pods) state = WithPod(state, std::make_shared<const Pod>(pod));
  return state;
}

// Returns what applies to the pod when it is alone on its node.
DeviceReading Alone(const Pod& pod, const std::string& label = {}) {
  return DevicesOf(pod, WithPods({pod}, label));
}
bool MayResizeAlone(const Pod& pod, const std::string& label = {}) {
  return MayResize(pod, WithPods({pod}, label));
}

// Returns a pod without a report of the node agent.
Pod Managed(const std::string& name = "a") {
  Pod pod = OnNode(MakeGpuPod(name, 1), "n1");
  pod.fungible = std::make_shared<const ManagedContainer>();
  return pod;
}

Pod Reported(DeviceSafety safety, const std::string& name = "a", bool resized = false) {
  Pod pod = Managed(name);
  ManagedContainer fungible = *pod.fungible;
  fungible.devices = DeviceReading{safety, "the agent's reason", resized};
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

TEST(DeviceSafetyTest, WithoutAReportNothingIsKnownOrResized) {
  EXPECT_EQ(Alone(Managed()).safety, DeviceSafety::kUnknown);
  EXPECT_THAT(Alone(Managed()).why, HasSubstr("has not reported"));
  EXPECT_FALSE(MayResizeAlone(Managed()));
  EXPECT_FALSE(MayResizeAlone(Managed(), "perhaps"));
}

TEST(DeviceSafetyTest, TheNodeAgentsReportCounts) {
  for (const DeviceSafety safety :
       {DeviceSafety::kUnknown, DeviceSafety::kSafe, DeviceSafety::kUnsafe, DeviceSafety::kLost}) {
    EXPECT_EQ(Alone(Reported(safety)), (DeviceReading{safety, "the agent's reason"}));
    EXPECT_EQ(MayResizeAlone(Reported(safety)), safety == DeviceSafety::kSafe);
  }
}

TEST(DeviceSafetyTest, TheNodesLabelGoesBeforeTheAgentsReport) {
  EXPECT_TRUE(MayResizeAlone(Managed(), "true"));
  EXPECT_TRUE(MayResizeAlone(Reported(DeviceSafety::kUnsafe), "true"));
  EXPECT_FALSE(MayResizeAlone(Reported(DeviceSafety::kSafe), "false"));
  EXPECT_THAT(Alone(Reported(DeviceSafety::kSafe), "false").why,
              HasSubstr("synergy.io/devices-safe"));
}

TEST(DeviceSafetyTest, ALossGoesBeforeTheLabel) {
  EXPECT_EQ(Alone(Reported(DeviceSafety::kLost), "true").safety, DeviceSafety::kLost);
  EXPECT_FALSE(MayResizeAlone(Reported(DeviceSafety::kLost), "true"));
}

TEST(DeviceSafetyTest, AResizeThatTheLabelWronglyAllowedIsALoss) {
  const Pod resized = Reported(DeviceSafety::kUnsafe, "a", true);
  EXPECT_EQ(Alone(resized, "true").safety, DeviceSafety::kLost);
  EXPECT_THAT(Alone(resized, "true").why, HasSubstr("remove the label"));
  EXPECT_EQ(Alone(resized).safety, DeviceSafety::kUnsafe) << "as the agent had reported";
  EXPECT_EQ(Alone(resized, "false").safety, DeviceSafety::kUnsafe);
}

TEST(DeviceSafetyTest, ALossStopsTheResizesOfAllPodsOnTheNode) {
  const Pod other = Reported(DeviceSafety::kSafe, "other");
  Pod without_gpus = Reported(DeviceSafety::kSafe, "cpu");
  without_gpus.requests.main.gpus = Gpus(0);
  for (const Pod& lost :
       {Reported(DeviceSafety::kLost, "lost"), Reported(DeviceSafety::kUnsafe, "lost", true)}) {
    NodeState node = WithPods({other, lost, without_gpus}, "true");
    EXPECT_FALSE(MayResize(other, node));
    EXPECT_THAT(DevicesOf(other, node).why, HasSubstr("another pod"));
    EXPECT_FALSE(HasLostDevices(other, node));
    EXPECT_TRUE(HasLostDevices(lost, node));
    EXPECT_TRUE(MayResize(without_gpus, node));
    node = WithoutPod(node, lost);
    EXPECT_TRUE(MayResize(other, node)) << "the pod has gone";
  }
  const Pod resized = Reported(DeviceSafety::kUnsafe, "resized", true);
  EXPECT_TRUE(MayResize(other, WithPods({other, resized}))) << "the label has been removed";
}

TEST(DeviceSafetyTest, APodWithoutGpusHasNothingToLose) {
  Pod pod = Reported(DeviceSafety::kLost);
  pod.requests.main.gpus = Gpus(0);
  EXPECT_TRUE(MayResizeAlone(pod, "false"));
  const Pod other = Reported(DeviceSafety::kSafe, "other");
  EXPECT_TRUE(MayResize(other, WithPods({pod, other})));
}

TEST(DeviceSafetyTest, ANodeIsAsSafeAsTheWorstOfItsManagedPods) {
  NodeState node = WithPods({});
  EXPECT_EQ(DeviceSafetyOf(node), DeviceSafety::kUnknown);
  const auto add = [&node](Pod pod) {
    node = WithPod(node, std::make_shared<const Pod>(std::move(pod)));
    return DeviceSafetyOf(node);
  };
  EXPECT_EQ(add(MakeGpuPod("not managed", 1)), DeviceSafety::kUnknown);
  EXPECT_EQ(add(Reported(DeviceSafety::kSafe, "b")), DeviceSafety::kSafe);
  EXPECT_EQ(add(Managed("c")), DeviceSafety::kUnknown);
  EXPECT_EQ(add(Reported(DeviceSafety::kUnsafe, "d")), DeviceSafety::kUnsafe);
  EXPECT_EQ(add(Reported(DeviceSafety::kLost, "e")), DeviceSafety::kLost);
  EXPECT_EQ(add(Reported(DeviceSafety::kSafe, "f")), DeviceSafety::kLost);
  EXPECT_EQ(DeviceSafetyOf(WithPods({}, "true")), DeviceSafety::kSafe);
}

TEST(DeviceSafetyTest, SlicesOfGpusMayBeLostLikeGpus) {
  const Pod pod = SizedByUs(OnNode(MakeSlicePod("a", 1), "n1"));
  EXPECT_EQ(Alone(pod).safety, DeviceSafety::kUnknown);
  EXPECT_FALSE(MayResizeAlone(pod));
  EXPECT_TRUE(MayResizeAlone(pod, "true"));
  EXPECT_EQ(DeviceSafetyOf(WithPods({pod}, "false")), DeviceSafety::kUnsafe);
}

}  // namespace
}  // namespace synergy::testing
