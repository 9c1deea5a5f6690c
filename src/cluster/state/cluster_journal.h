#pragma once

// Records all changes of a ClusterState in order, so that a replay can follow what a program saw:
// applying the same changes to another ClusterState (ClusterState::Apply) gives the same snapshots
// and versions at every step.
//
// Threading: a ClusterState calls its journal under its mutex, so changes come one at a time. The
// journal must not call back, and should be fast. Ownership: changes are values.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cluster/devices/device_objects.h"
#include "cluster/disruption_budget.h"
#include "cluster/namespace_limits.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/pod_records.h"
#include "core/clock.h"

namespace synergy {

// Each struct represents a call of the ClusterState function with the same name, and its arguments.
namespace cluster_change {

struct ReplaceNodes {
  std::vector<Node> nodes;
};
struct UpsertNode {
  Node node;
};
struct RemoveNode {
  std::string name;
};
struct PutListedPods {
  std::vector<Pod> pods;
  uint64_t observed_until = 0;
};
struct UpsertPod {
  Pod pod;
};
struct RemovePod {
  std::string uid;
};
struct RefreshPod {
  Pod pod;
};
struct ReplaceDisruptionBudgets {
  std::vector<DisruptionBudget> budgets;
};
struct UpsertDisruptionBudget {
  DisruptionBudget budget;
};
struct RemoveDisruptionBudget {
  std::string uid;
};
struct ReplaceLimitRanges {
  std::vector<LimitRange> ranges;
};
struct UpsertLimitRange {
  LimitRange range;
};
struct RemoveLimitRange {
  std::string uid;
};
struct ReplaceResourceQuotas {
  std::vector<ResourceQuota> quotas;
};
struct UpsertResourceQuota {
  ResourceQuota quota;
};
struct RemoveResourceQuota {
  std::string uid;
};
struct Expect {
  Pod pod;
  NodeIndex node = 0;
  Instant deadline{};
};
struct Assume {
  Pod pod;
  std::string node;
  Instant deadline{};
  AssumeOutcome outcome;
};
struct Forget {
  std::string uid;
};
struct Reserve {
  std::vector<GangPlace> places;
  Instant deadline{};
  bool outcome = false;  // whether it was reserved
};
struct Release {
  std::vector<std::string> uids;
};
struct Extend {
  std::string uid;
  Instant deadline{};
};
struct DropStaleExpectations {
  Instant now{};
  WallTime wall{};
};
struct KeepNews {};
struct ReserveForReplacements {
  Duration hold{};
  Instant now{};
};
struct SettleReplacement {
  std::string uid;
  bool is_awaited = false;
};

struct CountDevices {
  DeviceRules rules;
};
struct ReplaceResourceClaims {
  std::vector<ResourceClaim> claims;
};
struct UpsertResourceClaim {
  ResourceClaim claim;
};
struct RemoveResourceClaim {
  std::string uid;
};
struct ReplaceResourceSlices {
  std::vector<ResourceSlice> slices;
};
struct UpsertResourceSlice {
  ResourceSlice slice;
};
struct RemoveResourceSlice {
  std::string name;
};
struct ReplaceDeviceClasses {
  std::vector<DeviceClass> classes;
};
struct UpsertDeviceClass {
  DeviceClass device_class;
};
struct RemoveDeviceClass {
  std::string name;
};

}  // namespace cluster_change

struct ClusterChange {
  std::variant<cluster_change::ReplaceNodes, cluster_change::UpsertNode, cluster_change::RemoveNode,
               cluster_change::PutListedPods, cluster_change::UpsertPod, cluster_change::RemovePod,
               cluster_change::RefreshPod, cluster_change::ReplaceDisruptionBudgets,
               cluster_change::UpsertDisruptionBudget, cluster_change::RemoveDisruptionBudget,
               cluster_change::ReplaceLimitRanges, cluster_change::UpsertLimitRange,
               cluster_change::RemoveLimitRange, cluster_change::ReplaceResourceQuotas,
               cluster_change::UpsertResourceQuota, cluster_change::RemoveResourceQuota,
               cluster_change::Expect, cluster_change::Assume, cluster_change::Forget,
               cluster_change::Extend, cluster_change::DropStaleExpectations,
               cluster_change::KeepNews, cluster_change::Reserve, cluster_change::Release,
               cluster_change::ReserveForReplacements, cluster_change::SettleReplacement,
               cluster_change::CountDevices, cluster_change::ReplaceResourceClaims,
               cluster_change::UpsertResourceClaim, cluster_change::RemoveResourceClaim,
               cluster_change::ReplaceResourceSlices, cluster_change::UpsertResourceSlice,
               cluster_change::RemoveResourceSlice, cluster_change::ReplaceDeviceClasses,
               cluster_change::UpsertDeviceClass, cluster_change::RemoveDeviceClass>
      call;
  uint64_t version = 0;  // of the cluster after the change
};

class ClusterJournal {
 public:
  virtual ~ClusterJournal() = default;
  virtual void Wrote(const ClusterChange& change) = 0;
};

}  // namespace synergy
