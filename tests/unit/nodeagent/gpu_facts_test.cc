#include "nodeagent/gpus/gpu_facts.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodeagent/gpus/gpu_owners.h"
#include "support/dcgm_page.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::testing {
namespace {

using nodeagent::DcgmDevice;
using nodeagent::ExporterRules;
using nodeagent::GpuFacts;
using nodeagent::MatchOwners;
using nodeagent::NodePods;
using nodeagent::PodsThatShareGpus;
using nodeagent::ReadDcgmPage;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr char kGpuResource[] = "nvidia.com/gpu";
const ExporterRules kRules = {{"gpu-operator", "kube-system"}, "*dcgm-exporter*", 9400, "/metrics"};

wire::ResizeStatus Pod(const std::string& pod_namespace, const std::string& daemon_set) {
  wire::ResizeStatus pod;
  pod.pod_namespace = pod_namespace;
  pod.name = daemon_set + "-x";
  pod.uid = pod_namespace + "/" + pod.name;
  pod.daemon_set = daemon_set;
  pod.ip = pod.pod_ip = "10.0.0.7";
  return pod;
}

DeviceOwner Owner(const std::string& pod, const std::string& device,
                  const std::string& resource = kGpuResource) {
  return {resource, device, "team", pod, "main"};
}

TEST(DcgmPageTest, ParsesGpusAndTheirParts) {
  const auto devices = ReadDcgmPage(
      WriteDcgmPage({{.number = 0, .utilization = 75, .power = 250.5, .used = 2000, .xid = 31},
                     {.number = 1, .utilization = 40, .pod = "team/a/main", .instance = "3"}}));
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2U);
  const DcgmDevice& whole = devices->front();
  EXPECT_EQ(whole.Key(), "GPU-0");
  EXPECT_EQ(whole.product, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(whole.device, "nvidia0");
  EXPECT_THAT(whole.utilization, Optional(0.75));
  EXPECT_THAT(whole.power, Optional(250.5));
  EXPECT_THAT(whole.temperature, Optional(41));
  EXPECT_EQ(whole.memory_used, MiB(2000));
  EXPECT_EQ(whole.memory_free, MiB(79000));
  EXPECT_EQ(whole.last_xid, 31U);
  const DcgmDevice& part = devices->back();
  EXPECT_EQ(part.Key(), "GPU-1/3");
  EXPECT_EQ(part.profile, "1g.10gb");
  EXPECT_THAT(part.utilization, Optional(0.4));
  EXPECT_EQ(part.last_xid, std::nullopt);
  EXPECT_EQ(part.pod, "a");
}

TEST(DcgmPageTest, EnginesTimeCountsBeforeUtilization) {
  const auto devices = ReadDcgmPage(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID=\"GPU-0\"} 0.25\n"
      "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\"} 46\n"
      "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-1\"} 46\n");
  ASSERT_TRUE(devices);
  EXPECT_THAT(devices->front().utilization, Optional(0.25));
  EXPECT_THAT(devices->back().utilization, Optional(0.46)) << "where the engine's is not exported";
}

TEST(DcgmPageTest, SkipsInvalidSamples) {
  const auto devices = ReadDcgmPage(
      "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-0\"} 101\n"
      "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-1\"} NaN\n"
      "DCGM_FI_DEV_FB_USED{UUID=\"GPU-1\"} 1e300\n"
      "DCGM_FI_DEV_XID_ERRORS{UUID=\"GPU-1\"} -1\n"
      "DCGM_FI_DEV_GPU_UTIL{UUID=\"GPU-2\" 50\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"3\"} 50\n");
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2U);
  for (const DcgmDevice& device : *devices) {
    EXPECT_EQ(device.utilization, std::nullopt);
    EXPECT_EQ(device.memory_used, std::nullopt);
    EXPECT_EQ(device.last_xid, std::nullopt);
  }
  EXPECT_EQ(ReadDcgmPage("").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReadDcgmPage("<html>").error().code, ErrorCode::kInvalid);
  std::string many;
  for (size_t gpu = 0; gpu <= nodeagent::kMostDcgmDevices; ++gpu)
    many += "DCGM_FI_DEV_GPU_UTIL{UUID=\"" + std::to_string(gpu) + "\"} 1\n";
  EXPECT_EQ(ReadDcgmPage(many).error().code, ErrorCode::kTooLarge);
}

// Returns the page's key for each owner's device: "?" if unknown, "*" if shared.
std::vector<std::string> Match(const std::vector<DeviceOwner>& owners, const std::string& page) {
  const auto devices = ReadDcgmPage(page);
  EXPECT_TRUE(devices);
  std::vector<std::string> found;
  for (const auto& gpu : MatchOwners(owners, *devices, kGpuResource))
    found.push_back((gpu.device == nullptr ? "?" : gpu.device->Key()) + (gpu.shared ? "*" : ""));
  return found;
}

