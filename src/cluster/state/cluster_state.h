#pragma once

// The one mutable copy of the cluster: the reports of the watches, plus Synergy's own decisions
// that the API server has not reported yet. Decisions read Snapshot().
//
// Where a pod's share is counted (its record in pod_records.h):
//
//               Expect              Assume               watch: pod on a node
//    (none) -----------> expected ---------> assumed ------------------------> bound
//      |                                        ^
//      | watch: kept_node, Reserve              | Assume
//      +------------------> reserved -----------+
//
// An expectation ends at its deadline, when it blocks another pod's Assume, or when the pod's own
// Assume fails. An assumption ends at Forget. In both cases, the pod goes back to reserved if it
// has a reservation (its gang's before the tuner's), and otherwise to (none). A reservation of the
// tuner ends at kept_until, at ReleaseKept, or when the pod no longer names it. A gang's
// reservation ends at its deadline or at Release. A pod whose reservation ends goes to (none), and
// so does a pod that is gone or terminal. The watch moves a pod from any state to bound, and
// overrides everything else.
//
// Expected: the extender's ranking has recommended a node, which kube-scheduler normally chooses
// before it calls bind. So the next pod's ranking already counts the pod there. Reserved
// (reservation.h): the tuner keeps a place for the pod, or its gang has all its places. No other
// pod's bind can take the place. Assumed: the extender is binding the pod. Bound: the API server
// has reported the pod on a node.
//
// Threading: every member function may be called from any thread; none blocks on I/O. Ownership:
// snapshots are shared and immutable. Failures: none, apart from the outcomes described.

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

// A snapshot, and the news about pods since the previous one, in order.
struct ClusterNews {
  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::vector<PodNews> pods;
};

class ClusterState {
 public:
  ClusterState() = default;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // Apply the reports of the watches. Replace* takes the complete list: objects that are not in it
  // are gone. A list of pods may be large, so PodList (pod_list.h) applies it in parts with
  // PutListedPods.
  void ReplaceNodes(std::vector<Node> nodes);
  void UpsertNode(Node node);
  void RemoveNode(const std::string& name);
  void ReplacePods(std::vector<Pod> pods);
  void PutListedPods(std::vector<Pod> pods, uint64_t observed_until);
  void UpsertPod(Pod pod);
  void RemovePod(const std::string& uid);
  // Applies the API server's answer about a single pod, unless the watch has reported a later
  // state. For a pod that is gone, records only whether its node could not align it with NUMA
  // nodes.
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

  // Starts to count GPUs through ResourceClaims and ResourceSlices (devices/device_catalog.h). Call
  // it once, before the watches report.
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
  // Returns a pod from a request with the GPUs of its claims. The functions for the watches add
  // these GPUs themselves.
  Pod WithDevices(Pod pod) const;

  // Counts `pod` on `node` until `deadline`, unless it is already bound or assumed, or has a
  // reservation.
  void Expect(const Pod& pod, NodeIndex node, Instant deadline);
  // Returns where the pod is expected, reserved or assumed. A caller that places the pod again must
  // ignore that share (WithoutPod).
  std::optional<Placement> FindPlacement(const std::string& uid) const;

