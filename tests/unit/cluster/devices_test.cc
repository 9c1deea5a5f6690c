// Tests how ClusterState counts GPUs by ResourceClaims and ResourceSlices.

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "cluster/state/fit.h"
#include "support/cluster_vocabulary.h"
#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDriver = "gpu.nvidia.com";

ResourceSlice MakeSlice(const std::string& node, int devices, int64_t generation = 1) {
  ResourceSlice slice{.name = node + "-slice",
                      .driver = kDriver,
                      .pool = node,
                      .generation = generation,
                      .devices = {}};
  for (int i = 0; i < devices; ++i)
    slice.devices.push_back({.name = "gpu-" + std::to_string(i), .node = node, .product = "A100"});
  return slice;
}

// Returns a claim whose name is also its UID. Pods of the namespace "team" name it `claim`.
ResourceClaim MakeClaim(std::string name, int64_t count) {
  return {.uid = name,
          .pod_namespace = "team",
          .name = std::move(name),
          .requests = {{.device_class = kDriver, .count = count}},
          .allocated = false,
          .devices = {}};
}

ResourceClaim Allocated(ResourceClaim claim, const std::string& node, std::vector<int> devices) {
  claim.allocated = true;
  for (const int device : devices)
    claim.devices.push_back({kDriver, node, "gpu-" + std::to_string(device)});
  return claim;
}

Pod WithClaims(Pod pod, std::vector<std::string> claims) {
  pod.devices = std::make_shared<const PodDevices>(PodDevices{.claims = std::move(claims)});
  return pod;
}

Pod MakeClaimPod(std::string name, std::vector<std::string> claims) {
  return WithClaims(MakePod(std::move(name), {Gpus(0), Cores(1), GiB(1)}), std::move(claims));
}

// Returns the pod as if the webhook had sized it.
Pod Sized(Pod pod) {
  auto fungible = std::make_shared<ManagedContainer>();
  fungible->requested = pod.requests.main;
  fungible->floor = pod.requests.main;
  fungible->change = ChangeRecord{.from = pod.requests.main, .to = pod.requests.main};
  pod.fungible = std::move(fungible);
  return pod;
}

class DevicesTest : public ClusterStateFixture {
 protected:
  DevicesTest() {
    state.CountDevices({"nvidia.com/gpu", {kDriver}});
    state.UpsertDeviceClass({kDriver, "nvidia.com/gpu"});
  }
  // Adds a node that offers its GPUs only by slices.
  void HaveNode(const std::string& name) {
    state.UpsertNode(MakeNode(name, {Gpus(0), Cores(24), GiB(500)}));
  }
  Gpus CapacityOf(const std::string& node) const {
    return NodeOf(*state.Snapshot(), node).allocatable.gpus;
  }
  Gpus GpusOf(const std::string& pod) const { return state.FindPod(pod)->requests.main.gpus; }
  std::string WhyLeftAlone(const std::string& pod) const {
    return state.FindPod(pod)->devices->why_left_alone;
  }
  bool Fits(const Pod& pod, const std::string& node) const {
    return CheckFit(state.WithDevices(pod), NodeOf(*state.Snapshot(), node)).none();
  }
};

TEST_F(DevicesTest, SlicesAreTheGpusOfANodeWithoutADevicePlugin) {
  HaveNode("n1");
  state.UpsertNode(MakeNode("plugin", kServer));
  EXPECT_EQ(CapacityOf("n1"), Gpus(0));
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertResourceSlice(MakeSlice("plugin", 4));
  EXPECT_EQ(CapacityOf("n1"), Gpus(4));
  EXPECT_EQ(CapacityOf("plugin"), Gpus(8)) << "as kube-scheduler has it";
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").detail->gpu_kinds.products,
            std::vector<std::string>{"A100"});
  // Now in the other order, and twice.
  state.UpsertResourceSlice(MakeSlice("n2", 3));
  HaveNode("n2");
  HaveNode("n2");
  EXPECT_EQ(CapacityOf("n2"), Gpus(3));
  state.RemoveResourceSlice("n2-slice");
  EXPECT_EQ(CapacityOf("n2"), Gpus(0));
  EXPECT_TRUE(NodeOf(*state.Snapshot(), "n2").detail->gpu_kinds.products.empty());
  // The device plugin disappears, and comes back.
  state.UpsertNode(MakeNode("plugin", {Gpus(0), Cores(24), GiB(500)}));
  EXPECT_EQ(CapacityOf("plugin"), Gpus(4));
  state.UpsertNode(MakeNode("plugin", kServer));
  EXPECT_EQ(CapacityOf("plugin"), Gpus(8));
}

