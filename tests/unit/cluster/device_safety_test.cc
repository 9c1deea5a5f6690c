#include "cluster/devices/device_safety.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

const Labels kUnlabelled;
const Labels kLabelledSafe{{"synergy.io/devices-safe", "true"}};
const Labels kLabelledUnsafe{{"synergy.io/devices-safe", "false"}};

// Returns a pod without a report of the node agent.
Pod Managed(const std::string& name = "a") {
  Pod pod = OnNode(MakeGpuPod(name, 1), "n1");
  pod.fungible = std::make_shared<const ManagedContainer>();
  return pod;
}

Pod Reported(DeviceSafety safety, const std::string& name = "a") {
  Pod pod = Managed(name);
  ManagedContainer fungible = *pod.fungible;
  fungible.devices = DeviceReading{safety, "the agent's reason"};
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

TEST(DeviceSafetyTest, WithoutAReportNothingIsKnownOrResized) {
  EXPECT_EQ(DevicesOf(Managed(), kUnlabelled).safety, DeviceSafety::kUnknown);
  EXPECT_THAT(DevicesOf(Managed(), kUnlabelled).why, HasSubstr("has not reported"));
  EXPECT_FALSE(MayResize(Managed(), kUnlabelled));
  EXPECT_FALSE(MayResize(Managed(), {{"synergy.io/devices-safe", "perhaps"}}));
}

TEST(DeviceSafetyTest, TheNodeAgentsWordCounts) {
  for (const DeviceSafety safety :
       {DeviceSafety::kUnknown, DeviceSafety::kSafe, DeviceSafety::kUnsafe, DeviceSafety::kLost}) {
    EXPECT_EQ(DevicesOf(Reported(safety), kUnlabelled),
              (DeviceReading{safety, "the agent's reason"}));
    EXPECT_EQ(MayResize(Reported(safety), kUnlabelled), safety == DeviceSafety::kSafe);
  }
}

TEST(DeviceSafetyTest, TheNodesLabelGoesBeforeTheAgentsWord) {
  EXPECT_TRUE(MayResize(Managed(), kLabelledSafe));
  EXPECT_TRUE(MayResize(Reported(DeviceSafety::kUnsafe), kLabelledSafe));
  EXPECT_FALSE(MayResize(Reported(DeviceSafety::kSafe), kLabelledUnsafe));
  EXPECT_THAT(DevicesOf(Reported(DeviceSafety::kSafe), kLabelledUnsafe).why,
              HasSubstr("synergy.io/devices-safe"));
}

TEST(DeviceSafetyTest, ALossGoesBeforeTheLabel) {
  EXPECT_EQ(DevicesOf(Reported(DeviceSafety::kLost), kLabelledSafe).safety, DeviceSafety::kLost);
  EXPECT_FALSE(MayResize(Reported(DeviceSafety::kLost), kLabelledSafe));
}

TEST(DeviceSafetyTest, APodWithoutGpusHasNothingToLose) {
  Pod pod = Reported(DeviceSafety::kLost);
  pod.requests.main.gpus = Gpus(0);
  EXPECT_TRUE(MayResize(pod, kLabelledUnsafe));
}

TEST(DeviceSafetyTest, ANodeIsAsSafeAsTheWorstOfItsManagedPods) {
  NodeDetail node;
  EXPECT_EQ(DeviceSafetyOf(node), DeviceSafety::kUnknown);
  const auto add = [&node](Pod pod) {
    node.pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    return DeviceSafetyOf(node);
  };
  EXPECT_EQ(add(MakeGpuPod("not managed", 1)), DeviceSafety::kUnknown);
  EXPECT_EQ(add(Reported(DeviceSafety::kSafe, "b")), DeviceSafety::kSafe);
  EXPECT_EQ(add(Managed("c")), DeviceSafety::kUnknown);
  EXPECT_EQ(add(Reported(DeviceSafety::kUnsafe, "d")), DeviceSafety::kUnsafe);
  EXPECT_EQ(add(Reported(DeviceSafety::kLost, "e")), DeviceSafety::kLost);
  EXPECT_EQ(add(Reported(DeviceSafety::kSafe, "f")), DeviceSafety::kLost);
  node.pods.clear();
  node.labels = kLabelledSafe;
  EXPECT_EQ(DeviceSafetyOf(node), DeviceSafety::kSafe);
}

TEST(DeviceSafetyTest, SlicesOfGpusMayBeLostLikeGpus) {
  const Pod pod = SizedByUs(OnNode(MakeSlicePod("a", 1), "n1"));
  EXPECT_EQ(DeviceSafetyOf(pod, kUnlabelled), DeviceSafety::kUnknown);
  EXPECT_FALSE(MayResize(pod, kUnlabelled));
  EXPECT_TRUE(MayResize(pod, kLabelledSafe));
  NodeDetail node;
  node.pods = {std::make_shared<const Pod>(pod)};
  node.labels = kLabelledUnsafe;
  EXPECT_EQ(DeviceSafetyOf(node), DeviceSafety::kUnsafe);
}

}  // namespace
}  // namespace synergy::testing
