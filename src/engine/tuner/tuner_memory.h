#pragma once

// The state that the tuner keeps between decisions.
//
// After a restart (StartOver of tuner.h), the tuner learns from the pods which of them wait and
// which changes are unfinished. It does not recover
//
//   * a waiting pod's attempts, reminders and refusing nodes
//   * a pod's exact waiting time, which decides among waiting pods of equal priority
//   * the changes that a kubelet cannot make, and the growth that failed in this round
//   * the notices that were sent; they are sent again
//
// Threading: values; one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/labels.h"
#include "cluster/managed_container.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/tuner/tuner_actions.h"

namespace synergy {

// The properties of a node by which the tuner notices that the node has changed.
struct NodeMark {
  Labels labels;
  std::vector<Taint> taints;
  ResourceVector allocatable;
  bool unschedulable = false;
  std::string boot_id;

  static NodeMark Of(const NodeState& node) {
    return {node.detail->labels, node.detail->taints, node.allocatable, node.unschedulable,
            node.detail->boot_id};
  }
  bool operator==(const NodeMark&) const = default;
};

// How long a pod's GPUs and CPU have been idle, as the node agent reports.
struct IdlePod {
  std::string node;
  Duration idle{};
  MilliCpu most_cpu;  // the most that it used in that time
  Instant reported{};

  bool operator==(const IdlePod&) const = default;
};

// A change of a pod's CPU and memory, from the first call until the kubelet has put it in force.
//
//   cut:     resize -> record -----------------------------------> in force: ended
//   growth:  announce -> settle, check again: room? -> resize ---> in force: ended
//                          no: withdraw                 |
//                                                       +- refused, deferred, too late: put back
//   loan:    like a growth, also for cuts, so that the pods always show its state; no settling
//
// A growth is announced first and then waits for a moment, because the extender may be binding a
// pod into the same room. The extender counts announced amounts as taken. So after the wait, either
// the extender's bind is visible and the growth is withdrawn, or no such bind can follow. If the
// API server was slow to record the announcement, it may be as slow with a bind, so the wait is
// longer. A cut of a running pod needs no announcement. It is recorded afterwards, because a
// kubelet that has just looked at a pod, for example because of an annotation, carries out a resize
// up to a second later. A cut of a waiting pod is announced, and the resize is written only if the
// pod has not changed since.
//
// A change of a running pod concerns either CPU or memory. So a dimension that the kubelet cannot
// change does not block the other, and a failure has a known dimension. If both change, memory
// follows once CPU is in force.
struct PodChange {
  enum class Phase : uint8_t {
    kAnnouncing,  // the write on the pod has been requested
    kAnnounced,   // waits for `due`
    kResizing,    // the resize has been requested
    kMade,        // the API server accepted it; the kubelet has until `due`
  };

  std::shared_ptr<const Pod> pod;  // as last reported
  bool gone = false;
  std::string node;  // empty: the pod had no node when the change began
  ChangeRecord record;
  std::optional<ChangeRecord> before;  // the pod's record before the change
  std::optional<ResourceVector> then;  // the amounts to request once this change is in force
  Phase phase = Phase::kAnnouncing;
  Instant begun{};
  Instant due{};
  Instant remind_kubelet{};  // when to remind it of an unfinished cut of memory; zero: unset
};

struct PlannedCut {
  std::shared_ptr<const Pod> pod;
  ResourceVector to;
};

// A place that this tuner keeps for a waiting pod. The places that moves, gang preemption and
// earlier tuners keep are known only from their pods.
struct KeptPlace {
  std::shared_ptr<const Pod> pod;  // as last reported
  bool gone = false;
  std::string node;
  Instant until{};
  WallTime until_as_written{};
  bool written = false;             // written on the pod
  bool broken = false;              // another place of its gang has failed
  bool shortage_named = false;      // kube-scheduler reported a shortage when the place was chosen
  std::vector<PlannedCut> planned;  // to be requested once the place is written
  std::set<std::string> cuts;       // uids of the pods that make room
  std::optional<Instant> room_since;  // when the cuts took effect
};

// A node where a waiting pod had room that kube-scheduler did not use, for a reason that the tuner
// cannot see. Before `until`, no pod is cut there for the waiting pod. The refusal ends earlier if
// the waiting pod or the node changes, or if one of the pods that were there leaves.
struct Refusal {
  NodeMark node;
  std::set<std::string> there;  // uids of the pods that were there
  int times = 0;                // number of refusals while kube-scheduler was active
  Instant until{};
};

// A pod that waits for room.
struct WaitingPod {
  std::shared_ptr<const Pod> pod;
  Instant since{};  // when it was first reported as Unschedulable
  int attempts = 0;
  Instant next_attempt{};
  int reminders = 0;
  std::optional<Instant> next_reminder;
  std::map<std::string, Refusal> refused;  // by node name; at most kMostRefusals
  std::string room_on;                     // the node where it has room without any cut ...
  Instant room_since{};                    // ... since when
  Instant room_seen{};                     // ... and when that was last seen
  // The time since which kube-scheduler's messages have named no shortage of CPU or memory.
  std::optional<Instant> unnamed_since;
  uint64_t looked_at = 0;  // as in WaitingKind, for a pod that some nodes refuse
};
inline constexpr size_t kMostRefusals = 64;

// Waiting pods that are alike: if one has no room, neither have the others.
struct WaitingKind {
  // Orders by higher priority, then by longer wait.
  struct Rank {
    int64_t priority;
    Instant since;
    std::string uid;
    auto operator<=>(const Rank& other) const {
      return std::tie(other.priority, since, uid) <=> std::tie(priority, other.since, other.uid);
    }
    bool operator==(const Rank&) const = default;
  };

