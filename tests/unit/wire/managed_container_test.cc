#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "json/text.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::wire {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWrittenBySynergy =
    R"({"manager":"synergy","operation":"Update","time":"2026-11-21T07:05:00Z","fieldsV1":
      {"f:metadata":{"f:annotations":{"f:synergy.io/hold":{},"f:synergy.io/change":{}}}}})";

constexpr const char* kWrittenByNodeAgent =
    R"({"manager":"synergy-node-agent","operation":"Update","subresource":"status",
      "time":"2026-11-21T07:05:00Z",
      "fieldsV1":{"f:metadata":{"f:annotations":{"f:synergy.io/devices":{}}}}})";

// A running pod whose container "train" has two GPUs and requests 3 cores and 8 GiB, with a sidecar
// of half a core.
struct PodText {
  std::string annotations = R"("synergy.io/container":"train",
    "synergy.io/demand":"{\"cpu\":\"6\",\"memory\":\"16Gi\"}",
    "synergy.io/floor":"{\"cpu\":\"2\",\"memory\":\"8Gi\"}",
    "synergy.io/fair-share":"{\"cpu\":\"3\",\"memory\":\"8Gi\"}",
    "synergy.io/profile":"resnet","synergy.io/profile-generation":"4",
    "synergy.io/enforcement":"shared")";
  std::string status = R"("containerStatuses":[{"name":"train",
    "resources":{"requests":{"cpu":"3","memory":"8Gi"}},"allocatedResources":{"cpu":"3","memory":"8Gi"}}])";
  std::string node = "n1";
  std::string labels;
  std::string managed_fields;
  std::string init_containers;

  std::string Text() const {
    return fmt::format(
        R"({{"metadata":{{"uid":"u","name":"p","namespace":"team","labels":{{{}}},"annotations":{{{}}},"managedFields":[{}]}},
        "spec":{{"nodeName":"{}","schedulerName":"synergy-scheduler","initContainers":[{}],"containers":[
          {{"name":"log","resources":{{"requests":{{"cpu":"500m"}}}}}},
          {{"name":"train","resources":{{"requests":{{"cpu":"3","memory":"8Gi","nvidia.com/gpu":"2"}},
            "limits":{{"memory":"8Gi","nvidia.com/gpu":"2"}}}}}}]}},"status":{{{}}}}})",
        labels, annotations, managed_fields, node, init_containers, status);
  }

  Pod Read(PodUse use = PodUse::kAccounted) const {
    const Result<Pod> pod = ObjectReader("nvidia.com/gpu").ReadPod(Text(), use);
    EXPECT_TRUE(pod) << pod.error().message;
    return pod.value_or(Pod());
  }
};

ResourceVector Amounts(MilliCpu cpu, Bytes memory) { return {Gpus(2), cpu, memory}; }

TEST(ReadManagedContainer, TakesWhatTheWebhookWroteAboutTheContainer) {
  const Pod pod = PodText().Read();
  ASSERT_TRUE(pod.fungible);
  EXPECT_EQ(pod.fungible->container, "train");
  EXPECT_EQ(pod.fungible->profile, "resnet");
  EXPECT_EQ(pod.fungible->profile_generation, 4);
  EXPECT_EQ(pod.fungible->enforcement, Enforcement::kShared);
  EXPECT_EQ(pod.fungible->demand, Amounts(Cores(6), GiB(16)));
  EXPECT_EQ(pod.fungible->floor, Amounts(Cores(2), GiB(8)));
  EXPECT_EQ(pod.fungible->fair_share, Amounts(Cores(3), GiB(8)));
  EXPECT_EQ(pod.fungible->requested, Amounts(Cores(3), GiB(8)));
  EXPECT_EQ(pod.fungible->memory_limit, GiB(8));
  EXPECT_FALSE(pod.fungible->cpu_limit);
  EXPECT_TRUE(pod.fungible->Settled());
}

