// Tests docs/internals/accounting.md rule by rule. tests/integration/oracle compares the result
// with kube-scheduler's.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/base/resource_list.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Resources Requests(std::string_view text, PodUse use) {
  const ObjectReader reader("nvidia.com/gpu");
  const Result<Pod> pod = reader.ReadPod(text, use);
  EXPECT_TRUE(pod) << text << ": " << pod.error().message;
  return pod ? pod->requests : Resources();
}

int64_t Cpu(std::string_view text, PodUse use = PodUse::kIncoming) {
  return Requests(text, use).main.cpu.count();
}

std::string Container(std::string_view name, std::string_view cpu, std::string_view more = "") {
  return fmt::format(R"({{"name":"{}","resources":{{"requests":{{"cpu":"{}"}}}}{}}})", name, cpu,
                     more);
}

const std::string kAlways = R"(,"restartPolicy":"Always")";

TEST(PodRequests, AddUpContainers) {
  EXPECT_EQ(Cpu(fmt::format(R"({{"spec":{{"containers":[{},{}]}}}})", Container("a", "100m"),
                            Container("b", "2"))),
            2100);
}

TEST(PodRequests, RoundTheSumAndNotItsParts) {
  EXPECT_EQ(Cpu(fmt::format(R"({{"spec":{{"containers":[{},{},{}]}}}})", Container("a", "100u"),
                            Container("b", "100u"), Container("c", "100u"))),
            1);
}

TEST(PodRequests, AreAtLeastThoseOfEachInitContainer) {
  const auto with_init = [](std::string_view cpu) {
    return Cpu(fmt::format(R"({{"spec":{{"containers":[{}],"initContainers":[{},{}]}}}})",
                           Container("a", "2"), Container("i", "1"), Container("j", cpu)));
  };
  EXPECT_EQ(with_init("1"), 2000);
  EXPECT_EQ(with_init("3"), 3000);
}

TEST(PodRequests, CountSidecarsFromWhereTheyStart) {
  const auto cpu = [](const std::string& inits) {
    return Cpu(fmt::format(R"({{"spec":{{"containers":[{}],"initContainers":[{}]}}}})",
                           Container("a", "2"), inits));
  };
  EXPECT_EQ(cpu(Container("s", "1", kAlways)), 3000);
  // The ordinary one runs beside the sidecars before it, but not beside those after it.
  EXPECT_EQ(cpu(Container("s", "1", kAlways) + "," + Container("i", "5")), 6000);
  EXPECT_EQ(cpu(Container("i", "5") + "," + Container("s", "1", kAlways)), 5000);
  EXPECT_EQ(cpu(Container("i", "5", R"(,"restartPolicy":"Never")")), 5000);
}

TEST(PodRequests, TakeTheMaximumPerResource) {
  const Resources requests = Requests(
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"2","nvidia.com/gpu":"1"}}}],
                  "initContainers":[{"resources":{"requests":{"memory":"1Gi","example.com/x":"3"}}}]}})",
      PodUse::kIncoming);
  EXPECT_EQ(requests.main, (ResourceVector{Gpus(1), Cores(2), GiB(1)}));
  EXPECT_THAT(requests.other.entries(), ElementsAre(Pair("example.com/x", 3)));
}

TEST(PodRequests, LetPodLevelRequestsReplaceTheSumAndThenAddOverhead) {
  const Resources requests = Requests(
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"}}}],
                  "resources":{"requests":{"cpu":"1","hugepages-2Mi":"2Mi","nvidia.com/gpu":"5"},"limits":{"memory":"9Gi"}},
                  "overhead":{"cpu":"250m","memory":"1Mi"}}})",
      PodUse::kIncoming);
  EXPECT_EQ(requests.main, (ResourceVector{Gpus(1), MilliCpu(1250), GiB(1) + MiB(1)}));
  EXPECT_THAT(requests.other.entries(), ElementsAre(Pair("hugepages-2Mi", 2 << 20)));
}

TEST(PodRequests, NeverLookAtLimits) {
  EXPECT_EQ(Cpu(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"4"}}}]}})"), 0);
}

TEST(PodRequests, DropNamesThatKubeSchedulerDoesNotCount) {
  const Resources requests = Requests(
      R"({"spec":{"containers":[{"resources":{"requests":
          {"pods":"3","storage":"1","unprefixed":"1","ephemeral-storage":"1Ki","attachable-volumes-x":"2","a/b":"0"}}}]}})",
      PodUse::kAccounted);
  EXPECT_THAT(requests.other.entries(),
              ElementsAre(Pair("attachable-volumes-x", 2), Pair("ephemeral-storage", 1024)));
}

