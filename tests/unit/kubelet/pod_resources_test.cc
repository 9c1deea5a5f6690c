#include "kubelet/pod_resources.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/temporary_folder.h"
#include "unit/kubelet/fake_pod_resources.h"

namespace synergy::testing {
namespace {

using ::synergy::kubelet::PodResources;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

class RestartedKubeletTest : public ::testing::Test {
 protected:
  // A kubelet that starts now replaces the one before.
  void Start(std::vector<std::string> devices) {
    kubelet_.reset();
    clock_.Advance(std::chrono::seconds(1));
    kubelet_ = std::make_unique<FakePodResources>(folder_.Path("s"), std::move(devices));
    std::filesystem::last_write_time(folder_.Path("s"),
                                     std::chrono::file_clock::from_sys(clock_.WallNow()));
    // The first call after a restart may still use the connection to the kubelet before.
    static_cast<void>(resources_.Allocatable());
  }
  // Returns the devices with owners; {"?"} if they are not known.
  std::vector<std::string> Owned() {
    const auto owners = resources_.List();
    std::vector<std::string> devices;
    if (!owners) return {"?"};
    for (const DeviceOwner& owner : *owners) devices.push_back(owner.device);
    return devices;
  }

  TemporaryFolder folder_;
  FakeClock clock_;
  std::unique_ptr<FakePodResources> kubelet_;
  PodResources resources_{folder_.Path("s"), clock_, kPatience};
};

TEST_F(RestartedKubeletTest, APodThatItDoesNotKnowYetKeepsItsDevices) {
  Start({"GPU-0", "GPU-1"});
  EXPECT_THAT(Owned(), ElementsAre("GPU-0", "GPU-1"));
  clock_.Advance(std::chrono::hours(1));
  EXPECT_THAT(Owned(), ElementsAre("GPU-0", "GPU-1"));
  Start({});
  EXPECT_THAT(Owned(), ElementsAre("GPU-0", "GPU-1"));
  Start({"GPU-1"});
  EXPECT_THAT(Owned(), ElementsAre("GPU-1", "GPU-0"));
  clock_.Advance(PodResources::kLearns);
  EXPECT_THAT(Owned(), ElementsAre("GPU-1"));
}

TEST_F(RestartedKubeletTest, TheFirstEmptyListOfANewKubeletDoesNotCount) {
  Start({});
  EXPECT_THAT(Owned(), ElementsAre("?"));
  clock_.Advance(PodResources::kLearns);
  EXPECT_THAT(Owned(), IsEmpty());
  Start({});
  EXPECT_THAT(Owned(), IsEmpty()) << "there was none before";
}

TEST_F(RestartedKubeletTest, TheFirstEmptyListOfAnOldKubeletCounts) {
  Start({});
  clock_.Advance(PodResources::kLearns);
  EXPECT_THAT(Owned(), IsEmpty());
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