  std::shared_ptr<const Pod> model;
  std::set<Rank> queue;
  // Nodes that have not changed since this version of the cluster have no room.
  uint64_t looked_at = 0;
  Instant next_look{};
  bool postponed = false;  // postponed once since the last look because a pod left
};

// A gang with waiting pods: all of them get room together, or none do.
struct GangInNeed {
  std::set<std::string> uids;  // its Unschedulable pods that Synergy manages
  int attempts = 0;
  Instant next_attempt{};
  uint64_t looked_at = 0;  // as in WaitingKind
  bool postponed = false;  // as in WaitingKind
};

// The kubelet of a node reported that it can never make this kind of change for pods of this
// enforcement. (The static CPU manager prevents changes of the CPUs of Guaranteed pods; swap
// prevents changes of the memory of all others.)
struct Infeasible {
  NodeMark node;
  Instant until{};
};
struct InfeasibleKey {
  std::string node;
  Enforcement enforcement = Enforcement::kShared;
  Dimension dimension = Dimension::kCpu;
  auto operator<=>(const InfeasibleKey&) const = default;
};

// Actions for a pod that were requested and have no outcome yet.
struct Asked {
  std::string node;
  size_t actions = 0;
};

// A node on which CPU and memory are made free for a GPU reservation that starts soon (reclaim.h).
struct PreparedNode {
  Instant since{};
  bool is_over = false;    // prepared for too long, so no longer prepared
  uint64_t looked_at = 0;  // as in WaitingKind
  Instant next_attempt{};
};

struct TunerMemory {
  std::map<std::string, PodChange> changes;   // by pod uid
  std::map<std::string, KeptPlace> places;    // by pod uid
  std::map<std::string, WaitingPod> waiting;  // by pod uid: GPU pods without a node
  std::vector<WaitingKind> kinds;  // the Unschedulable pods that Synergy manages, in no gang
  std::map<std::string, GangInNeed> gangs;  // by name
  std::map<std::string, Asked> asked;       // by pod uid
  size_t actions_asked = 0;                 // in total
  std::map<InfeasibleKey, Infeasible> infeasible;
  std::map<std::string, Instant>
      resting;  // by pod uid: no growth before this time, because the last one failed
  std::map<std::string, IdlePod> idle;  // by pod uid
  // Pods that lend or borrow (loans.h), by uid, as last reported.
  std::map<std::string, std::shared_ptr<const Pod>> in_loans;
  std::map<std::string, Instant> loan_retries;   // by pod uid: no step of a loan before this time
  Instant next_loans{};                          // when to make loans again
  std::vector<GpuReservation> reservations;      // as last reported
  std::map<std::string, PreparedNode> prepared;  // by node
  std::set<std::string> touched;                 // nodes to divide again
  std::set<std::string> held_up;  // nodes to divide again once all requested actions there are done
  std::map<std::string, Instant> due;       // nodes to divide again later
  std::map<std::string, uint64_t> divided;  // by node: the version when it was last divided
  uint64_t divided_by = 0;                  // ... for this version of the profiles
  std::vector<TunerAction> next;            // actions that follow from an outcome
  std::map<std::string, std::set<std::string>> notified;  // the notices that were sent, by uid
  Instant started{};                                      // when this process began
  Instant next_round{};
  // When to look for unfinished changes before the next round; nullopt: not before it.
  std::optional<Instant> take_over;
  Duration take_over_after{};        // the last delay of `take_over` after a failure in this round
  std::optional<Instant> look_anew;  // when a pod that could not be cut may be tried again
  Instant scheduler_seen{};          // when kube-scheduler last handled a waiting pod
};

}  // namespace synergy