TEST_F(DevicesTest, ANodeReadBackFromASnapshotCountsTheSame) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertNode(synergy::NodeOf(NodeOf(*state.Snapshot(), "n1")));
  EXPECT_EQ(CapacityOf("n1"), Gpus(4));
  state.RemoveResourceSlice("n1-slice");
  EXPECT_EQ(CapacityOf("n1"), Gpus(0));
}

TEST_F(DevicesTest, OnlyWholeUntaintedGpusOfTheNewestGenerationAreCapacity) {
  HaveNode("n1");
  ResourceSlice slice = MakeSlice("n1", 4);
  slice.devices[0].tainted = true;
  slice.devices[1].part = true;
  slice.devices[2].node = "n2";
  state.UpsertResourceSlice(slice);
  EXPECT_EQ(CapacityOf("n1"), Gpus(1));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").detail->gpu_kinds.installed, Gpus(2));
  ResourceSlice newer = MakeSlice("n1", 2, 2);
  newer.name = "newer";
  state.UpsertResourceSlice(newer);
  EXPECT_EQ(CapacityOf("n1"), Gpus(2));
  ResourceSlice other = MakeSlice("n1", 5);
  other.name = "nic";
  other.driver = "dra.net";
  state.UpsertResourceSlice(other);
  EXPECT_EQ(CapacityOf("n1"), Gpus(2)) << "other drivers' devices are no GPUs";
  state.ReplaceResourceSlices({});
  EXPECT_EQ(CapacityOf("n1"), Gpus(0));
}

TEST_F(DevicesTest, RequestsFitWhereAClassOffersTheResource) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  EXPECT_TRUE(Fits(MakeGpuPod("p", 4), "n1"));
  EXPECT_FALSE(Fits(MakeGpuPod("p", 5), "n1"));
  state.UpsertDeviceClass({kDriver, "example.com/other"});
  EXPECT_FALSE(Fits(MakeGpuPod("p", 1), "n1"));
  state.ReplaceDeviceClasses({{kDriver, "nvidia.com/gpu"}});
  EXPECT_TRUE(Fits(MakeGpuPod("p", 1), "n1"));
  state.RemoveDeviceClass(kDriver);
  EXPECT_FALSE(Fits(MakeGpuPod("p", 1), "n1"));
}

TEST_F(DevicesTest, AWaitingPodCountsWhatItsClaimRequests) {
  HaveNode("n1");
  state.UpsertNode(MakeNode("plugin", kServer));
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  Pod pod = Sized(MakeClaimPod("p", {"claim"}));
  pod.waiting = std::make_shared<const Waiting>();
  state.UpsertPod(pod);
  EXPECT_FALSE(state.WithDevices(pod).devices->known);
  EXPECT_EQ(GpusOf("p"), Gpus(0));
  state.UpsertResourceClaim(MakeClaim("claim", 3));
  EXPECT_EQ(GpusOf("p"), Gpus(3));
  EXPECT_TRUE(state.WithDevices(pod).devices->known);
  ASSERT_TRUE(state.FindPod("p")->fungible) << "its CPU and memory are divided as any GPU pod's";
  EXPECT_EQ(state.FindPod("p")->fungible->floor.gpus, Gpus(3));
  EXPECT_FALSE(state.FindPod("p")->fungible->Announced());
  EXPECT_EQ(state.WaitingPods().size(), 1);
  EXPECT_TRUE(Fits(pod, "n1"));
  EXPECT_FALSE(Fits(pod, "plugin")) << "a device plugin serves no claims";
}

TEST_F(DevicesTest, ABoundPodCountsItsDevices) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertResourceClaim(MakeClaim("claim", 2));
  const Pod pod = Sized(MakeClaimPod("p", {"claim"}));
  state.UpsertPod(pod);
  EXPECT_TRUE(state.Assume(state.WithDevices(pod), "n1", At(30)).assumed);
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.UpsertResourceClaim(Allocated(MakeClaim("claim", 2), "n1", {0, 1}));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.UpsertPod(OnNode(pod, "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").of_others.gpus, Gpus(0));
  state.RemovePod("p");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
}

TEST_F(DevicesTest, NothingCountsBeforeTheRules) {
  ClusterState fresh;
  fresh.UpsertNode(MakeNode("n1", {Gpus(0), Cores(24), GiB(500)}));
  fresh.UpsertResourceSlice(MakeSlice("n1", 4));
  fresh.UpsertResourceClaim(MakeClaim("claim", 2));
  fresh.UpsertPod(MakeClaimPod("p", {"claim"}));
  EXPECT_EQ(NodeOf(*fresh.Snapshot(), "n1").allocatable.gpus, Gpus(0));
  EXPECT_EQ(fresh.FindPod("p")->requests.main.gpus, Gpus(0));
}