TEST(ReadManagedContainer, PlansWithTheContainersDemandAndWhatTheOthersAskFor) {
  EXPECT_EQ(PodText().Read().demand, Amounts(MilliCpu(6500), GiB(16)));
}

TEST(ReadManagedContainer, ComputesTheExtraAmountsOfInitContainers) {
  EXPECT_EQ(PodText().Read().fungible->init_peak, ResourceVector{});
  PodText text;
  text.init_containers =
      R"({"name":"proxy","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
         {"name":"unpack","resources":{"requests":{"cpu":"8","memory":"1Gi"}}})";
  const Pod pod = text.Read();
  EXPECT_EQ(pod.requests.main, Amounts(Cores(9), GiB(8)));
  EXPECT_EQ(pod.fungible->init_peak, (ResourceVector{Gpus(0), MilliCpu(7500), GiB(1)}));
  // The container has 6 and those beside it 1.5, which is less than what is counted already.
  EXPECT_EQ(pod.demand, Amounts(Cores(9), GiB(16)));
  text.init_containers = R"({"name":"once","resources":{"requests":{"cpu":"100m"}}})";
  EXPECT_EQ(text.Read().fungible->init_peak, ResourceVector{});
}

TEST(ReadManagedContainer, IgnoresPodsWhoseContainerIsMissing) {
  PodText text;
  text.annotations = R"("synergy.io/container":"other","synergy.io/demand":"{\"cpu\":\"6\"}",
    "synergy.io/floor":"{\"cpu\":\"6\"}")";
  EXPECT_FALSE(text.Read().fungible);
}

TEST(ReadManagedContainer, IgnoresPodsThatOptedOut) {
  PodText text;
  text.labels = R"("synergy.io/fungible":"false")";
  EXPECT_FALSE(text.Read().fungible);
}

TEST(ReadManagedContainer, CountsWhatHasBeenAnnouncedButNotMadeYet) {
  PodText text;
  text.annotations +=
      R"(,"synergy.io/change":"{\"kind\":\"Grown\",\"from\":{\"cpu\":\"3\",\"memory\":\"8Gi\"},)"
      R"(\"to\":{\"cpu\":\"5\",\"memory\":\"8Gi\"},\"at\":\"2026-11-21T07:05:03Z\",\"why\":\"spare\"}")";
  text.managed_fields = kWrittenBySynergy;
  const Pod pod = text.Read();
  ASSERT_TRUE(pod.fungible && pod.fungible->change);
  EXPECT_EQ(pod.fungible->change->kind, ChangeKind::kGrown);
  EXPECT_TRUE(pod.fungible->Announced());
  EXPECT_EQ(pod.requests.main, Amounts(MilliCpu(5500), GiB(8)));
}

TEST(ReadManagedContainer, TakesWhatTheNodeAgentWrote) {
  PodText text;
  const WallTime at{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}};
  const MemoryReading reading{GiB(12), true, at};
  text.annotations += R"(,"synergy.io/memory-in-use":)";
  json::AppendJsonString(text.annotations, WriteMemoryReading(reading));
  EXPECT_EQ(text.Read().fungible->memory_reading, reading);
  EXPECT_FALSE(text.Read(PodUse::kIncoming).fungible->memory_reading);
}

TEST(ReadManagedContainer, TakesTheNodeAgentsReportAboutDevices) {
  PodText text;
  const DeviceReading reading{DeviceSafety::kUnsafe, R"(its scope lists no "GPU")", true,
                              "containerd://90d9"};
  text.annotations += R"(,"synergy.io/devices":)";
  json::AppendJsonString(text.annotations, WriteDevices(reading));
  text.managed_fields = kWrittenByNodeAgent;
  EXPECT_EQ(text.Read().fungible->devices, reading);
  EXPECT_FALSE(text.Read(PodUse::kIncoming).fungible->devices);
}

