#pragma once

// The one mutable copy of the cluster: what the watches report, plus what we have decided and the
// API server has not told us back yet. Decisions read Snapshot().
//
// Where a pod's share is counted (its record in pod_records.h):
//
//               Expect              Assume               watch: pod on a node
//    (none) -----------> expected ---------> assumed ------------------------> bound
//      |                                        ^
//      | watch: kept_node                       | Assume
//      +-------------------> kept --------------+
//      | Hold                                   | Assume
//      +-------------------> held --------------+
//
// Back to held where a place is held, else to kept where the pod still names a kept place, else to
// (none): an expectation at its deadline or in the way of another pod's Assume, and an assumed pod
// at Forget. Back to kept or (none): a held place at its deadline or at Release. Back to (none): a
// kept place at kept_until or when the pod names none, and every pod that is gone or terminal. From
// everywhere to bound: the watch, which overrides all else.
//
// Expected: our ranking has said which node the pod will go to and kube-scheduler has taken it at
// its word (it assumes the pod before it calls bind), so the next pod's ranking counts it there
// already. Kept: the tuner keeps a place for it (Waiting::kept_node), which nobody else's bind can
// take. Held: a gang has its places, all of them (Hold), and nobody else's bind can take one.
// Assumed: we are binding it. Bound: the API server says so.
//
// Threading: every member function may be called from any thread; none blocks on I/O.
// Ownership: snapshots are shared and immutable. Failures: none but the outcomes described.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/disruption_budget.h"
#include "cluster/namespace_limits.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/node_ledger.h"
#include "cluster/state/pod_records.h"
#include "core/clock.h"

namespace synergy {

class ClusterJournal;
struct ClusterChange;

// A snapshot, and what was heard of pods between the one before and it, in order.
struct ClusterNews {
  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::vector<PodNews> pods;
};

class ClusterState {
 public:
  ClusterState() = default;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // What the watches report. Replace* takes the whole truth: what is not in it is gone. That of
  // pods may be large, and is taken in parts (pod_list.h), each with PutListedPods.
  void ReplaceNodes(std::vector<Node> nodes);
  void UpsertNode(Node node);
  void RemoveNode(const std::string& name);
  void ReplacePods(std::vector<Pod> pods);
  void PutListedPods(std::vector<Pod> pods, uint64_t heard_until);
  void UpsertPod(Pod pod);
  void RemovePod(const std::string& uid);
  // What the API server has answered about a single pod. Without effect where the watch was faster
  // than the answer: on a pod that is not known any more, and on one that is known as it was later.
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

  // Counts `pod` on `node` until `deadline`, unless it is bound or assumed already, or has a place
  // that is kept for it.
  void Expect(const Pod& pod, NodeIndex node, Instant deadline);
  // Where the pod is expected, kept a place for, or assumed. Whoever places it anew has to think
  // that share away (WithoutPod).
  std::optional<Placement> FindPlacement(const std::string& uid) const;

  // Counts the pod on `node` if it fits there now: of two pods racing for the last place exactly
  // one gets it. Expectations of other pods that are in the way are dropped. A pod that is assumed
  // already moves; where it does not fit it stays assumed at its former place, because a Binding
  // may be on its way there. `deadline`: when Expired() begins to name it.
  AssumeOutcome Assume(const Pod& pod, const std::string& node, Instant deadline);
  // The pod was not bound after all. Without effect once the API server says that it is.
  void Forget(const std::string& uid);
  // Assumed pods past their deadline. They stay assumed: only somebody who has asked the API server
  // may Forget them.
  std::vector<AssumedPod> Expired(Instant now) const;
  // Assumed pods, and those with a kept or held place. Not those that are merely expected.
  std::vector<HeldPlace> HeldPlaces() const;
  // Holds these places for members of a gang, all or none, until `deadline` at most: none where one
  // does not fit there now, or one of the pods is not known, bound or assumed. Places that were
  // held for them before are given back.
  bool Hold(const std::vector<GangPlace>& places, Instant deadline);
  // Gives back what is held for these pods.
  void Release(const std::vector<std::string>& uids);
  // From now on the place of a GPU pod that is gone is held for the pod that replaces it, for
  // `hold` at most, where others of its gang run (vacant_places.h). Hold() gives it to the
  // replacement. Zero, as at the start: none is held.
  void HoldVacated(Duration hold);
  // Somebody has asked the API server about a pod that left its place: another one will come for
  // it (`is_awaited`), or it has done its work, and nothing is held for it.
  void SettleVacant(const std::string& uid, bool is_awaited);
  std::vector<VacantPlace> VacantPlaces() const;
  std::vector<VacantPlace> VacantPlacesOf(const std::string& gang) const;
  // The members of the gang of that name (gang.h) that have no scheduling gates, by uid.
  std::vector<GangMember> GangMembers(const std::string& gang) const;
  // Gives an assumed pod until `deadline`.
  void Extend(const std::string& uid, Instant deadline);
  // Drops expectations past their deadline, which cost nothing but a worse ranking, and places that
  // were to be kept until `wall`, or held until `now`, or before. To be called every second or so.
  void DropStaleExpectations(Instant now, WallTime wall);

  // The pod as last seen by the watch, else as expected; null when unknown.
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  // As last seen: GPU pods that have no node, are not about to go and have no scheduling gates.
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;
  size_t assumed_pods() const;
  size_t known_pods() const;

  // Grows with every change; that of the next snapshot.
  uint64_t version() const;
  // The present state; the same pointer as long as nothing changes.
  std::shared_ptr<const ClusterSnapshot> Snapshot() const;

  // From now on what is heard of pods is kept for TakeNews, which one owner calls. The first news
  // are all the pods that are known.
  void KeepNews();
  ClusterNews TakeNews();
  // They are kept no more.
  void DropNews();

  // Tells `journal` of every call above that may change something, whether it did or not. To be
  // called once, before the others; `journal` outlives them.
  void SetJournal(ClusterJournal* journal);

 private:
  friend class PodList;

  // Whoever waits is the next: one that takes the mutex again and again does not pass it by.
  std::unique_lock<std::mutex> Lock() const;
  // Under the mutex:
  void PutListed(std::vector<Pod> pods, uint64_t heard_until);
  void Remove(const std::string& uid);
  // Calls make(), and tells the journal what describe() says it is.
  template <class Describe, class Make>
  void Change(Describe describe, Make make);
  template <class Describe, class Make>
  void ChangeHeld(Describe describe, Make make);  // under the mutex
  // To be called after every change, with what the journal is to be told; none without a journal.
  void Made(std::optional<ClusterChange>& written);
  void SetBudgets(std::vector<DisruptionBudget> budgets);
  // Calls change(limits), which returns whether it has changed any.
  template <class ChangeThem>
  void ChangeLimits(ChangeThem change);
  std::shared_ptr<const ClusterSnapshot> MakeSnapshot() const;

  mutable std::mutex turn_;   // to wait for the other
  mutable std::mutex mutex_;  // held for short and bounded work only
  ClusterVersion version_;
  mutable NodeLedger nodes_{version_};         // mutable: a snapshot shares it
  mutable PodRecords pods_{nodes_, version_};  // mutable: likewise
  std::shared_ptr<const std::vector<DisruptionBudget>> budgets_ =
      std::make_shared<const std::vector<DisruptionBudget>>();
  std::shared_ptr<const NamespaceLimits> limits_ = std::make_shared<const NamespaceLimits>();
  // As long as nothing changes.
  mutable std::shared_ptr<const ClusterSnapshot> snapshot_;
  ClusterJournal* journal_ = nullptr;
};

}  // namespace synergy
