#pragma once

// The one mutable copy of the cluster: what the watches report, plus our own decisions that the API
// server has not reported back yet. Decisions read Snapshot().
//
// Where a pod's share is counted (its record in pod_records.h):
//
//               Expect              Assume               watch: pod on a node
//    (none) -----------> expected ---------> assumed ------------------------> bound
//      |                                        ^
//      | watch: kept_node, Reserve              | Assume
//      +------------------> reserved -----------+
//
// Back to reserved if the pod has a reservation (that of its gang comes before the tuner's),
// otherwise to (none): an expectation at its deadline or in the way of another pod's Assume, and an
// assumed pod at Forget. Back to (none): a reservation of the tuner at kept_until or when the pod
// names none, one of a gang at its deadline or at Release, and every pod that is gone or terminal.
// From everywhere to bound: the watch, which overrides everything else.
//
// Expected: our ranking has recommended a node, and kube-scheduler has followed it (it assumes the
// pod before it calls bind), so the next pod's ranking already counts it there. Reserved
// (reservation.h): the tuner has a place for it, or its gang has all its places; no other pod's
// bind can take it. Assumed: we are binding it. Bound: the API server has reported it.
//
// Threading: every member function may be called from any thread; none blocks on I/O. Ownership:
// snapshots are shared and immutable. Failures: none but the outcomes described.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/devices/device_catalog.h"
#include "cluster/disruption_budget.h"
#include "cluster/namespace_limits.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_journal.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/node_ledger.h"
#include "cluster/state/pod_records.h"
#include "cluster/state/reservation.h"
#include "core/clock.h"
#include "core/result.h"

namespace synergy {

// A snapshot, and the news of pods between the previous one and this, in order.
struct ClusterNews {
  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::vector<PodNews> pods;
};

class ClusterState {
 public:
  ClusterState() = default;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // Reports of the watches. Replace* takes the complete list: what is not in it is gone. The list
  // of pods may be large, and is taken in parts (pod_list.h), each with PutListedPods.
  void ReplaceNodes(std::vector<Node> nodes);
  void UpsertNode(Node node);
  void RemoveNode(const std::string& name);
  void ReplacePods(std::vector<Pod> pods);
  void PutListedPods(std::vector<Pod> pods, uint64_t observed_until);
  void UpsertPod(Pod pod);
  void RemovePod(const std::string& uid);
  // An answer of the API server about a single pod. Ignored if the watch was faster: if the pod is
  // no longer known, or known in a later state.
  void RefreshPod(Pod pod);
  void ReplaceDisruptionBudgets(std::vector<DisruptionBudget> budgets);
  void UpsertDisruptionBudget(DisruptionBudget budget);
  void RemoveDisruptionBudget(const std::string& uid);
  void ReplaceLimitRanges(std::vector<LimitRange> ranges);
  void UpsertLimitRange(LimitRange range);
  void RemoveLimitRange(const std::string& uid);
  void ReplaceResourceQuotas(std::vector<ResourceQuota> quotas);
  void UpsertResourceQuota(ResourceQuota quota);
  void RemoveResourceQuota(const std::string& uid);

  // From now on counts GPUs by ResourceClaims and ResourceSlices (devices/device_catalog.h). Call
  // it once, before the reports of the watches.
  void CountDevices(DeviceRules rules);
  void ReplaceResourceClaims(std::vector<ResourceClaim> claims);
  void UpsertResourceClaim(ResourceClaim claim);
  void RemoveResourceClaim(const std::string& uid);
  void ReplaceResourceSlices(std::vector<ResourceSlice> slices);
  void UpsertResourceSlice(ResourceSlice slice);
  void RemoveResourceSlice(const std::string& name);
  void ReplaceDeviceClasses(std::vector<DeviceClass> classes);
  void UpsertDeviceClass(DeviceClass device_class);
  void RemoveDeviceClass(const std::string& name);
  // Returns a pod of a request with its GPUs by claims. Reports of the watches need no such call.
  Pod WithDevices(Pod pod) const;

  // Counts `pod` on `node` until `deadline`, unless it is bound or assumed already, or has a
  // reservation.
  void Expect(const Pod& pod, NodeIndex node, Instant deadline);
  // Returns where the pod is expected, reserved or assumed. A caller that places the pod again must
  // ignore that share (WithoutPod).
  std::optional<Placement> FindPlacement(const std::string& uid) const;