TEST(ReadManagedContainer, OnlyTheNodeAgentCanReportALossOfDevices) {
  const auto read = [](const DeviceReading& reading, const char* managed_fields) {
    PodText text;
    text.annotations += R"(,"synergy.io/devices":)";
    json::AppendJsonString(text.annotations, WriteDevices(reading));
    text.managed_fields = managed_fields;
    return *text.Read().fungible->devices;
  };
  const DeviceReading lost{DeviceSafety::kLost, "gone"};
  EXPECT_EQ(read(lost, kWrittenByNodeAgent), lost);
  EXPECT_EQ(read(lost, "").safety, DeviceSafety::kUnsafe);
  EXPECT_EQ(read(lost, kWrittenBySynergy).safety, DeviceSafety::kUnsafe);
  EXPECT_FALSE(read({DeviceSafety::kUnsafe, "hidden", true}, "").resized);
}

TEST(ReadManagedContainer, SeesWhatWantOfMemoryHasEnded) {
  PodText text;
  EXPECT_FALSE(text.Read().fungible->oom_killed);
  text.status = R"("reason":"Evicted","message":"The node was low on resource: memory. Threshold",
    "containerStatuses":[
      {"name":"log","state":{"terminated":{"reason":"Error","finishedAt":"2026-01-02T00:00:09Z"}}},
      {"name":"train","state":{"running":{}},
        "lastState":{"terminated":{"reason":"OOMKilled","finishedAt":"2026-01-02T00:00:03Z"}},
        "resources":{"limits":{"memory":"6Gi"}}}])";
  const Pod pod = text.Read();
  EXPECT_EQ(
      pod.fungible->oom_killed,
      WallTime{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}} + std::chrono::seconds(3));
  EXPECT_TRUE(pod.fungible->evicted_for_memory);
  EXPECT_EQ(pod.fungible->memory_limit_in_force, GiB(6));
  text.status =
      R"("reason":"Evicted","message":"The node was low on resource: ephemeral-storage.")";
  EXPECT_FALSE(text.Read().fungible->evicted_for_memory);
}

TEST(ReadManagedContainer, SeesWhenMemoryWasChangedLast) {
  PodText text;
  const WallTime at{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}};
  ChangeRecord change{
      ChangeKind::kGrown,          Amounts(Cores(2), GiB(8)), Amounts(Cores(3), GiB(8)), "", at,
      at - std::chrono::minutes(2)};
  text.annotations += R"(,"synergy.io/memory-let-be":"oom_killed","synergy.io/change":)";
  json::AppendJsonString(text.annotations, WriteChange(change));
  const Pod pod = text.Read();
  ASSERT_TRUE(pod.fungible->change);
  EXPECT_EQ(pod.fungible->change->MemoryChanged(), at - std::chrono::minutes(2));
  change.to.memory = GiB(9);
  EXPECT_EQ(change.MemoryChanged(), at);
  EXPECT_TRUE(pod.fungible->memory_let_be);
}

TEST(ReadManagedContainer, DistinguishesAManualChangeFromOurs) {
  PodText text;
  text.annotations +=
      R"(,"synergy.io/change":"{\"kind\":\"Grown\",\"from\":{\"cpu\":\"1\",\"memory\":\"8Gi\"},)"
      R"(\"to\":{\"cpu\":\"2\",\"memory\":\"8Gi\"},\"at\":\"2026-11-21T07:05:03Z\",\"why\":\"\"}")";
  const Pod pod = text.Read();
  EXPECT_TRUE(pod.fungible->ChangedByHand());
  EXPECT_EQ(pod.requests.main, Amounts(MilliCpu(3500), GiB(8)));

  text.managed_fields =
      R"({"manager":"kubectl-create","operation":"Update"},
         {"manager":"synergy","operation":"Update","subresource":"resize"},
         {"manager":"kubelet","operation":"Update","subresource":"status"})";
  EXPECT_TRUE(text.Read().fungible->Unrecorded());
  EXPECT_FALSE(text.Read().fungible->ChangedByHand());

  text.managed_fields +=
      R"(,{"manager":"kubectl-patch","operation":"Update","subresource":"resize"})";
  EXPECT_FALSE(text.Read().fungible->Unrecorded());
  EXPECT_TRUE(text.Read().fungible->ChangedByHand());
}

