#pragma once

// Records all changes of a ClusterState in order, so that a run can be replayed. The same changes
// applied to another ClusterState (ClusterState::Apply) give the same snapshots and versions at
// every step.
//
// Threading: a ClusterState calls its journal under its mutex, so changes come one at a time. The
// journal must not call the ClusterState, and should be fast. Ownership: changes are values.

#include <cstdint>
#include <string>
#include <string_view>
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

// Each struct represents a call of the ClusterState function with the same name, and holds its
// arguments. kName identifies the function in files.
namespace cluster_change {

struct ReplaceNodes {
  static constexpr std::string_view kName = "ReplaceNodes";
  std::vector<Node> nodes;
};
struct UpsertNode {
  static constexpr std::string_view kName = "UpsertNode";
  Node node;
};
struct RemoveNode {
  static constexpr std::string_view kName = "RemoveNode";
  std::string name;
};
struct PutListedPods {
  static constexpr std::string_view kName = "PutListedPods";
  std::vector<Pod> pods;
  uint64_t observed_until = 0;
};
struct UpsertPod {
  static constexpr std::string_view kName = "UpsertPod";
  Pod pod;
};
struct RemovePod {
  static constexpr std::string_view kName = "RemovePod";
  std::string uid;
};
struct RefreshPod {
  static constexpr std::string_view kName = "RefreshPod";
  Pod pod;
};
struct ReplaceDisruptionBudgets {
  static constexpr std::string_view kName = "ReplaceDisruptionBudgets";
  std::vector<DisruptionBudget> budgets;
};
struct UpsertDisruptionBudget {
  static constexpr std::string_view kName = "UpsertDisruptionBudget";
  DisruptionBudget budget;
};
struct RemoveDisruptionBudget {
  static constexpr std::string_view kName = "RemoveDisruptionBudget";
  std::string uid;
};
struct ReplaceLimitRanges {
  static constexpr std::string_view kName = "ReplaceLimitRanges";
  std::vector<LimitRange> ranges;
};
struct UpsertLimitRange {
  static constexpr std::string_view kName = "UpsertLimitRange";
  LimitRange range;
};
struct RemoveLimitRange {
  static constexpr std::string_view kName = "RemoveLimitRange";
  std::string uid;
};
struct ReplaceResourceQuotas {
  static constexpr std::string_view kName = "ReplaceResourceQuotas";
  std::vector<ResourceQuota> quotas;
};
struct UpsertResourceQuota {
  static constexpr std::string_view kName = "UpsertResourceQuota";
  ResourceQuota quota;
};
struct RemoveResourceQuota {
  static constexpr std::string_view kName = "RemoveResourceQuota";
  std::string uid;
};
struct Expect {
  static constexpr std::string_view kName = "Expect";
  Pod pod;
  NodeIndex node = 0;
  Instant deadline{};
};
struct Assume {
  static constexpr std::string_view kName = "Assume";
  Pod pod;
  std::string node;
  Instant deadline{};
  AssumeOutcome outcome;
};
struct Forget {
  static constexpr std::string_view kName = "Forget";
  std::string uid;
};
struct Reserve {
  static constexpr std::string_view kName = "Hold";
  std::vector<GangPlace> places;
  Instant deadline{};
  bool outcome = false;  // whether it was reserved
};
struct Release {
  static constexpr std::string_view kName = "Release";
  std::vector<std::string> uids;
};
struct ReleaseKept {
  static constexpr std::string_view kName = "ReleaseKept";
  std::vector<std::string> uids;
};
struct NoteSucceeded {
  static constexpr std::string_view kName = "NoteSucceeded";
  std::string gang;
  size_t members = 0;
};
struct Extend {
  static constexpr std::string_view kName = "Extend";
  std::string uid;
  Instant deadline{};
};
struct DropStaleExpectations {
  static constexpr std::string_view kName = "DropStaleExpectations";
  Instant now{};
  WallTime wall{};
};
struct KeepNews {
  static constexpr std::string_view kName = "KeepNews";
};
struct ReserveForReplacements {
  static constexpr std::string_view kName = "HoldVacated";
  Duration hold{};
  Instant now{};
};
struct SettleReplacement {
  static constexpr std::string_view kName = "SettleVacant";
  std::string uid;
  bool is_awaited = false;
};

struct CountDevices {
  static constexpr std::string_view kName = "CountDevices";
  DeviceRules rules;
};
struct ReplaceResourceClaims {
  static constexpr std::string_view kName = "ReplaceResourceClaims";
  std::vector<ResourceClaim> claims;
};
struct UpsertResourceClaim {
  static constexpr std::string_view kName = "UpsertResourceClaim";
  ResourceClaim claim;
};
struct RemoveResourceClaim {
  static constexpr std::string_view kName = "RemoveResourceClaim";
  std::string uid;
};
struct ReplaceResourceSlices {
  static constexpr std::string_view kName = "ReplaceResourceSlices";
  std::vector<ResourceSlice> slices;
};
struct UpsertResourceSlice {
  static constexpr std::string_view kName = "UpsertResourceSlice";
  ResourceSlice slice;
};
struct RemoveResourceSlice {
  static constexpr std::string_view kName = "RemoveResourceSlice";
  std::string name;
};
struct ReplaceDeviceClasses {
  static constexpr std::string_view kName = "ReplaceDeviceClasses";
  std::vector<DeviceClass> classes;
};
struct UpsertDeviceClass {
  static constexpr std::string_view kName = "UpsertDeviceClass";
  DeviceClass device_class;
};
struct RemoveDeviceClass {
  static constexpr std::string_view kName = "RemoveDeviceClass";
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
               cluster_change::ReleaseKept, cluster_change::NoteSucceeded,
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
