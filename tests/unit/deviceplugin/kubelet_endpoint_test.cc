// Uses a fake kubelet on real sockets. The tests measure no time: a wait ends as soon as its
// condition holds.

#include "deviceplugin/plugin/kubelet_endpoint.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/plugin/advertiser_guard.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/stand_in_plugin.h"
#include "support/temporary_folder.h"
#include "unit/deviceplugin/fake_kubelet.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::KubeletEndpoint;
using deviceplugin::Offer;
using deviceplugin::RegistrationGate;
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
                                             OpenGate(), SystemClock(), log_.log, metrics_);
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

TEST_F(KubeletEndpointTest, ServesBeforeItRegistersAndListsItsDevices) {
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

TEST_F(KubeletEndpointTest, SendsTheListAgainOnlyIfItDiffers) {
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

TEST_F(KubeletEndpointTest, NewKubeletGetsTheLatestHealth) {
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
  const KubeletEndpoint endpoint(deep, "nvidia.com/gpu", MakeOffer(2), OpenGate(), SystemClock(),
                                 log_.log, metrics_);
  EXPECT_FALSE(endpoint.registered());
}

TEST_F(KubeletEndpointTest, RegistersOnlyIfAdmitted) {
  const FakeKubelet kubelet(folder_.Path("d"));
  std::atomic<int> asked = 0;
  std::atomic<bool> open = false;
  std::promise<std::string> recorded;
  const RegistrationGate gate{
      [&](const std::string& resource, const std::string& socket) -> Result<> {
        EXPECT_EQ(resource, "nvidia.com/gpu");
        EXPECT_TRUE(deviceplugin::IsSocketNameFor(socket, resource)) << socket;
        ++asked;
        asked.notify_all();
        if (open) return {};
        return Fail(ErrorCode::kUnavailable, "not yet");
      },
      [&](const std::string& resource) { recorded.set_value(resource); }};
  const KubeletEndpoint endpoint(folder_.Path("d"), "nvidia.com/gpu", MakeOffer(2), gate,
                                 SystemClock(), log_.log, metrics_);
  for (int seen = asked; seen < 2; seen = asked) asked.wait(seen);
  EXPECT_EQ(kubelet.registrations(), 0U);
  open = true;
  EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
  EXPECT_EQ(recorded.get_future().get(), "nvidia.com/gpu");
}

TEST_F(KubeletEndpointTest, AStreamAcceptsARegistrationWhoseAnswerIsLate) {
  for (const bool stream_first : {true, false}) {
    FakeKubelet kubelet(folder_.Path("d"));
    kubelet.AnswerLate();
    kubelet.HoldStreams(!stream_first);
    std::promise<void> recorded;
    RegistrationGate gate = OpenGate();
    gate.on_registered = [&](const std::string& /*resource*/) { recorded.set_value(); };
    const KubeletEndpoint endpoint(folder_.Path("d"), "nvidia.com/gpu", MakeOffer(2), gate,
                                   SystemClock(), log_.log, metrics_);
    ASSERT_TRUE(kubelet.AwaitRegistrations(1));
    kubelet.HoldStreams(false);
    EXPECT_TRUE(kubelet.AwaitDevices(kTwoHealthy));
    recorded.get_future().wait();
    EXPECT_EQ(kubelet.registrations(), 1U) << stream_first;
    EXPECT_TRUE(endpoint.registered()) << stream_first;
  }
}

// Tests two plugins that start at the same moment: whichever the kubelet accepts first, ours gives
// way and never comes back.
class TwoPluginsTest : public KubeletEndpointTest {
 protected:
  void SetUp() override { guard_.AddOwn({{"nvidia.com/gpu", DevicesOf(WithNvSwitch(2))}}); }
  std::unique_ptr<KubeletEndpoint> MakeGuarded() {
    return std::make_unique<KubeletEndpoint>(
        folder_.Path("d"), "nvidia.com/gpu", MakeOffer(2),
        RegistrationGate{[this](const std::string& resource, const std::string& socket) {
                           return guard_.MayRegister(resource, socket);
                         },
                         [this](const std::string& resource) { guard_.OnRegistered(resource); }},
        SystemClock(), log_.log, metrics_);
  }

  FakeKubelet kubelet_{folder_.Path("d")};
  FakeClock clock_;
  deviceplugin::AdvertiserGuard guard_{
      {folder_.Path("d"), folder_.Path("record.json"), "pod-1"},
      {[this] { return kubelet_.Allocatable(); }, [] { return std::vector<DeviceOwner>(); }, {}},
      clock_,
      log_.log};
};

TEST_F(TwoPluginsTest, OurPluginYieldsToTheFirstOne) {
  StandInPlugin other(folder_.Path("d"), "other.sock", "nvidia.com/gpu", {"GPU-0", "GPU-1"});
  ASSERT_TRUE(other.Register().ok());
  ASSERT_TRUE(kubelet_.AwaitDevices(kTwoHealthy));
  const auto ours = MakeGuarded();
  while (guard_.stopped().empty()) std::this_thread::yield();
  EXPECT_THAT(guard_.stopped(), HasSubstr("another device plugin registered"));
  EXPECT_EQ(kubelet_.registrations(), 1U);
}

TEST_F(TwoPluginsTest, OurPluginYieldsToOneThatRegistersDuringTheCheck) {
  const auto ours = MakeGuarded();
  StandInPlugin other(folder_.Path("d"), "other.sock", "nvidia.com/gpu", {"GPU-0", "GPU-1"});
  ASSERT_TRUE(other.Register().ok());
  while (guard_.stopped().empty()) std::this_thread::yield();
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(kubelet_.registrations(), 1U);
}

TEST_F(TwoPluginsTest, OurPluginYieldsToALaterOneAndDoesNotReturn) {
  auto ours = MakeGuarded();
  while (kubelet_.registrations() == 0) clock_.Advance(std::chrono::seconds(1));
  ASSERT_TRUE(kubelet_.AwaitDevices(kTwoHealthy));
  {
    StandInPlugin other(folder_.Path("d"), "nvidia-gpu.sock", "nvidia.com/gpu", {"GPU-0", "GPU-1"});
    ASSERT_TRUE(other.Register().ok());
    guard_.Step({});
    EXPECT_THAT(guard_.stopped(), HasSubstr("nvidia-gpu.sock"));
    ours.reset();  // the daemon does this
  }
  kubelet_.Stop();
  kubelet_.Start();
  ours = MakeGuarded();
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(guard_.MayRegister("nvidia.com/gpu", "ours").error().code, ErrorCode::kDenied);
  EXPECT_EQ(kubelet_.registrations(), 2U);
}

}  // namespace
}  // namespace synergy::testing
