#include "deviceplugin/plugin/advertiser_guard.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/text_file.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::AdvertiserGuard;
using deviceplugin::AdvertiserSources;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGpus[] = "nvidia.com/gpu";
constexpr char kOurSocket[] = "synergy-nvidia.com_gpu-0123abcd.sock";

// Serves a socket until its destructor runs.
class Listener {
 public:
  explicit Listener(std::string path)
      : path_(std::move(path)), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
  }
  ~Listener() {
    close(fd_);
    unlink(path_.c_str());
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  const std::string path_;
  const int fd_;
};

class AdvertiserGuardTest : public ::testing::Test {
 protected:
  AdvertiserGuardTest() {
    std::filesystem::create_directories(folder.Path("d"));
    RestartKubelet();
    guard = MakeGuard("pod-1");
  }

  std::unique_ptr<AdvertiserGuard> MakeGuard(const std::string& instance) {
    auto made = std::make_unique<AdvertiserGuard>(
        deviceplugin::AdvertiserGuardOptions{folder.Path("d"), record, instance},
        AdvertiserSources{[this] { return offered; }, [this] { return given; },
                          [this](const std::stop_token&) { return drivers; }},
        clock, log.log);
    made->AddOwn({{kGpus, DevicesOf(WithNvSwitch(2))}});
    return made;
  }
  void RestartKubelet() {
    kubelet.reset();
    kubelet = std::make_unique<Listener>(folder.Path("d/kubelet.sock"));
  }
  Result<> Ask() { return guard->MayRegister(kGpus, kOurSocket); }
  std::string Why() {
    const Result<> asked = Ask();
    return asked ? "" : asked.error().message;
  }
  // Waits as the daemon does before it continues.
  bool AwaitAdmission() {
    for (int look = 0; look < 10; ++look) {
      guard->Step({});
      if (Ask()) return true;
      clock.Advance(seconds(1));
    }
    return false;
  }
  void Register() {
    ASSERT_TRUE(AwaitAdmission());
    guard->OnRegistered(kGpus);
    offered = std::vector<KubeletDevice>{{kGpus, "GPU-0", 0}, {kGpus, "GPU-1", 1}};
  }

  TemporaryFolder folder;
  FakeClock clock;
  SilentLog log;
  const std::string record = folder.Path("run/registrations.json");
  Result<std::vector<KubeletDevice>> offered = std::vector<KubeletDevice>();
  Result<std::vector<DeviceOwner>> given = std::vector<DeviceOwner>();
  Result<std::vector<std::string>> drivers = std::vector<std::string>();
  std::unique_ptr<Listener> kubelet;
  std::unique_ptr<AdvertiserGuard> guard;
};

TEST_F(AdvertiserGuardTest, TheFirstRegistrationWaitsForOthersThatStartAtTheSameTime) {
  guard->Step({});
  for (int second = 0; second < 3; ++second) {
    EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
    clock.Advance(seconds(1));
  }
  EXPECT_TRUE(Ask());
  EXPECT_THAT(guard->stopped(), IsEmpty());
}

TEST_F(AdvertiserGuardTest, FailedCallsDelayItByFiveSecondsAtMost) {
  offered = Fail(ErrorCode::kUnavailable, "no kubelet");
  given = Fail(ErrorCode::kUnavailable, "no kubelet");
  drivers = Fail(ErrorCode::kUnavailable, "no API server");
  guard->Step({});
  EXPECT_FALSE(Ask());
  clock.Advance(seconds(4));
  EXPECT_FALSE(Ask());
  clock.Advance(seconds(1));
  EXPECT_TRUE(Ask());
}

TEST_F(AdvertiserGuardTest, ARestartOfTheKubeletIsFollowedAtOnce) {
  Register();
  RestartKubelet();
  offered = std::vector<KubeletDevice>();
  EXPECT_TRUE(Ask());
}

TEST_F(AdvertiserGuardTest, ANewContainerOfThePluginRegistersAtOnce) {
  Register();
  offered = std::vector<KubeletDevice>();
  for (const char* instance : {"pod-1", "pod-2"}) {
    guard = MakeGuard(instance);
    EXPECT_TRUE(Ask()) << Why();
  }
}

TEST_F(AdvertiserGuardTest, DevicesThatTheKubeletHasNotDroppedYetAreNoSign) {
  Register();
  guard = MakeGuard("pod-1");
  EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
  clock.Advance(seconds(4));
  EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
  offered = std::vector<KubeletDevice>();
  EXPECT_TRUE(Ask());
  // The next time counts independently of this one.
  offered = std::vector<KubeletDevice>{{kGpus, "GPU-0"}};
  clock.Advance(minutes(1));
  EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(guard->stopped(), IsEmpty());
}

TEST_F(AdvertiserGuardTest, AStreamThatEndedWhileTheKubeletKeepsTheDevicesWasTakenOver) {
  Register();
  EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
  clock.Advance(seconds(5));
  EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
  EXPECT_THAT(guard->stopped(), HasSubstr("without this plugin"));
}