TEST(ReadManagedContainer, MoreThan256CoresAreInForceAlthoughTheKubeletReportsFewer) {
  PodText text;
  text.status = R"("containerStatuses":[{"name":"train",
    "resources":{"requests":{"cpu":"256","memory":"8Gi"}},"allocatedResources":{"cpu":"300","memory":"8Gi"}}])";
  EXPECT_EQ(text.Read().fungible->in_force, Amounts(Cores(300), GiB(8)));
}

TEST(ReadManagedContainer, SeesWhatTheKubeletIsDoing) {
  PodText text;
  text.status = R"("conditions":[{"type":"PodResizeInProgress","status":"True","reason":"Error",
    "message":"below current usage"}],"containerStatuses":[{"name":"train",
    "resources":{"requests":{"cpu":"3","memory":"12Gi"}},"allocatedResources":{"cpu":"3","memory":"8Gi"}}])";
  const Pod pod = text.Read();
  EXPECT_EQ(pod.fungible->resize, ResizeState::kRefused);
  EXPECT_EQ(pod.fungible->resize_message, "below current usage");
  EXPECT_EQ(pod.fungible->in_force, Amounts(Cores(3), GiB(12)));
  EXPECT_FALSE(pod.fungible->Settled());
}

TEST(ReadWaiting, HasTheReasonAndTheKeptPlace) {
  PodText text;
  text.node.clear();
  text.annotations +=
      R"(,"synergy.io/hold":"{\"node\":\"n7\",\"until\":\"2026-11-21T07:05:03Z\"}")";
  text.managed_fields = kWrittenBySynergy;
  text.status = R"("conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
    "message":"0/4 nodes are available: 4 Insufficient cpu."}])";
  const Pod pod = text.Read();
  ASSERT_TRUE(pod.waiting);
  EXPECT_TRUE(pod.waiting->unschedulable);
  EXPECT_THAT(pod.waiting->message, HasSubstr("Insufficient cpu"));
  EXPECT_EQ(pod.waiting->kept_node, "n7");
  EXPECT_EQ(pod.waiting->scheduler, "synergy-scheduler");
  EXPECT_FALSE(PodText().Read().waiting);
}

TEST(ReadWaiting, HasTheNominatedNode) {
  PodText text;
  text.node.clear();
  text.status = R"("nominatedNodeName":"n3")";
  EXPECT_EQ(text.Read().waiting->nominated_node, "n3");
}

TEST(WriteResize, NamesTheOneDimensionThatIsChanged) {
  const Pod pod = PodText().Read();
  EXPECT_EQ(WriteResize("u", *pod.fungible, Amounts(MilliCpu(4500), GiB(12)), Resized::kCpu),
            R"({"metadata":{"uid":"u"},"spec":{"containers":[{"name":"train","resources":)"
            R"({"requests":{"cpu":"4500m"}}}]}})");
  EXPECT_EQ(WriteResize("u", *pod.fungible, Amounts(MilliCpu(4500), GiB(12)), Resized::kMemory),
            R"({"metadata":{"uid":"u"},"spec":{"containers":[{"name":"train","resources":)"
            R"({"requests":{"memory":"12Gi"},"limits":{"memory":"12Gi"}}}]}})");
}

TEST(WriteResize, ChangesRequestsAndTheLimitsThatAreThere) {
  const Pod pod = PodText().Read();
  EXPECT_EQ(WriteResize("u", *pod.fungible, Amounts(MilliCpu(4500), GiB(12))),
            R"({"metadata":{"uid":"u"},"spec":{"containers":[{"name":"train","resources":)"
            R"({"requests":{"cpu":"4500m","memory":"12Gi"},"limits":{"memory":"12Gi"}}}]}})");
}

