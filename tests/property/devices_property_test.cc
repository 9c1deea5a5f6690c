// Histories of pods that get GPUs by ResourceClaims, as kube-scheduler allocates them. Once all
// reports have arrived, each node counts the devices in the claims' statuses, in whatever order the
// watches reported.

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_state.h"
#include "core/random.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr const char* kGpu = "gpu.nvidia.com";
constexpr int kGpusOfNode = 4;

class DeviceHistory {
 public:
  explicit DeviceHistory(uint64_t seed) : random_(seed) {
    state_.CountDevices({"nvidia.com/gpu", {kGpu}});
    for (int i = 0; i < 3; ++i) PutNode("n" + std::to_string(i));
  }

  void Step() {
    switch (Below(8)) {
      case 0:
      case 1:
        return CreatePod();
      case 2:
      case 3:
      case 4:
        return Schedule();
      case 5:
        return DeletePod();
      case 6:
        return PutNode("n" + std::to_string(Below(3)));
      default:
        return Deliver();
    }
  }

  void Rest() {
    while (!pod_reports_.empty() || !claim_reports_.empty() || !node_reports_.empty()) Deliver();
  }

  void Check() const {
    const auto snapshot = state_.Snapshot();
    std::map<std::string, std::set<std::string>> devices;
    for (const auto& [name, pod] : pods_) {
      for (const std::string& claim : pod.devices->claims) {
        if (pod.node.empty()) continue;
        for (const AllocatedDevice& device : claims_.at(claim).devices)
          if (!device.admin_access) devices[pod.node].insert(device.pool + device.device);
      }
    }
    for (NodeIndex place = 0; place < snapshot->size(); ++place) {
      const NodeState& node = snapshot->node(place);
      RC_ASSERT(node.requested.gpus ==
                Gpus(static_cast<int64_t>(devices[node.detail->name].size())));
      RC_ASSERT(node.allocatable.gpus == Gpus(kGpusOfNode));
      RC_ASSERT(node.requested.gpus <= node.allocatable.gpus);
      RC_ASSERT(node.requested.cpu == Cores(node.pods));
    }
  }