TEST_F(DevicesTest, ASharedClaimCountsOnce) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertResourceClaim(Allocated(MakeClaim("claim", 2), "n1", {0, 1}));
  state.UpsertPod(Sized(OnNode(MakeClaimPod("b", {"claim"}), "n1")));
  EXPECT_EQ(GpusOf("b"), Gpus(2));
  EXPECT_EQ(WhyLeftAlone("b"), "");
  state.UpsertPod(Sized(OnNode(MakeClaimPod("a", {"claim"}), "n1")));
  EXPECT_EQ(GpusOf("a"), Gpus(2));
  EXPECT_EQ(GpusOf("b"), Gpus(0));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_THAT(WhyLeftAlone("a"), HasSubstr("shares"));
  EXPECT_FALSE(state.FindPod("a")->fungible);
  state.RemovePod("a");
  EXPECT_EQ(GpusOf("b"), Gpus(2));
  EXPECT_TRUE(state.FindPod("b")->fungible);
  // A waiting pod is not the first of the pods that share.
  state.UpsertPod(MakeClaimPod("a", {"claim"}));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
}

TEST_F(DevicesTest, CountsOnlyDevicesOfItsOwnOnItsNode) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 8));
  ResourceClaim claim = Allocated(MakeClaim("claim", 1), "n1", {0, 1, 1});
  claim.devices[0].admin_access = true;
  claim.devices.push_back({"dra.net", "n1", "nic-0"});
  claim.devices.push_back({kDriver, "gone", "gpu-0"});
  state.UpsertResourceClaim(claim);
  state.UpsertPod(OnNode(MakeClaimPod("p", {"claim", "claim"}), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2)) << "gpu-1 once, and one that is no longer listed";
  // These pods name a node themselves: another one than that of their devices, or without devices.
  HaveNode("n2");
  state.UpsertPod(OnNode(MakeClaimPod("other", {"claim"}), "n2"));
  EXPECT_LE(GpusTakenOn("n2"), Gpus(1));
  state.UpsertResourceClaim(MakeClaim("open", 8));
  state.UpsertPod(OnNode(MakeClaimPod("never", {"open"}), "n2"));
  EXPECT_EQ(GpusOf("never"), Gpus(0));
}

TEST_F(DevicesTest, OpenRequestsCountOnceAllocatedAndLeaveThePodAlone) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertResourceClaim(MakeClaim("claim", 0));
  state.UpsertPod(Sized(MakeClaimPod("p", {"claim"})));
  EXPECT_EQ(GpusOf("p"), Gpus(0));
  EXPECT_THAT(WhyLeftAlone("p"), HasSubstr("no exact number"));
  state.UpsertResourceClaim(Allocated(MakeClaim("claim", 0), "n1", {0, 1, 2, 3}));
  state.UpsertPod(Sized(OnNode(MakeClaimPod("p", {"claim"}), "n1")));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(4));
  EXPECT_FALSE(state.FindPod("p")->fungible);
}

TEST_F(DevicesTest, AbsurdCountsAreCut) {
  ResourceClaim claim = MakeClaim("claim", std::numeric_limits<int64_t>::max());
  claim.requests.push_back({.device_class = kDriver, .count = 7});
  claim.requests.push_back({.device_class = kDriver, .count = -7});
  state.UpsertResourceClaim(claim);
  state.UpsertPod(MakeClaimPod("p", {"claim", "", "absent"}));
  EXPECT_EQ(GpusOf("p"), kMostClaimedGpus);
}

TEST_F(DevicesTest, PodsBeyondTheMostUsersOfAClaimCountNoneOfIt) {
  state.UpsertResourceClaim(MakeClaim("claim", 1));
  for (size_t i = 0; i <= DeviceCatalog::kMostUsers; ++i)
    state.UpsertPod(MakeClaimPod("p" + std::to_string(i), {"claim"}));
  const std::string last = "p" + std::to_string(DeviceCatalog::kMostUsers);
  EXPECT_THAT(WhyLeftAlone(last), HasSubstr("more than 256 pods"));
  EXPECT_EQ(GpusOf(last), Gpus(0));
}

// The API server limits the pods that use a claim, not those that name it.
TEST_F(DevicesTest, PodsThatNameAClaimTakeNoGpusFromWhatOthersHave) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 4));
  state.UpsertResourceClaim(MakeClaim("claim", 1));
  for (size_t i = 0; i <= DeviceCatalog::kMostUsers; ++i)
    state.UpsertPod(MakeClaimPod("p" + std::to_string(i), {"claim"}));
  state.UpsertResourceClaim(Allocated(MakeClaim("own", 2), "n1", {0, 1}));
  state.UpsertPod(OnNode(MakeClaimPod("bound", {"claim", "own"}), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.UpsertResourceClaim(Allocated(MakeClaim("claim", 1), "n1", {2}));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(3));
}