TEST(ReadManagedContainer, HasTheWrittenAmountsAndThePlaceholder) {
  PodText text;
  EXPECT_FALSE(text.Read().fungible->placeholder);
  EXPECT_EQ(text.Read().fungible->written, WrittenAmounts());
  text.annotations += R"x(,"synergy.io/placeholder":"no node","synergy.io/original":
    "{\"requests\":{\"cpu\":\"4\",\"memory\":\"8Gi\"},\"limits\":{\"memory\":\"9Gi\"}}",
    "kubernetes.io/limit-ranger":"LimitRanger plugin set: cpu request for container train",
    "synergy.io/warnings":"one\ntwo")x";
  text.node.clear();
  const Pod pod = text.Read();
  EXPECT_TRUE(pod.fungible->placeholder);
  EXPECT_EQ(pod.fungible->written, (WrittenAmounts{{}, {}, GiB(8), GiB(9)}));
  EXPECT_EQ(pod.fungible->beside, (ResourceVector{Gpus(0), MilliCpu(500), Bytes(0)}));
  EXPECT_EQ(pod.warnings, (std::vector<std::string>{"one", "two"}));
}

TEST(ReadManagedContainer, IgnoresAnInvalidDemandWithAWarning) {
  PodText text;
  EXPECT_TRUE(text.Read().warnings.empty());
  const std::string demand = R"("{\"cpu\":\"6\",\"memory\":\"16Gi\"}")";
  text.annotations.replace(text.annotations.find(demand), demand.size(), R"("much")");
  const Pod pod = text.Read(PodUse::kIncoming);
  EXPECT_EQ(pod.demand, std::nullopt);
  ASSERT_EQ(pod.warnings.size(), 1U);
  EXPECT_NE(pod.warnings.front().find("synergy.io/demand is ignored"), std::string::npos);
}

TEST(ReadManagedContainer, NothingOfAPodThatKueueManagesByItselfIsChanged) {
  PodText text;
  text.labels = R"("kueue.x-k8s.io/managed":"true")";
  EXPECT_EQ(text.Read().fungible, nullptr);
  EXPECT_EQ(text.Read().demand, std::nullopt);
}

TEST(WriteChange, IsReadBackAsItWas) {
  PodText text;
  std::string annotation;
  const ChangeRecord change{ChangeKind::kReclaimed, Amounts(Cores(3), GiB(8)),
                            Amounts(Cores(2), GiB(8)), "for \"team/x\"",
                            WallTime(std::chrono::seconds(1'700'000'000))};
  json::AppendJsonString(annotation, WriteChange(change));
  text.annotations += R"(,"synergy.io/change":)" + annotation;
  EXPECT_EQ(text.Read().fungible->change, change);
}

TEST(WriteBinding, SetsAnnotations) {
  EXPECT_THAT(WriteBinding("team", "p", "u", "n", {{"synergy.io/change", "{}"}}),
              HasSubstr(R"("uid":"u","annotations":{"synergy.io/change":"{}"}})"));
}

TEST(WriteAnnotationChanges, RemovesWhatHasNoValue) {
  EXPECT_EQ(WriteAnnotationChanges("u", {{"a/b", "x\"y"}, {"c", std::nullopt}}),
            R"({"metadata":{"uid":"u","annotations":{"a/b":"x\"y","c":null}}})");
}

TEST(ReadManagedContainer, MayHaveSlicesOfGpus) {
  std::string text = PodText().Text();
  for (size_t at = text.find("nvidia.com/gpu\""); at != std::string::npos;
       at = text.find("nvidia.com/gpu\"", at + 1)) {
    text.insert(at + std::string_view("nvidia.com/gpu").size(), ".shared");
  }
  const Result<Pod> pod = ObjectReader("nvidia.com/gpu").ReadPod(text, PodUse::kAccounted);
  ASSERT_TRUE(pod && pod->fungible);
  EXPECT_EQ(pod->slices, Slices(2));
  EXPECT_EQ(pod->fungible->requested, (ResourceVector{Gpus(0), Cores(3), GiB(8)}));
  EXPECT_EQ(pod->fungible->floor, (ResourceVector{Gpus(0), Cores(2), GiB(8)}));
}

}  // namespace
}  // namespace synergy::wire