 private:
  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<uint64_t>(bound))); }

  // Puts the node and its slice, in any order, as new generations.
  void PutNode(const std::string& name) {
    ResourceSlice slice{
        .name = name, .driver = kGpu, .pool = name, .generation = ++generation_, .devices = {}};
    for (int i = 0; i < kGpusOfNode; ++i)
      slice.devices.push_back({.name = std::to_string(i), .node = name});
    std::vector<std::function<void()>> reports = {
        [this, slice] { state_.UpsertResourceSlice(slice); },
        [this, name] { state_.UpsertNode(MakeNode(name, {Gpus(0), Cores(64), GiB(64)})); }};
    if (Below(2) == 0) std::swap(reports[0], reports[1]);
    for (auto& report : reports) node_reports_.push_back(std::move(report));
  }

  void CreatePod() {
    const std::string name = "p" + std::to_string(created_++);
    PodDevices devices;
    for (int left = 1 + Below(2); left > 0; --left) {
      // Some pods share a claim that exists.
      std::string claim = name + "-" + std::to_string(left);
      if (Below(3) == 0 && !claims_.empty()) {
        claim = std::next(claims_.begin(), Below(static_cast<int>(claims_.size())))->first;
      } else {
        claims_[claim] = {.uid = claim,
                          .pod_namespace = "team",
                          .name = claim,
                          .requests = {{kGpu, 1 + Below(3), Below(6) == 0}},
                          .allocated = false,
                          .devices = {}};
        Report(claims_[claim]);
      }
      devices.claims.push_back(claim);
    }
    Pod pod = MakePod(name, {Gpus(0), Cores(1), GiB(1)});
    pod.devices = std::make_shared<const PodDevices>(std::move(devices));
    pods_[name] = pod;
    Report(pod);
  }

  // Allocates the claims of a waiting pod, and binds it.
  void Schedule() {
    std::vector<std::string> waiting;
    for (const auto& [name, pod] : pods_)
      if (pod.node.empty()) waiting.push_back(name);
    if (waiting.empty()) return;
    Pod& pod = pods_[waiting[static_cast<size_t>(Below(static_cast<int>(waiting.size())))]];
    std::string node = "n" + std::to_string(Below(3));
    for (const std::string& name : pod.devices->claims)
      if (claims_[name].allocated) node = claims_[name].devices.front().pool;
    std::set<std::string> taken;
    for (const auto& [name, claim] : claims_)
      for (const AllocatedDevice& device : claim.devices)
        if (device.pool == node && !device.admin_access) taken.insert(device.device);
    std::vector<ResourceClaim> allocated;
    for (const std::string& name : pod.devices->claims) {
      ResourceClaim claim = claims_[name];
      if (claim.allocated) {
        if (claim.devices.front().pool != node) return;
        continue;
      }
      claim.allocated = true;
      const DeviceRequest& request = claim.requests.front();
      for (int i = 0; i < kGpusOfNode; ++i) {
        const std::string device = std::to_string(i);
        if (static_cast<int64_t>(claim.devices.size()) == request.count) break;
        if (!request.admin_access && !taken.insert(device).second) continue;
        claim.devices.push_back({kGpu, node, device, request.admin_access});
      }
      if (static_cast<int64_t>(claim.devices.size()) < request.count) return;
      allocated.push_back(std::move(claim));
    }
    // The extender has counted the pod there.
    if (Below(2) == 0) {
      if (const auto place = state_.Snapshot()->Find(node))
        state_.Expect(state_.WithDevices(pod), *place, Instant(Duration(1)));
    }
    for (ResourceClaim& claim : allocated) {
      Report(claim);
      claims_[claim.name] = std::move(claim);
    }
    pod.node = node;
    Report(pod);
  }

  void DeletePod() {
    if (pods_.empty()) return;
    const auto gone = std::next(pods_.begin(), Below(static_cast<int>(pods_.size())));
    const Pod pod = gone->second;
    pods_.erase(gone);
    pod_reports_.push_back([this, uid = pod.uid] { state_.RemovePod(uid); });
    for (const std::string& name : pod.devices->claims) {
      const bool used = std::any_of(pods_.begin(), pods_.end(), [&](const auto& other) {
        const auto& claims = other.second.devices->claims;
        return std::find(claims.begin(), claims.end(), name) != claims.end();
      });
      if (used || !claims_.contains(name)) continue;
      claims_.erase(name);
      claim_reports_.push_back([this, name] { state_.RemoveResourceClaim(name); });
    }
  }

  void Report(const Pod& pod) {
    pod_reports_.push_back([this, pod] { state_.UpsertPod(pod); });
  }
  void Report(const ResourceClaim& claim) {
    claim_reports_.push_back([this, claim] { state_.UpsertResourceClaim(claim); });
  }

  // Each watch reports in order.
  void Deliver() {
    std::deque<std::function<void()>>* const all[] = {&pod_reports_, &claim_reports_,
                                                      &node_reports_};
    auto& queue = *all[Below(3)];
    if (queue.empty()) return;
    queue.front()();
    queue.pop_front();
  }

  Random random_;
  ClusterState state_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, ResourceClaim> claims_;
  std::deque<std::function<void()>> pod_reports_;
  std::deque<std::function<void()>> claim_reports_;
  std::deque<std::function<void()>> node_reports_;
  int created_ = 0;
  int64_t generation_ = 0;
};

RC_GTEST_PROP(DevicesProperty, NodesCountTheDevicesInTheStatusOfClaims, (uint64_t seed)) {
  DeviceHistory history(seed);
  for (int round = 0; round < 5; ++round) {
    for (int step = 0; step < 30; ++step) history.Step();
    history.Rest();
    history.Check();
  }
}

}  // namespace
}  // namespace synergy::testing