// kube-scheduler gives the claim's devices to the pod that it places first.
TEST_F(DevicesTest, AClaimWithoutDevicesCountsForEachPodThatAsks) {
  HaveNode("n1");
  state.UpsertResourceSlice(MakeSlice("n1", 1));
  state.UpsertResourceClaim(MakeClaim("claim", 2));
  state.UpsertPod(MakeClaimPod("a", {"claim"}));
  state.UpsertPod(MakeClaimPod("b", {"claim"}));
  EXPECT_EQ(GpusOf("b"), Gpus(0));
  EXPECT_EQ(state.WithDevices(MakeClaimPod("b", {"claim"})).requests.main.gpus, Gpus(2));
  EXPECT_FALSE(Fits(MakeClaimPod("b", {"claim"}), "n1"));
  Pod member = MakeClaimPod("b", {"claim"});
  member.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = 2});
  EXPECT_EQ(state.WithDevices(member).requests.main.gpus, Gpus(0));
  state.UpsertResourceClaim(Allocated(MakeClaim("claim", 2), "n1", {0, 1}));
  state.UpsertPod(OnNode(MakeClaimPod("a", {"claim"}), "n1"));
  EXPECT_EQ(state.WithDevices(MakeClaimPod("b", {"claim"})).requests.main.gpus, Gpus(0));
}

TEST_F(DevicesTest, AnyNumberOfPodsMayWaitForClaimsThatDoNotExist) {
  state.UpsertResourceClaim(MakeClaim("claim", 1));
  for (size_t i = 0; i <= DeviceCatalog::kMostUsers; ++i)
    state.UpsertPod(MakeClaimPod("p" + std::to_string(i), {""}));
  state.UpsertPod(MakeClaimPod("last", {"claim", ""}));
  EXPECT_EQ(GpusOf("last"), Gpus(1));
  EXPECT_THAT(WhyLeftAlone("last"), HasSubstr("does not exist yet"));
}

TEST_F(DevicesTest, AListReplacesTheClaims) {
  state.UpsertResourceClaim(MakeClaim("claim", 1));
  state.UpsertPod(MakeClaimPod("p", {"claim"}));
  ResourceClaim next = MakeClaim("claim", 2);
  next.uid = "next";
  state.ReplaceResourceClaims({next});
  EXPECT_EQ(GpusOf("p"), Gpus(2));
  state.RemoveResourceClaim("claim");
  EXPECT_EQ(GpusOf("p"), Gpus(2)) << "the uid is that of the claim before";
  state.RemoveResourceClaim("next");
  EXPECT_EQ(GpusOf("p"), Gpus(0));
  EXPECT_THAT(WhyLeftAlone("p"), HasSubstr("not known"));
}

TEST_F(DevicesTest, APodThatIsCountedAgainDuringAListIsStillMissingInIt) {
  state.UpsertResourceClaim(MakeClaim("claim", 1));
  state.UpsertPod(MakeClaimPod("a", {"claim"}));
  state.UpsertPod(MakeClaimPod("b", {"claim"}));
  state.ReplacePods({MakeClaimPod("b", {"claim"})});
  EXPECT_FALSE(HasPod("a"));
  EXPECT_EQ(GpusOf("b"), Gpus(1));
}

TEST(GpusOfTest, AreTheRequestsOfGpuClasses) {
  const DeviceRules rules{"nvidia.com/gpu", {kDriver}};
  const DeviceRequest two{kDriver, 2};
  const DeviceRequest nic{"nic", 3};
  const auto of = [&](const std::vector<DeviceRequest>& requests) {
    return GpusOf(requests, rules);
  };
  EXPECT_EQ(of({two, nic, {kDriver, 1}}), (RequestedDevices{Gpus(3)}));
  EXPECT_EQ(of({nic, {"nic", 0}}), RequestedDevices());
  EXPECT_EQ(of({two, {kDriver, 5, true}}), (RequestedDevices{Gpus(2)})) << "with adminAccess";
  EXPECT_EQ(of({two, {kDriver, 0}}), (RequestedDevices{Gpus(2), true}));
  EXPECT_EQ(of({two, {"", 0}}), (RequestedDevices{Gpus(2), true}));
  const DeviceRequest absurd{kDriver, std::numeric_limits<int64_t>::max()};
  EXPECT_EQ(of({absurd, absurd}), (RequestedDevices{kMostClaimedGpus}));
}

}  // namespace
}  // namespace synergy::testing