TEST_F(AdvertiserGuardTest, DevicesOfAKubeletThatThisPluginNeverRegisteredWithAreAnothers) {
  // NVIDIA's plugin gives GPUs the same names as ours.
  offered = std::vector<KubeletDevice>{{kGpus, "GPU-0"}, {kGpus, "GPU-1"}};
  EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
  EXPECT_THAT(guard->stopped(), HasSubstr("another device plugin registered"));
}

TEST_F(AdvertiserGuardTest, KubeletRestartKeepsTheFirstAdvertiser) {
  Register();
  RestartKubelet();
  EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
}

TEST_F(AdvertiserGuardTest, TheSocketOfAKnownPluginStopsIt) {
  for (const char* socket : {"nvidia-gpu.sock", "nvidiaGPU-1764191000.sock"}) {
    std::filesystem::remove(record);
    guard = MakeGuard("pod-1");
    const Listener other(folder.Path(std::string("d/") + socket));
    EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
    EXPECT_THAT(guard->stopped(), HasSubstr(socket));
  }
}

TEST_F(AdvertiserGuardTest, SocketWithoutAServerIsNoSign) {
  {
    const Listener other(folder.Path("d/other.sock"));
  }
  folder.Write("d/nvidia-gpu.sock", "left behind");
  const Listener rdma(folder.Path("d/rdma.sock"));
  EXPECT_TRUE(AwaitAdmission()) << Why();
}

TEST_F(AdvertiserGuardTest, APredecessorThatStillServesIsWaitedFor) {
  Register();
  guard = MakeGuard("pod-2");
  {
    const Listener predecessor(folder.Path("d/synergy-nvidia.com_gpu-76543210.sock"));
    const Listener own(folder.Path(std::string("d/") + kOurSocket));
    for (int minute = 0; minute < 3; ++minute) {
      EXPECT_EQ(Ask().error().code, ErrorCode::kUnavailable);
      clock.Advance(minutes(1));
    }
    EXPECT_THAT(Why(), HasSubstr("76543210"));
  }
  offered = std::vector<KubeletDevice>();
  EXPECT_TRUE(Ask());
}

TEST_F(AdvertiserGuardTest, SignsAreSeenWhileItIsRegisteredToo) {
  Register();
  guard->Step({});
  EXPECT_THAT(guard->stopped(), IsEmpty());
  offered->push_back({kGpus, "GPU-0::1"});
  clock.Advance(seconds(10));
  guard->Step({});
  EXPECT_THAT(guard->stopped(), HasSubstr("GPU-0::1"));
}

TEST_F(AdvertiserGuardTest, ADraDriverForGpusStopsItAndOtherDriversDoNot) {
  drivers = std::vector<std::string>{"compute-domain.nvidia.com", "dra.net"};
  Register();
  clock.Advance(minutes(11));
  guard->Step({});
  EXPECT_THAT(guard->stopped(), IsEmpty());
  drivers->emplace_back("gpu.nvidia.com");
  clock.Advance(minutes(11));
  guard->Step({});
  EXPECT_THAT(guard->stopped(), HasSubstr("gpu.nvidia.com"));
}

TEST_F(AdvertiserGuardTest, AnApiServerWithoutDraIsNoSign) {
  drivers = Fail(ErrorCode::kNotFound, "the server could not find the requested resource");
  guard->Step({});
  EXPECT_FALSE(Ask());
  clock.Advance(seconds(3));
  EXPECT_TRUE(Ask());
}

TEST_F(AdvertiserGuardTest, ItStaysStoppedUntilItsPodIsReplaced) {
  offered = std::vector<KubeletDevice>{{kGpus, "GPU-0"}};
  EXPECT_FALSE(Ask());
  offered = std::vector<KubeletDevice>();
  RestartKubelet();
  clock.Advance(std::chrono::hours(24));
  EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
  const std::string why = guard->stopped();
  guard = MakeGuard("pod-1");
  EXPECT_EQ(guard->stopped(), why);
  EXPECT_EQ(Ask().error().code, ErrorCode::kDenied);
  guard = MakeGuard("pod-2");
  EXPECT_TRUE(AwaitAdmission()) << Why();
}

TEST_F(AdvertiserGuardTest, ABrokenRecordIsNone) {
  ASSERT_TRUE(config::WriteWholeFile(record, "{\"resources\": 7"));
  guard = MakeGuard("pod-1");
  EXPECT_TRUE(AwaitAdmission()) << Why();
}

TEST_F(AdvertiserGuardTest, AGpuThatHasFallenOffIsStillOurs) {
  Register();
  // The new container finds only one GPU, and a pod still has the other one.
  given = std::vector<DeviceOwner>{{kGpus, "GPU-1", "team", "train", "main"}};
  offered = std::vector<KubeletDevice>();
  guard = std::make_unique<AdvertiserGuard>(
      deviceplugin::AdvertiserGuardOptions{folder.Path("d"), record, "pod-2"},
      AdvertiserSources{[this] { return offered; }, [this] { return given; }, {}}, clock, log.log);
  guard->AddOwn({{kGpus, DevicesOf(WithNvSwitch(1))}});
  EXPECT_TRUE(Ask()) << Why();
}

}  // namespace
}  // namespace synergy::testing