TEST(GpuOwnersTest, PodsThatShareAGpuAreFound) {
  EXPECT_THAT(
      PodsThatShareGpus({Owner("a", "GPU-0::0", "nvidia.com/gpu.shared"),
                         Owner("a", "GPU-0::1", "nvidia.com/gpu.shared"),
                         Owner("b", "GPU-1::0", "nvidia.com/gpu.turns"),
                         Owner("c", "GPU-1::3", "nvidia.com/gpu.turns"), Owner("d", "GPU-2"),
                         Owner("d", "mlx5_0", "rdma/hca"), Owner("e", "mlx5_0", "rdma/hca")},
                        kGpuResource),
      ElementsAre("team/b", "team/c"));
}

TEST(GpuOwnersTest, EachDevicePluginsIdsAreFound) {
  // The exporter's statements about whole GPUs do not count.
  const std::string page = WriteDcgmPage({{.number = 0, .pod = "evil/x/main"},
                                          {.number = 1},
                                          {.number = 2},
                                          {.number = 3, .instance = "1"},
                                          {.number = 3, .instance = "2"}});
  EXPECT_THAT(Match({Owner("a", "GPU-0"), Owner("b", "nvidia1"), Owner("c", "nvidia3/gi2")}, page),
              ElementsAre("GPU-0", "GPU-1", "GPU-3/2"));
  EXPECT_THAT(
      Match({Owner("a", "GPU-2::1"), Owner("b", "nvidia1/vgpu0"), Owner("c", "nvidia3/gi1/vgpu1")},
            page),
      ElementsAre("GPU-2*", "GPU-1*", "GPU-3/1*"));
  EXPECT_THAT(Match({Owner("a", "GPU-9"), Owner("a", "mlx5_0", "rdma/hca"),
                     Owner("b", "GPU-0", "nvidia.com/a100")},
                    page),
              ElementsAre("?", "GPU-0"));
  EXPECT_THAT(Match({Owner("a", "GPU-0"), Owner("b", "GPU-0")}, page),
              ElementsAre("GPU-0*", "GPU-0*"));
}

TEST(GpuOwnersTest, TheExportersWordOnPartsCountsIfTheKubeletAgrees) {
  const std::string page = WriteDcgmPage({{.number = 3, .pod = "team/a/main", .instance = "1"},
                                          {.number = 3, .pod = "team/a/main", .instance = "2"},
                                          {.number = 3, .pod = "team/b/main", .instance = "5"}});
  EXPECT_THAT(Match({Owner("a", "MIG-x"), Owner("a", "MIG-y")}, page),
              ElementsAre("GPU-3/1", "GPU-3/2"));
  EXPECT_THAT(Match({Owner("a", "MIG-x"), Owner("c", "MIG-z")}, page), ElementsAre("?", "?"));
}

TEST(FindExporterTest, AnExporterIsOfADaemonSetInATrustedNamespace) {
  const auto found = [](wire::ResizeStatus pod) {
    return nodeagent::FindExporter({std::make_shared<const wire::ResizeStatus>(std::move(pod))},
                                   kRules) != nullptr;
  };
  EXPECT_TRUE(found(Pod("gpu-operator", "nvidia-dcgm-exporter")));
  EXPECT_TRUE(found(Pod("kube-system", "dcgm-exporter")));
  EXPECT_FALSE(found(Pod("team", "nvidia-dcgm-exporter"))) << "a tenant's";
  EXPECT_FALSE(found(Pod("gpu-operator", "nvidia-device-plugin")));
  EXPECT_FALSE(found(Pod("gpu-operator", ""))) << "of no DaemonSet";
  wire::ResizeStatus starting = Pod("gpu-operator", "nvidia-dcgm-exporter");
  starting.pod_ip.clear();
  EXPECT_FALSE(found(starting));
  wire::ResizeStatus ended = Pod("gpu-operator", "nvidia-dcgm-exporter");
  ended.terminal = true;
  EXPECT_FALSE(found(ended));
}

class GpuFactsTest : public ::testing::Test {
 protected:
  GpuFactsTest() { pods.Replace({Pod("gpu-operator", "nvidia-dcgm-exporter")}); }

  // Makes the exporter refresh its figures.
  void Export(double utilization) {
    page = WriteDcgmPage({{.number = 0, .utilization = utilization, .power = power},
                          {.number = 1, .utilization = 50, .power = power, .xid = xid}});
    power += 0.125;
  }
  void Step(Duration passed) {
    clock.Advance(passed);
    facts.Step({});
  }
  double SecondsOf(const std::string& pod) const {
    const auto busy = facts.Busy();
    if (!busy) return -1;
    for (const ContainerBusy& one : busy->containers)
      if (one.pod == pod) return one.seconds;
    return -1;
  }