  // Counts the pod on `node` if it fits there now: if two pods race for the last place, exactly one
  // gets it. Drops expectations of other pods that block it. A pod that is already assumed moves;
  // if it does not fit, it stays assumed at its former place, because a Binding may be in progress.
  // `deadline`: the time after which Expired() returns the pod.
  AssumeOutcome Assume(const Pod& pod, const std::string& node, Instant deadline);
  // Records that the pod's bind failed. Does nothing if the API server has reported the pod as
  // bound.
  void Forget(const std::string& uid);
  // Returns assumed pods past their deadline. They stay assumed. Call Forget only after the API
  // server has confirmed that the pod is not bound.
  std::vector<AssumedPod> Expired(Instant now) const;
  std::vector<Reservation> Reservations(ReservationKind kind) const;
  // Reserves all these places for members of a gang, at most until `deadline`, and releases the
  // members' earlier reservations. Returns false and reserves none if a member does not fit now, or
  // is unknown, bound or assumed.
  bool Reserve(const std::vector<GangPlace>& places, Instant deadline);
  // Releases the reservations of these members.
  void Release(const std::vector<std::string>& uids);
  // Releases the places that the tuner keeps for these pods. A place counts again once the tuner
  // has moved or renewed it.
  void ReleaseKept(const std::vector<std::string>& uids);
  // From `now` on, reserves the place of a gone GPU pod for its replacement for at most `hold`, if
  // other pods of its gang run (replacements.h). Reserve() gives the place to the replacement. A
  // `hold` of zero, the default, reserves no places.
  void ReserveForReplacements(Duration hold, Instant now);
  // Records the API server's answer about a pod that left its place. `is_awaited`: a replacement
  // will come. If not, the pod has completed, and its place is released.
  void SettleReplacement(const std::string& uid, bool is_awaited);
  // Returns the reservations of kind kReplacement for one gang.
  std::vector<Reservation> ReplacementsOf(const std::string& gang) const;
  // Records how many members of the gang have Succeeded, for GangSites, until its last living pod
  // is gone: the watches report only living pods.
  void NoteSucceeded(const std::string& gang, size_t members);
  // Returns the members of the gang (gang.h) without scheduling gates, by uid.
  std::vector<GangMember> GangMembers(const std::string& gang) const;
  // Extends the deadline of an assumed pod.
  void Extend(const std::string& uid, Instant deadline);
  // Drops expired expectations, reservations and misalignments. Reservations of the tuner and
  // misalignments expire at `wall`; expectations and other reservations at `now`. Call it about
  // once a second.
  void DropStaleExpectations(Instant now, WallTime wall);

  // Makes the call that the change describes. Returns kConflict if the outcome or the version
  // differs from the recorded one, so that the journal belongs to another state.
  Result<> Apply(const ClusterChange& change);

  // Returns the pod as last reported by the watch, or else as expected; null if unknown.
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  // Returns the GPU pods that have no node and no scheduling gates and are not being deleted, as
  // last reported by the watch.
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;
  // Returns such pods that request slices of GPUs, and no whole GPUs.
  std::vector<std::shared_ptr<const Pod>> WaitingSharers() const;
  size_t assumed_pods() const;
  size_t known_pods() const;
  DeviceCatalog::Counts known_devices() const;

  // The version of the next snapshot. Grows with every change.
  uint64_t version() const;
  // Returns the present state; the same pointer while nothing changes.
  std::shared_ptr<const ClusterSnapshot> Snapshot() const;

  // Starts to collect news of pods for TakeNews. Only one owner may call TakeNews. The first news
  // contain all known pods.
  void KeepNews();
  ClusterNews TakeNews();
  // Stops collecting news.
  void DropNews();

  // Reports to `journal` every call above that may change something, whether it does or not. Call
  // SetJournal once, before any other function. `journal` must outlive this object.
  void SetJournal(ClusterJournal* journal);

 private:
  friend class PodList;

  // Locks the mutex. The lock is fair: a waiting thread is next, even if another thread locks the
  // mutex repeatedly.
  std::unique_lock<std::mutex> Lock() const;
  struct Maker;
  // Applies a change and reports it to the journal. Returns the change's outcome, if it has one.
  template <class Call>
  auto Make(Call call);
  // Call these under the mutex:
  template <class Call>
  auto MakeLocked(Call call);
  void PutListed(std::vector<Pod> pods, uint64_t observed_until);
  void Remove(const std::string& uid);
  // Call it after every change, with the change for the journal, or nullopt without a journal.
  void Made(std::optional<ClusterChange>& written);
  std::shared_ptr<const ClusterSnapshot> MakeSnapshot() const;

  mutable std::mutex turn_;   // where the next thread waits
  mutable std::mutex mutex_;  // held for short and bounded work only
  ClusterVersion version_;
  mutable NodeLedger nodes_{version_};  // mutable: a snapshot shares it
  DeviceCatalog devices_;
  mutable PodRecords pods_{nodes_, devices_, version_};  // mutable: as nodes_
  std::shared_ptr<const std::vector<DisruptionBudget>> budgets_ =
      std::make_shared<const std::vector<DisruptionBudget>>();
  std::shared_ptr<const NamespaceLimits> limits_ = std::make_shared<const NamespaceLimits>();
  // Valid until the next change.
  mutable std::shared_ptr<const ClusterSnapshot> snapshot_;
  ClusterJournal* journal_ = nullptr;
};

}  // namespace synergy
