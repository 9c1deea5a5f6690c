#pragma once

// Counts the GPUs that nodes offer and pods have through Dynamic Resource Allocation.
//
// A node's GPUs are the untainted devices of its ResourceSlices if no device plugin offers GPUs
// there. By the same rule, kube-scheduler chooses which of the two a request of the GPU resource
// uses.
//
// A pod has these GPUs through claims:
//
//   allocated claim                    its devices that are GPUs, without those of adminAccess
//   otherwise, if the pod has no node  `exactly.count` of its requests of GPU classes
//   otherwise                          none: a pod with a node that it named itself could wait
//                                      for devices forever
//
// A device that several pods share counts once: for the first by uid among those that have a node
// or, if none has one, among all. It never counts for a pod on a node other than the device's.
//
// Threading: under ClusterState's mutex. Ownership: pods are shared and immutable. Failures: none.
// Counts are limited to kMostClaimedGpus, and users of a claim to kMostUsers; twice as many if they
// have nodes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/devices/device_objects.h"
#include "cluster/node.h"
#include "cluster/pod.h"

namespace synergy {

class DeviceCatalog {
 public:
  // The API server allows this many pods to use a claim at the same time.
  static constexpr size_t kMostUsers = 256;

  // Call it once, before the other functions. Without it, no device counts as a GPU.
  void SetRules(DeviceRules rules) { rules_ = std::move(rules); }

  // Take the reports of the watches. Replace takes the complete list.
  void Replace(std::vector<ResourceClaim> claims);
  void Put(ResourceClaim claim);
  void RemoveClaim(const std::string& uid);
  void Replace(std::vector<ResourceSlice> slices);
  void Put(ResourceSlice slice);
  void RemoveSlice(const std::string& name);
  void Replace(std::vector<DeviceClass> classes);
  void Put(DeviceClass device_class);
  void RemoveClass(const std::string& name);

  // How many objects of each kind are known.
  struct Counts {
    size_t claims = 0;
    size_t slices = 0;
    size_t classes = 0;
  };
  Counts counts() const { return {claims_.size(), slice_pools_.size(), classes_.size()}; }

  // Returns the node with the GPUs that its slices offer. `node`: as the watch reported it, or as
  // this function last returned it.
  Node Counted(Node node);
  void ForgetNode(const std::string& name) { as_reported_.erase(name); }

  // Returns the pod with the GPUs of its claims, and records that it uses them. `pod`: as reported.
  Pod Observe(Pod pod);
  void ForgetPod(const std::string& uid);
  // Does the same without a record, for a pod in a request. A unit that has no devices yet counts
  // for each pod that asks for a place, unless it is counted for a pod with a node: kube-scheduler
  // gives it to the pod that it places first. In a gang it counts for one member, as in its plan.
  Pod Counted(Pod pod) const;

  // Return the nodes (their names) or the pods (as reported) that reports have changed since the
  // last call.
  std::set<std::string> TakeNodes() { return std::exchange(changed_nodes_, {}); }
  std::vector<Pod> TakePods();

 private:
  // GPUs by the key of a unit. A unit is a device or the requests of a claim, and counts as a
  // whole.
  using Units = std::map<std::string, Gpus>;
  using Place = std::pair<bool, std::string>;  // of a user: whether it has no node, then its uid
  struct User {
    std::shared_ptr<const Pod> reported;
    std::set<std::string> units;
  };
  using Slices = std::map<std::string, ResourceSlice>;  // by name

  // Returns whether `device` is a GPU that a pod on `node` can have. `node`: empty for any node.
  bool IsGpuOn(const AllocatedDevice& device, const std::string& node) const;
  // Returns whether requests of the GPU resource get devices of a GPU class.
  bool TakesRequests() const;
  Units UnitsOf(const Pod& pod, const std::vector<std::string>& claims) const;
  // Returns those of the pod's claims that do not have too many users.
  std::vector<std::string> ClaimsToCount(const Pod& pod) const;
  // The users that may come before a pod.
  enum class Rivals { kPlaced, kAll };
  // Returns the units that have no earlier user.
  Units UnitsOfFirst(const Pod& pod, Units units, Rivals rivals) const;
  // Returns the pod with these units. `why`: the value for why_left_alone.
  Pod WithUnits(Pod pod, const Units& units, std::string why) const;
  std::string WhyLeftAlone(const Pod& pod, const Units& units) const;
  void Use(const std::string& unit, const Place& user);
  void StopUsing(const std::string& unit, const Place& user);
  void Remove(const std::string& claim);
  // Call it before and after a change of the pool's slices.
  void UnlistNodes(const std::string& pool);
  void ListNodes(const std::string& pool);
  void MarkUsers(const std::string& claim);
  template <class Change>
  void ChangeClasses(Change change);

  DeviceRules rules_;
  std::map<std::string, ResourceClaim> claims_;               // by namespace/name
  std::map<std::string, std::string> claim_keys_;             // by uid
  std::map<std::string, std::set<std::string>> named_by_;     // uids of pods by namespace/name
  std::map<std::string, std::set<std::string>> pool_claims_;  // namespace/name by driver/pool
  std::map<std::string, User> users_;                         // by the pod's uid
  std::map<std::string, std::set<Place>> units_;              // the users of each unit
  std::map<std::string, Slices> pools_;                       // by driver/pool
  std::map<std::string, std::string> slice_pools_;            // driver/pool by the slice's name
  std::map<std::string, std::set<std::string>> node_pools_;   // driver/pool by node
  std::map<std::string, DeviceClass> classes_;
  std::map<std::string, GpuKinds> as_reported_;  // nodes that have GPUs by slices, as reported
  std::set<std::string> changed_nodes_;
  std::set<std::string> changed_pods_;
};

}  // namespace synergy