  NodePods pods;
  FakeClock clock;
  SilentLog log;
  metrics::NodeAgentMetrics metrics;
  double power = 100;
  int xid = 31;  // the last Xid of the second GPU
  Result<std::string> page = Fail(ErrorCode::kUnavailable, "no exporter yet");
  int asked = 0;
  Result<std::vector<DeviceOwner>> given =
      std::vector<DeviceOwner>{Owner("a", "GPU-0"), Owner("pair", "GPU-1")};
  Result<std::vector<KubeletDevice>> offered = std::vector<KubeletDevice>{{kGpuResource, "GPU-0"}};
  GpuFacts facts{pods,
                 kRules,
                 {[this](const std::string& ip, uint16_t port, const std::string& path,
                         const std::stop_token&) {
                    EXPECT_EQ(ip, "10.0.0.7");
                    EXPECT_EQ(port, 9400);
                    EXPECT_EQ(path, "/metrics");
                    ++asked;
                    return page;
                  },
                  [this] { return given; }, [this] { return offered; }},
                 kGpuResource,
                 "n1",
                 clock,
                 log.log,
                 metrics};
};

TEST_F(GpuFactsTest, WindowsFollowTheExportersIntervalAndItsRepetitionsCountOnce) {
  Export(80);
  Step(seconds(5));
  EXPECT_EQ(SecondsOf("a"), 0);
  const WallTime first = facts.Busy()->at;
  for (int repeated = 0; repeated < 5; ++repeated) {
    Step(seconds(5));
    EXPECT_EQ(facts.Busy()->at, first);
    EXPECT_EQ(SecondsOf("a"), 0);
  }
  Export(20);
  Step(seconds(5));
  EXPECT_NEAR(SecondsOf("a"), 0.2 * 30, 1e-9);
  EXPECT_EQ(facts.Busy()->at - first, seconds(30));
  EXPECT_EQ(facts.Busy()->interval, seconds(30));
  Export(60);
  Step(seconds(30));
  EXPECT_NEAR(SecondsOf("a"), 0.2 * 30 + 0.6 * 30, 1e-9);
  EXPECT_EQ(facts.Busy()->containers.front().since, first);
}

TEST_F(GpuFactsTest, FiguresThatStayTheSameForAMinuteAreTheSameAgain) {
  Export(100);
  for (int step = 0; step <= 24; ++step) Step(seconds(5));
  EXPECT_NEAR(SecondsOf("a"), 120, 1e-9);
}

TEST_F(GpuFactsTest, AnXidThatWasNotThereBeforeIsThatOfTheGpusOwner) {
  const auto xids = [this] {
    return facts.Busy() ? facts.Busy()->xids : std::vector<ContainerXid>();
  };
  Export(80);
  Step(seconds(5));
  EXPECT_THAT(xids(), IsEmpty()) << "when it came is unknown";
  Export(80);
  Step(seconds(30));
  EXPECT_THAT(xids(), IsEmpty());
  const WallTime before = clock.WallNow();
  xid = 79;
  Export(80);
  Step(seconds(30));
  EXPECT_THAT(xids(), ElementsAre(ContainerXid{"team", "pair", "main", 79, before}));
}

TEST_F(GpuFactsTest, AnExporterThatFallsSilentIsForgotten) {
  Export(100);
  Step(seconds(5));
  page = Fail(ErrorCode::kTimeout, "no answer");
  Step(seconds(30));
  EXPECT_TRUE(facts.Busy());
  Step(seconds(35));
  EXPECT_EQ(facts.Busy().error().code, ErrorCode::kNotFound);
  EXPECT_THAT(facts.Gauges().gpus, IsEmpty());
  EXPECT_EQ(facts.Gauges().allocated.size(), 2U) << "the kubelet goes on to say";
}

TEST_F(GpuFactsTest, WithoutTheKubeletNobodysGpusAreKnown) {
  Export(100);
  Step(seconds(5));
  given = Fail(ErrorCode::kUnavailable, "no kubelet");
  Step(seconds(5));
  EXPECT_FALSE(facts.Busy());
  EXPECT_THAT(facts.Gauges().allocated, IsEmpty());
  EXPECT_EQ(facts.Gauges().gpus.size(), 2U);
}

TEST_F(GpuFactsTest, GaugesAreThoseOfTheDashboard) {
  Export(75);
  Step(seconds(5));
  const metrics::GpuGauges gauges = facts.Gauges();
  EXPECT_EQ(gauges.node, "n1");
  ASSERT_EQ(gauges.gpus.size(), 2U);
  EXPECT_EQ(gauges.gpus[0].uuid, "GPU-0");
  EXPECT_THAT(gauges.gpus[0].healthy, Optional(true));
  EXPECT_EQ(gauges.gpus[1].healthy, std::nullopt) << "why it is not offered is unknown";
  EXPECT_EQ(gauges.gpus[0].memory, MiB(81000));
  EXPECT_THAT(gauges.gpus[0].utilization, Optional(0.75));
  ASSERT_EQ(gauges.allocated.size(), 2U);
  EXPECT_EQ(gauges.allocated[0].pod, "a");
  EXPECT_EQ(gauges.allocated[0].uuid, "GPU-0");
  EXPECT_THAT(gauges.allocated[0].utilization, Optional(0.75));
}

TEST_F(GpuFactsTest, NoOneElsesPodIsAsked) {
  pods.Replace({Pod("team", "nvidia-dcgm-exporter")});
  Export(75);
  Step(seconds(5));
  EXPECT_EQ(asked, 0);
  EXPECT_FALSE(facts.Busy());
}

}  // namespace
}  // namespace synergy::testing
