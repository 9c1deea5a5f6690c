#include "kubelet/pod_resources.h"

#include <chrono>

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/temporary_folder.h"
#include "unit/kubelet/fake_pod_resources.h"

namespace synergy::testing {
namespace {

using ::synergy::kubelet::PodResources;

TEST(PodResourcesTest, ListsTheOwnerOfEachDeviceAtMostOnceASecond) {
  const TemporaryFolder folder;
  FakeClock clock;
  FakePodResources kubelet(folder.Path("s"));
  PodResources resources(folder.Path("s"), clock, kPatience);
  const auto owners = resources.List();
  ASSERT_TRUE(owners) << owners.error().message;
  ASSERT_EQ(owners->size(), 2U);
  EXPECT_EQ((*owners)[1].device, "GPU-1");
  EXPECT_EQ((*owners)[1].pod_namespace, "team");
  EXPECT_EQ((*owners)[1].pod, "train");
  EXPECT_EQ((*owners)[1].container, "main");
  EXPECT_EQ((*owners)[1].numa_node, 1);
  EXPECT_TRUE(resources.List());
  EXPECT_EQ(kubelet.calls, 1);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(resources.List());
  EXPECT_EQ(kubelet.calls, 2);
}

TEST(PodResourcesTest, AKubeletThatComesLaterIsFound) {
  const TemporaryFolder folder;
  FakeClock clock;
  PodResources resources(folder.Path("s"), clock, kPatience);
  EXPECT_EQ(resources.List().error().code, ErrorCode::kUnavailable);
  FakePodResources kubelet(folder.Path("s"));
  clock.Advance(std::chrono::seconds(1));
  EXPECT_TRUE(resources.List());
}

TEST(PodResourcesTest, ListsAllHealthyDevicesWithTheirNumaNodes) {
  const TemporaryFolder folder;
  FakeClock clock;
  FakePodResources kubelet(folder.Path("s"));
  PodResources resources(folder.Path("s"), clock, kPatience);
  const auto devices = resources.Allocatable();
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(*devices, (std::vector<KubeletDevice>{{"nvidia.com/gpu", "GPU-0", 1},
                                                  {"nvidia.com/gpu", "GPU-1", 1},
                                                  {"nvidia.com/gpu", "GPU-9", kNoNuma}}));
}

TEST(PodResourcesTest, WithoutAKubeletNothingIsKnown) {
  const TemporaryFolder folder;
  FakeClock clock;
  PodResources resources(folder.Path("s"), clock, kPatience);
  EXPECT_EQ(resources.Allocatable().error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace synergy::testing
