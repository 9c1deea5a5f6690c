// Uses a kubelet on real sockets. The tests measure no time: a wait ends as soon as its condition
// holds.

#include "deviceplugin/plugin/kubelet_endpoint.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "unit/deviceplugin/fake_kubelet.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::KubeletEndpoint;
using deviceplugin::Offer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Ne;

std::shared_ptr<const Offer> MakeOffer(size_t gpus, const std::string& unhealthy = {}) {
  auto inventory = std::make_shared<const GpuInventory>(WithNvSwitch(gpus));
  std::vector<GpuDevice> devices = DevicesOf(*inventory);
  for (GpuDevice& device : devices)
    if (device.id == unhealthy) device.health = {false, "marked by the test"};
  return std::make_shared<const Offer>(Offer{inventory, devices, {}});
}

const FakeKubelet::DeviceHealth kTwoHealthy = {{"GPU-0", "Healthy"}, {"GPU-1", "Healthy"}};
const FakeKubelet::DeviceHealth kOneUnhealthy = {{"GPU-0", "Healthy"}, {"GPU-1", "Unhealthy"}};

class KubeletEndpointTest : public ::testing::Test {
 protected:
  std::unique_ptr<KubeletEndpoint> MakeEndpoint() {
    return std::make_unique<KubeletEndpoint>(folder_.Path("d"), "nvidia.com/gpu", MakeOffer(2),
                                             SystemClock(), log_.log, metrics_);
  }
  // Returns the plugin's sockets in the folder.
  std::vector<std::string> sockets() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.Path("d"))) {
      if (entry.path().filename() != "kubelet.sock") found.push_back(entry.path());
    }
    return found;
  }

  TemporaryFolder folder_;
  SilentLog log_;
  metrics::DeviceMetrics metrics_;
};

TEST_F(KubeletEndpointTest, ServesBeforeItRegistersAndTellsItsDevices) {
  const FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  EXPECT_EQ(kubelet.registrations(), 1U);
  EXPECT_TRUE(endpoint->registered());
  EXPECT_EQ(kubelet.numa_nodes(), (std::map<std::string, int64_t>{{"GPU-0", 0}, {"GPU-1", 1}}));
}

TEST_F(KubeletEndpointTest, WaitsForAKubeletThatIsNotThereYet) {
  FakeKubelet kubelet(folder_.Path("d"), false);
  const auto endpoint = MakeEndpoint();
  EXPECT_FALSE(endpoint->registered());
  kubelet.Start();
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
}

TEST_F(KubeletEndpointTest, RegistersAgainWithAKubeletThatWasRestarted) {
  FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  for (size_t restart = 1; restart <= 5; ++restart) {
    ASSERT_TRUE(kubelet.AwaitRegistrations(restart));
    kubelet.Stop(restart % 2 == 0);
    kubelet.Start();
  }
  EXPECT_TRUE(kubelet.AwaitRegistrations(6));
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
}

TEST_F(KubeletEndpointTest, ServesAgainWhenItsSocketWasDeleted) {
  const FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitRegistrations(1));
  const std::vector<std::string> before = sockets();
  ASSERT_EQ(before.size(), 1U);
  std::filesystem::remove(before.front());
  EXPECT_TRUE(kubelet.AwaitRegistrations(2));
  EXPECT_THAT(sockets(), ElementsAre(Ne(before.front())));
}

TEST_F(KubeletEndpointTest, RegistersAgainWhenTheStreamBreaks) {
  FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  kubelet.BreakStreams();
  EXPECT_TRUE(kubelet.AwaitRegistrations(2));
  EXPECT_EQ(sockets().size(), 1U);
}

TEST_F(KubeletEndpointTest, ARefusedNameIsNotTriedAgain) {
  FakeKubelet kubelet(folder_.Path("d"));
  kubelet.Refuse(true);
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitRefusals(3));
  kubelet.Refuse(false);
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
}

TEST_F(KubeletEndpointTest, RegistersAsSoonAsTheKubeletTakesIt) {
  FakeKubelet kubelet(folder_.Path("d"));
  kubelet.Refuse(true);
  const auto endpoint = MakeEndpoint();
  kubelet.Refuse(false);
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
}

TEST_F(KubeletEndpointTest, ASocketThatAnEarlierProcessLeftIsReplaced) {
  const FakeKubelet kubelet(folder_.Path("d"));
  folder_.Write("d/synergy-nvidia.com_gpu.sock", "left by an older version");
  folder_.Write("d/synergy-nvidia.com_gpu-0123abcd.sock", "left behind");
  const auto endpoint = MakeEndpoint();
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  EXPECT_EQ(sockets().size(), 1U);
}

TEST_F(KubeletEndpointTest, SocketsOfOthersAreLeftAlone) {
  const FakeKubelet kubelet(folder_.Path("d"));
  folder_.Write("d/synergy-nvidia.com_gpu-x.sock", "of another resource");
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  const auto another = MakeEndpoint();
  EXPECT_TRUE(kubelet.AwaitRegistrations(2));
  EXPECT_EQ(sockets().size(), 3U) << "the first one's socket is served";
}

TEST_F(KubeletEndpointTest, TheListIsSentAgainOnlyWhenItSaysSomethingElse) {
  const FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  endpoint->Publish(MakeOffer(2));
  endpoint->Publish(MakeOffer(2, "GPU-1"));
  ASSERT_TRUE(kubelet.AwaitDevices(kOneUnhealthy));
  endpoint->Publish(MakeOffer(2));
  ASSERT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  EXPECT_EQ(kubelet.lists(), 3U);
}

TEST_F(KubeletEndpointTest, ANewKubeletHearsOfTheLatestHealth) {
  FakeKubelet kubelet(folder_.Path("d"));
  const auto endpoint = MakeEndpoint();
  ASSERT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  kubelet.Stop();
  endpoint->Publish(MakeOffer(2, "GPU-1"));
  kubelet.Start();
  EXPECT_TRUE(kubelet.AwaitDevices(kOneUnhealthy));
}

TEST_F(KubeletEndpointTest, ItsEndTakesTheSocketAway) {
  const FakeKubelet kubelet(folder_.Path("d"));
  MakeEndpoint().reset();
  EXPECT_THAT(sockets(), IsEmpty());
}

TEST_F(KubeletEndpointTest, AFolderThatIsTooDeepForASocketEndsNothing) {
  const std::string deep = folder_.Path(std::string(120, 'x'));
  std::filesystem::create_directory(deep);
  const KubeletEndpoint endpoint(deep, "nvidia.com/gpu", MakeOffer(2), SystemClock(), log_.log,
                                 metrics_);
  EXPECT_FALSE(endpoint.registered());
}

}  // namespace
}  // namespace synergy::testing
