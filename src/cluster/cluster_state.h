#pragma once

// The one mutable copy of the cluster: what the watches report, plus what we have decided and the
// API server has not told us back yet. Decisions read Snapshot().
//
// Where a pod's share is counted (the pod's record):
//
//              Expect                Assume                  watch: pod on a node
//    (none) ----------> expected ----------> assumed ---------------------------> bound
//       ^                  |                    |                                   |
//       +------------------+--------------------+-----------------------------------+
//           expiry              Forget                  watch: pod gone or terminal
//
// Expected: our ranking has said which node the pod will go to and kube-scheduler has taken it at
// its word (it assumes the pod before it calls bind), so the next pod's ranking counts it there
// already; or the tuner keeps a place for it (Waiting::hold), which lasts until the pod says
// otherwise, and which nobody else's bind can take. Assumed: we are binding it. Bound: the API
// server says so, which overrides all else.
//
// Threading: every member function may be called from any thread; none blocks on I/O.
// Ownership: snapshots are shared and immutable. Failures: none but the outcomes described.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster_snapshot.h"
#include "cluster/disruption_budget.h"
#include "cluster/fit.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

// Whether a pod was given its place.
struct AssumeOutcome {
  bool assumed = false;
  FitFailures failures;                 // why not
  std::optional<std::string> bound_to;  // the node it is on already
};

struct AssumedPod {
  std::shared_ptr<const Pod> pod;  // as last seen; its `node` is where we put it
  Instant deadline;
};

class ClusterState {
 public:
  ClusterState();
  ~ClusterState();
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // What the watches report. Replace* takes the whole truth: what is not in it is gone.
  void ReplaceNodes(std::vector<Node> nodes);
  void UpsertNode(Node node);
  void RemoveNode(const std::string& name);
  void ReplacePods(std::vector<Pod> pods);
  void UpsertPod(Pod pod);
  void RemovePod(const std::string& uid);
  // What the API server has answered about a single pod. Without effect where the watch was faster
  // than the answer: on a pod that is not known any more, and on one that is known as it was later.
  void RefreshPod(Pod pod);
  void ReplaceDisruptionBudgets(std::vector<DisruptionBudget> budgets);
  void UpsertDisruptionBudget(DisruptionBudget budget);
  void RemoveDisruptionBudget(const std::string& uid);

  // Counts `pod` on `node` until `deadline`, unless it is bound or assumed already.
  void Expect(const Pod& pod, NodeIndex node, Instant deadline);
  // Where the pod is expected or assumed. Whoever places it anew has to think that share away
  // (WithoutPod).
  struct Hold {
    NodeIndex node;
    std::shared_ptr<const Pod> pod;
  };
  std::optional<Hold> FindHold(const std::string& uid) const;

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
  // Gives an assumed pod until `deadline`.
  void Extend(const std::string& uid, Instant deadline);
  // Drops expectations past their deadline, which cost nothing but a worse ranking, and places that
  // were to be kept until before `wall`. To be called every second or so.
  void DropStaleExpectations(Instant now, WallTime wall);

  // The pod as last seen by the watch, else as expected; null when unknown.
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  size_t assumed_pods() const;
  size_t known_pods() const;

  // The present state; the same pointer as long as nothing changes.
  std::shared_ptr<const ClusterSnapshot> Snapshot() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy
