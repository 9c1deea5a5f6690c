#pragma once

// What the tuner remembers between decisions: a plain value.
//
// After a restart it is rebuilt from the pods (StartOver of tuner.h): which pods wait, which places
// are kept, which changes are unfinished. Lost are how often something was tried for a waiting pod
// or how often it was reminded (both start over), which nodes refuse it and what a node's kubelet
// cannot do (each is found out once more), whose growth was refused in this round (it is tried once
// more), since when exactly a pod waits (its order among equals), and what was told (told once
// more).
//
// Threading: one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/labels.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/tuner/tuner_actions.h"

namespace synergy {

// What a node says of itself, to find out whether it has changed.
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

// A change of a pod's CPU and memory, from the first call to the kubelet's word.
//
//   cut:     resize -> record -----------------------------------> in force: ended
//   growth:  announce -> settle, look again: room? -> resize ----> in force: ended
//                          no: withdraw                 |
//                                                       +- refused, deferred, too late: put back
//
// A growth is announced and waits for a moment because the extender may be binding a pod into the
// same room: it counts what has been announced as taken, so that after a moment either its bind is
// to be seen, and the growth is withdrawn, or it will not come. A cut needs no such care, and is
// recorded afterwards: a kubelet that has just looked at a pod, because of an annotation for
// instance, makes a resize up to a second later (docs/tuner.md). But for a pod that waits, whose
// announcement is what the resize holds on to.
//
// A change of a running pod is one of CPU or of memory, so that what a kubelet cannot do in one
// dimension keeps nothing from the other, and it is known which one it was. Of a change of both
// that of memory begins when that of CPU is in force.
struct PodChange {
  enum class Phase : uint8_t {
    kAnnouncing,  // asked to be written on the pod
    kAnnounced,   // waits for `due`
    kResizing,    // asked of the API server
    kMade,        // the API server has taken it; the kubelet has until `due`
  };

  std::shared_ptr<const Pod> pod;  // as last heard of
  bool gone = false;
  std::string node;  // empty: the pod waited when it began
  ChangeRecord record;
  std::optional<ChangeRecord> before;  // what the pod said until then
  std::optional<ResourceVector> then;  // what it is to have after another change
  Phase phase = Phase::kAnnouncing;
  Instant due{};
  Instant remind_kubelet{};  // of memory that is still in force; zero: not yet
};

struct PlannedCut {
  std::shared_ptr<const Pod> pod;
  ResourceVector to;
};

// A place kept for a waiting pod.
struct KeptPlace {
  std::shared_ptr<const Pod> pod;  // as last heard of
  bool gone = false;
  std::string node;
  Instant until{};
  bool written = false;               // on the pod
  bool broken = false;                // another of its gang has come to nothing
  bool shortage_named = false;        // by kube-scheduler, when it was chosen
  std::vector<PlannedCut> planned;    // to be asked for once it is written
  std::set<std::string> cuts;         // uids of those that make room
  std::optional<Instant> room_since;  // the cuts are in force
};

// A node on which a waiting pod had room, and which kube-scheduler did not take all the same: what
// keeps the pod from it is nothing that we can see. Nobody is cut there for this pod again before
// the time is over, the pod or the node has changed, or a pod has left that was there then.
struct Refusal {
  NodeMark node;
  std::set<std::string> there;  // uids
  int times = 0;                // in which kube-scheduler was at work
  Instant until{};
};

// A pod that waits for room.
struct WaitingPod {
  std::shared_ptr<const Pod> pod;
  Instant since{};  // when we heard that it is Unschedulable
  int attempts = 0;
  Instant next_attempt{};
  int reminders = 0;
  std::optional<Instant> next_reminder;
  std::map<std::string, Refusal> refused;  // by the node's name; no more than kMostRefusals
  std::string room_on;                     // where it has room that nobody was cut for ...
  Instant room_since{};                    // ... since when
  Instant room_seen{};                     // ... and when last
  // Since when kube-scheduler's message has named no shortage of CPU or memory.
  std::optional<Instant> unnamed_since;
  uint64_t looked_at = 0;  // as WaitingKind's, of one that some nodes refuse
};
inline constexpr size_t kMostRefusals = 64;

// Waiting pods that are alike: where there is no room for one there is none for the others.
struct WaitingKind {
  // Higher priority first, then those that have waited longest.
  struct Turn {
    int64_t priority;
    Instant since;
    std::string uid;
    auto operator<=>(const Turn& other) const {
      return std::tie(other.priority, since, uid) <=> std::tie(priority, other.since, other.uid);
    }
    bool operator==(const Turn&) const = default;
  };

  std::shared_ptr<const Pod> model;
  std::set<Turn> turns;
  // Nodes that are as they were in this version of the cluster have no room.
  uint64_t looked_at = 0;
  Instant next_look{};
  bool postponed = false;  // once since the last look, because a pod has left
};

// A gang of which pods wait: they are given room together, or none of them is.
struct GangInNeed {
  std::set<std::string> uids;  // of its pods that are Unschedulable and ours
  int attempts = 0;
  Instant next_attempt{};
  uint64_t looked_at = 0;  // as WaitingKind's
  bool postponed = false;  // likewise
};

// What a node's kubelet has said it never does: change that of its pods of that enforcement (the
// static CPU manager has the CPUs of Guaranteed pods, swap the memory of all others).
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

// Actions of a pod that are asked for, and of which nobody knows yet what came.
struct Asked {
  std::string node;
  size_t actions = 0;
};

struct TunerMemory {
  std::map<std::string, PodChange> changes;   // by the pod's uid
  std::map<std::string, KeptPlace> places;    // likewise
  std::map<std::string, WaitingPod> waiting;  // likewise: GPU pods without a node
  std::vector<WaitingKind> kinds;           // of those that are Unschedulable, ours, and of no gang
  std::map<std::string, GangInNeed> gangs;  // by name
  std::map<std::string, Asked> asked;       // by the pod's uid
  size_t actions_asked = 0;                 // in all
  std::map<InfeasibleKey, Infeasible> infeasible;
  std::map<std::string, Instant>
      resting;                    // by the pod's uid: no growth before, for the last one failed
  std::set<std::string> touched;  // nodes to divide again
  std::set<std::string> held_up;  // likewise, once no action there is asked for
  std::map<std::string, Instant> due;       // nodes to divide again later
  std::map<std::string, uint64_t> divided;  // nodes: the version as of which nothing was to gain
  uint64_t divided_by = 0;                  // ... with this version of the profiles
  std::vector<TunerAction> next;            // follows from an outcome
  std::set<std::string> told;
  Instant next_round{};
  std::optional<Instant> look_anew;  // when a pod that could not be cut may be tried again
  Instant scheduler_seen{};          // when kube-scheduler was last at work on a waiting pod
  bool begun = false;  // a decision was made: what places are kept is known from here on
};

}  // namespace synergy
