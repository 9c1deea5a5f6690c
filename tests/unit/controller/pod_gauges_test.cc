#include "controller/cluster/pod_gauges.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/fake_profile_catalog.h"

namespace synergy::controller {
namespace {

Pod WaitingPod(const std::string& message, bool unschedulable = true) {
  Pod pod;
  Waiting waiting;
  waiting.unschedulable = unschedulable;
  waiting.message = message;
  pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
  return pod;
}

TEST(WaitingReasonTest, IsTheScarcestResourceInTheSchedulersMessage) {
  const std::string gpu = "nvidia.com/gpu";
  EXPECT_EQ(WaitingReason(WaitingPod("0/3 nodes are available: 1 Insufficient cpu, 2 Insufficient "
                                     "nvidia.com/gpu."),
                          gpu),
            "gpus");
  EXPECT_EQ(WaitingReason(WaitingPod("0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient "
                                     "memory."),
                          gpu),
            "cpu");
  EXPECT_EQ(WaitingReason(WaitingPod("0/1 nodes are available: 1 Insufficient memory."), gpu),
            "memory");
  EXPECT_EQ(
      WaitingReason(WaitingPod("0/1 nodes are available: 1 node(s) had untolerated taint."), gpu),
      "other");
  EXPECT_EQ(WaitingReason(WaitingPod("", false), gpu), "not_tried");
  EXPECT_EQ(WaitingReason(Pod{}, gpu), "not_tried");
}

Pod RunningPod(const std::string& name, bool managed, const std::string& profile) {
  Pod pod;
  pod.uid = pod.name = name;
  pod.pod_namespace = "team";
  pod.node = "n1";
  pod.requests.main = {Gpus(2), Cores(6), GiB(8)};
  if (!managed) return pod;
  ManagedContainer fungible;
  fungible.profile = profile;
  fungible.requested = pod.requests.main;
  fungible.demand = {Gpus(2), Cores(12), GiB(8)};
  fungible.fair_share = {Gpus(2), Cores(4), GiB(8)};
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

TEST(PodGaugesTest, ManagedPodsShowTheirAmountsAndWhatTheyBring) {
  ClusterState state;
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(8), Cores(24), GiB(64)};
  node.pods_allowed = 110;
  state.UpsertNode(std::move(node));
  state.UpsertPod(RunningPod("linear", true, "linear"));
  state.UpsertPod(RunningPod("plain", true, ""));
  state.UpsertPod(RunningPod("opted-out", false, ""));
  const auto linear = std::make_shared<const JobProfile>(
      *JobProfile::Create(Gpus(2), {{Cores(4), GiB(8), 4}, {Cores(12), GiB(8), 12}}));
  testing::FakeProfileCatalog profiles;
  profiles.profiles["linear"] = linear;

  auto gauges = ReadPodGauges(*state.Snapshot(), "nvidia.com/gpu", profiles, kDefaultMaxSpeedUp);

  ASSERT_EQ(gauges.size(), 2u);
  if (gauges[0].pod != "linear") std::swap(gauges[0], gauges[1]);
  EXPECT_EQ(gauges[0].node, "n1");
  EXPECT_EQ(gauges[0].pod_namespace, "team");
  EXPECT_EQ(gauges[0].allocated, (ResourceVector{Gpus(2), Cores(6), GiB(8)}));
  EXPECT_EQ(gauges[0].demand.cpu, Cores(12));
  EXPECT_EQ(gauges[0].fair_share.cpu, Cores(4));
  EXPECT_DOUBLE_EQ(gauges[0].speed_up.value(), 1.5);
  EXPECT_FALSE(gauges[1].speed_up.has_value());

  // The gauges show no more than decisions use.
  for (const auto& gauge : ReadPodGauges(*state.Snapshot(), "nvidia.com/gpu", profiles, 1.2)) {
    EXPECT_EQ(gauge.speed_up, gauge.pod == "linear" ? std::optional(1.2) : std::nullopt);
  }
}

TEST(PodGaugesTest, RunningPodsAreCountedByWhetherAResizeCostsThemTheirGpus) {
  ClusterState state;
  Node node;
  node.name = "n1";
  state.UpsertNode(node);
  const auto runs = [&state](const std::string& name, std::optional<DeviceReading> devices) {
    Pod pod = RunningPod(name, true, "");
    ManagedContainer fungible = *pod.fungible;
    fungible.reported = true;
    fungible.devices = std::move(devices);
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    state.UpsertPod(std::move(pod));
  };
  runs("a", DeviceReading{DeviceSafety::kSafe, ""});
  runs("b", DeviceReading{DeviceSafety::kUnsafe, ""});
  runs("c", std::nullopt);
  runs("d", std::nullopt);
  state.UpsertPod(RunningPod("starts", true, ""));
  state.UpsertPod(RunningPod("opted-out", false, ""));

  const std::map<std::pair<std::string, std::string>, uint64_t> expected = {
      {{"n1", "safe"}, 1}, {{"n1", "unsafe"}, 1}, {{"n1", "unknown"}, 2}};
  EXPECT_EQ(ReadDeviceGauges(*state.Snapshot()), expected);
  runs("e", DeviceReading{DeviceSafety::kLost, ""});
  const decltype(expected) lost = {{{"n1", "lost"}, 5}};
  EXPECT_EQ(ReadDeviceGauges(*state.Snapshot()), lost) << "no pod of the node is resized";
}

TEST(IdleGpusTest, AreThoseOfPodsThatHaveBeenIdleForAWhile) {
  ClusterState state;
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(8), Cores(24), GiB(64)};
  node.pods_allowed = 110;
  state.UpsertNode(std::move(node));
  ClusterProgress progress;
  const auto add = [&](const std::string& name, const std::string& in, bool managed,
                       std::optional<Duration> idle) {
    Pod pod = RunningPod(name, managed, "");
    pod.pod_namespace = in;
    state.UpsertPod(std::move(pod));
    KnownProgress known;
    known.pod.uid = name;
    if (idle) known.pod.idle = IdleReading{.idle = *idle};
    progress.pods.push_back(std::move(known));
  };
  add("idle", "team", true, std::chrono::minutes(5));
  add("busy", "team", true, std::chrono::minutes(4));
  add("opted-out", "team", false, std::chrono::hours(1));
  add("works", "other", true, Duration::zero());
  add("unknown", "third", true, std::nullopt);
  EXPECT_EQ(ReadIdleGpus(*state.Snapshot(), progress),
            (std::map<std::string, Gpus>{{"other", Gpus(0)}, {"team", Gpus(2)}}));
}

}  // namespace
}  // namespace synergy::controller