  // Counts the pod on `node` if it fits there now: if two pods race for the last place, exactly one
  // gets it. Expectations of other pods that are in the way are dropped. A pod that is already
  // assumed moves; if it does not fit, it stays assumed at its former place, because a Binding may
  // be under way. `deadline`: the time from which Expired() returns it.
  AssumeOutcome Assume(const Pod& pod, const std::string& node, Instant deadline);
  // Records that the pod was not bound after all. Ignored once the API server has reported it as
  // bound.
  void Forget(const std::string& uid);
  // Returns assumed pods past their deadline. They stay assumed: Forget them only after a request
  // to the API server.
  std::vector<AssumedPod> Expired(Instant now) const;
  std::vector<Reservation> Reservations(ReservationKind kind) const;
  // Reserves these places for members of a gang until `deadline` at most, all or none: none if one
  // does not fit there now, or one of the pods is unknown, bound or assumed. Releases their earlier
  // reservations.
  bool Reserve(const std::vector<GangPlace>& places, Instant deadline);
  // Releases the reservations of these members.
  void Release(const std::vector<std::string>& uids);
  // From `now` on reserves the place of a GPU pod that is gone for its replacement, for at most
  // `hold`, if others of its gang run (replacements.h). Reserve() gives it to the replacement.
  // Zero, the default: reserves none.
  void ReserveForReplacements(Duration hold, Instant now);
  // Records the API server's answer about a pod that left its place. `is_awaited`: a replacement
  // will come. Otherwise the pod has completed, and its place is released.
  void SettleReplacement(const std::string& uid, bool is_awaited);
  // The reservations of kind kReplacement for one gang.
  std::vector<Reservation> ReplacementsOf(const std::string& gang) const;
  // Returns the members of the gang (gang.h) without scheduling gates, by uid.
  std::vector<GangMember> GangMembers(const std::string& gang) const;
  // Extends the deadline of an assumed pod.
  void Extend(const std::string& uid, Instant deadline);
  // Drops expectations past their deadline (their only harm is a worse ranking), the tuner's
  // reservations until `wall` or earlier, and all others until `now` or earlier. Call it about once
  // a second.
  void DropStaleExpectations(Instant now, WallTime wall);

  // Makes the call that the change describes: one of those above, or KeepNews(). Returns kConflict,
  // with the call made, if its outcome or version is different: this state is not the one for which
  // the journal was written.
  Result<> Apply(const ClusterChange& change);

  // Returns the pod as last seen by the watch, otherwise as expected; null if unknown.
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  // Returns GPU pods as last seen that have no node, no scheduling gates, and are not being
  // deleted.
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;
  // The same for pods with slices of GPUs, and no whole ones.
  std::vector<std::shared_ptr<const Pod>> WaitingSharers() const;
  size_t assumed_pods() const;
  size_t known_pods() const;
  DeviceCatalog::Counts known_devices() const;

  // The version of the next snapshot. Grows with every change.
  uint64_t version() const;
  // Returns the present state; the same pointer while nothing changes.
  std::shared_ptr<const ClusterSnapshot> Snapshot() const;

  // From now on keeps news of pods for TakeNews, which one owner calls. The first news are all
  // known pods.
  void KeepNews();
  ClusterNews TakeNews();
  // Stops keeping news.
  void DropNews();

  // Reports to `journal` every call above that may change something, whether it did or not. Call it
  // once, before the others; `journal` outlives them.
  void SetJournal(ClusterJournal* journal);

 private:
  friend class PodList;

  // Fair: a thread that waits is next, even if another one takes the mutex again and again.
  std::unique_lock<std::mutex> Lock() const;
  struct Maker;
  // Makes a change and reports it to the journal. Returns its outcome, if it has one.
  template <class Call>
  auto Make(Call call);
  // Under the mutex:
  template <class Call>
  auto MakeLocked(Call call);
  void PutListed(std::vector<Pod> pods, uint64_t observed_until);
  void Remove(const std::string& uid);
  // Call it after every change, with the change for the journal; nullopt without a journal.
  void Made(std::optional<ClusterChange>& written);
  std::shared_ptr<const ClusterSnapshot> MakeSnapshot() const;

  mutable std::mutex turn_;   // for the next thread to wait in
  mutable std::mutex mutex_;  // held for short and bounded work only
  ClusterVersion version_;
  mutable NodeLedger nodes_{version_};  // mutable: a snapshot shares it
  DeviceCatalog devices_;
  mutable PodRecords pods_{nodes_, devices_, version_};  // mutable for the same reason
  std::shared_ptr<const std::vector<DisruptionBudget>> budgets_ =
      std::make_shared<const std::vector<DisruptionBudget>>();
  std::shared_ptr<const NamespaceLimits> limits_ = std::make_shared<const NamespaceLimits>();
  // Valid while nothing changes.
  mutable std::shared_ptr<const ClusterSnapshot> snapshot_;
  ClusterJournal* journal_ = nullptr;
};

}  // namespace synergy