TEST(PodRequests, CountNegativeAmountsAsNoneForAnIncomingPodOnly) {
  const std::string_view text =
      R"({"spec":{"overhead":{"cpu":"-1","nvidia.com/gpu":"-1","memory":"-1","a/b":"-1"}}})";
  EXPECT_EQ(Requests(text, PodUse::kIncoming), Resources());
  EXPECT_EQ(Requests(text, PodUse::kAccounted).main,
            (ResourceVector{Gpus(-1), MilliCpu(-1000), Bytes(-1)}));
}

TEST(PodRequests, AreCappedSoThatSumsDoNotOverflow) {
  const std::string_view text =
      R"({"spec":{"overhead":{"cpu":"10E","nvidia.com/gpu":"8Ei","memory":"8Ei","a/b":"1e30"}}})";
  const Resources requests = Requests(text, PodUse::kAccounted);
  EXPECT_EQ(requests.main, (ResourceVector{Gpus(kLargestRequest), MilliCpu(kLargestRequest),
                                           Bytes(kLargestRequest)}));
  EXPECT_EQ(requests.other.Get("a/b"), kLargestRequest);
}

TEST(PodRequests, ManageWithTensOfThousandsOfNames) {
  constexpr int kNames = 30'000;
  std::string requests = R"("cpu":"1")";
  for (int i = 0; i < kNames; ++i)
    requests += fmt::format(R"(,"example.com/r{}":"1")", i * 7919 % kNames);
  const std::string container = R"({"resources":{"requests":{)" + requests + "}}}";
  const Resources sum = Requests(
      fmt::format(R"({{"spec":{{"containers":[{0},{0}],"initContainers":[{0}]}}}})", container),
      PodUse::kAccounted);
  EXPECT_EQ(sum.other.entries().size(), static_cast<size_t>(kNames));
  EXPECT_EQ(sum.other.Get("example.com/r4711"), 2);
}

// Returns a pod with one container that has these parts of spec and status.
std::string ResizedPod(std::string_view spec, std::string_view status,
                       std::string_view conditions = "[]") {
  return fmt::format(
      R"({{"spec":{{"containers":[{}]}},"status":{{"conditions":{},"containerStatuses":[{}]}}}})",
      Container("a", spec), conditions, status);
}

std::string Reported(std::string_view in_force, std::string_view allocated) {
  return fmt::format(
      R"({{"name":"a","resources":{{"requests":{{"cpu":"{}"}}}},"allocatedResources":{{"cpu":"{}"}}}})",
      in_force, allocated);
}

TEST(PodRequests, OnANodeAreTheLargestOfSpecStatusAndAllocation) {
  EXPECT_EQ(Cpu(ResizedPod("1", Reported("2", "3")), PodUse::kAccounted), 3000);
  EXPECT_EQ(Cpu(ResizedPod("1", Reported("3", "2")), PodUse::kAccounted), 3000);
  EXPECT_EQ(Cpu(ResizedPod("4", Reported("3", "2")), PodUse::kAccounted), 4000);
  EXPECT_EQ(Cpu(ResizedPod("1", Reported("2", "3")), PodUse::kIncoming), 1000);
}

TEST(PodRequests, IgnoreTheSpecOfAResizeThatIsInfeasible) {
  const auto cpu = [](std::string_view conditions) {
    return Cpu(ResizedPod("9", Reported("2", "3"), conditions), PodUse::kAccounted);
  };
  EXPECT_EQ(cpu(R"([{"type":"PodResizePending","reason":"Infeasible"}])"), 3000);
  EXPECT_EQ(
      cpu(R"([{"type":"Ready"},{"type":"PodResizePending","status":"False","reason":"Infeasible"}])"),
      3000);
  EXPECT_EQ(cpu(R"([{"type":"PodResizePending","reason":"Deferred"}])"), 9000);
  EXPECT_EQ(cpu(R"([{"type":"PodResizeInProgress","reason":"Infeasible"}])"), 9000);
  // The first condition of a type decides.
  EXPECT_EQ(
      cpu(R"([{"type":"PodResizePending","reason":"Deferred"},{"type":"PodResizePending","reason":"Infeasible"}])"),
      9000);
}

// Kubernetes 1.37 counts so; 1.35 ignores it.
TEST(PodRequests, CountAnAllocationWithoutResources) {
  EXPECT_EQ(
      Cpu(ResizedPod("1", R"({"name":"a","allocatedResources":{"cpu":"3"}})"), PodUse::kAccounted),
      3000);
  EXPECT_EQ(
      Cpu(ResizedPod("1", R"({"name":"a","resources":null,"allocatedResources":{"cpu":"3"}})"),
          PodUse::kAccounted),
      3000);
  EXPECT_EQ(Cpu(ResizedPod("1", R"({"name":"a","resources":{},"allocatedResources":{"cpu":"3"}})"),
                PodUse::kAccounted),
            3000);
}

TEST(PodRequests, FindAContainersStatusByNameAndTakeTheLast) {
  EXPECT_EQ(Cpu(ResizedPod("1", R"({"name":"b","resources":{"requests":{"cpu":"7"}}})"),
                PodUse::kAccounted),
            1000);
  EXPECT_EQ(Cpu(ResizedPod("1", Reported("5", "5") + "," + Reported("2", "2")), PodUse::kAccounted),
            2000);
  EXPECT_EQ(Cpu(ResizedPod("1", Reported("5", "5") + R"(,{"name":"a"})"), PodUse::kAccounted),
            1000);
  EXPECT_EQ(Cpu(fmt::format(R"({{"spec":{{"containers":[{}]}},
                                "status":{{"containerStatuses":[{}],"initContainerStatuses":[{}]}}}})",
                            Container("a", "1"), Reported("5", "5"), Reported("2", "2")),
                PodUse::kAccounted),
            2000);
}

TEST(PodRequests, UseTheStatusOfInitContainers) {
  const auto cpu = [](std::string_view more) {
    return Cpu(fmt::format(R"({{"spec":{{"initContainers":[{}]}},
                               "status":{{"initContainerStatuses":[{}]}}}})",
                           Container("a", "1", more), Reported("4", "2")),
               PodUse::kAccounted);
  };
  EXPECT_EQ(cpu(kAlways), 4000);
  EXPECT_EQ(cpu(""), 4000);
}

// Kubernetes 1.37 counts less than 1.35 if containers change in different directions.
TEST(PodRequests, AreTheLargestOfAllKubernetesVersions) {
  const auto cpu = [](std::string_view status) {
    return Cpu(fmt::format(R"({{"spec":{{"containers":[{},{}],"overhead":{{"cpu":"1"}}}},
                               "status":{}}})",
                           Container("a", "1"), Container("b", "4"), status),
               PodUse::kAccounted);
  };
  EXPECT_EQ(cpu(R"({})"), 6000);
  EXPECT_EQ(cpu(R"({"containerStatuses":[
                    {"name":"a","resources":{"requests":{"cpu":"3"}}},
                    {"name":"b","resources":{"requests":{"cpu":"2"}}}]})"),
            8000)
      << "each container's largest, by 1.35";
  EXPECT_EQ(cpu(R"({"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"3"}}]})"), 8000)
      << "what is allocated, by 1.37";
  EXPECT_EQ(cpu(R"({"resources":{"requests":{"cpu":"5"}},"allocatedResources":{"cpu":"9"}})"),
            10000)
      << "the pod's own report, by 1.37";
  EXPECT_EQ(cpu(R"({"allocatedResources":{"cpu":"9"}})"), 6000) << "but not half of it";
}

TEST(PodRequests, CountANameThatOnlyTheStatusHas) {
  const Resources requests = Requests(
      R"({"spec":{"containers":[{"name":"a"}]},
          "status":{"containerStatuses":[{"name":"a","resources":{"requests":{"memory":"1Gi"}}}]}})",
      PodUse::kAccounted);
  EXPECT_EQ(requests.main.memory, GiB(1));
}

TEST(PodRequests, HideTheStatusOfContainersBehindPodLevelRequests) {
  const auto cpu = [](std::string_view status) {
    return Cpu(
        fmt::format(R"({{"spec":{{"containers":[{}],"resources":{{"requests":{{"cpu":"2"}}}}}},
                                "status":{{"containerStatuses":[{}]{}}}}})",
                    Container("a", "1"), Reported("5", "5"), status),
        PodUse::kAccounted);
  };
  EXPECT_EQ(cpu(""), 2000);
  EXPECT_EQ(cpu(R"(,"resources":{"requests":{"cpu":"3"}})"), 3000) << "a shrink that is under way";
  EXPECT_EQ(cpu(R"(,"resources":{},"allocatedResources":{"cpu":"4"})"), 4000);
}

}  // namespace
}  // namespace synergy::wire
