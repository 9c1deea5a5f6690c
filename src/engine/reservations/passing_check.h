#pragma once

// Decides from the state of the cluster whether a pod may use nodes with reserved GPUs (MayTake()
// of gpu_reservations.h).
//
// Threading: pure; a PassingCheck has one owner.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/preemption.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/units.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy {

// Returns the name by which reservations identify the pod's job: "team/train", or "gang team/train"
// for a gang. A name of a Kubernetes object has no space, so the two forms never clash.
std::string JobOf(const Pod& pod);

// Returns whether reservations concern the pod. A pod that Kueue admits has no reservation, and
// reservations do not block it, because Kueue evicts an admitted pod that stays without a node.
bool IsSubjectToReservations(const Pod& pod);

// Returns whether the pod's own rules allow it on the node, now or later.
bool MayEverGo(const Pod& pod, const NodeState& node);
// Returns whether MayEverGo() is true, and the node could ever offer the pod's requests apart from
// GPUs.
bool CouldEverRun(const Pod& pod, const NodeState& node);

// Returns whether at most one node could ever take such a pod with `gpus` GPUs.
bool HasNoOtherNode(const ClusterSnapshot& snapshot, const Pod& pod, Gpus gpus);

// The facts about a pod and the reservations on which a PassingCheck depends.
struct PassingTerms {
  std::vector<GpuReservation> reservations;
  Gpus gpus;                        // of all waiting pods of its job
  Gpus largest;                     // of the largest of these pods
  std::optional<Duration> longest;  // the longest run of all these pods; absent: unknown
  Instant now{};
};

struct OpenPart {
  Gpus gpus;
  const GpuReservation* by = nullptr;  // the reservation that needs the others
};

class PassingCheck {
 public:
  // All arguments must outlive this object.
  PassingCheck(const ClusterSnapshot& snapshot, const Pod& pod, const PassingTerms& terms);

  // Returns the reservation that keeps the pod off the node; null if the pod may run there. `node`:
  // the node without the pod itself. For a member of a gang, OpenTo() limits all members together.
  const GpuReservation* RefusedBy(const NodeState& node);
  // Returns what the waiting pods of the pod's gang may take of the node; nullopt: all. A node
  // where a part of the gang runs is open, so that the gang becomes whole. Elsewhere, the gang
  // keeps the places that it holds.
  std::optional<OpenPart> OpenTo(const NodeState& node);

 private:
  struct Own {
    Gpus held;
    bool runs = false;  // a part of the gang runs on the node
  };

  bool IsReserved(const std::string& node) const;
  // Sets `own` to what the pod's gang has on the node.
  PassingVerdict VerdictOn(const NodeState& node, Own& own) const;
  bool HasNoOtherNode();

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const PassingTerms& terms_;
  const std::string job_;
  std::optional<bool> has_no_other_node_;
};

// Returns OpenTo() for each node with reserved GPUs where it limits the member's gang.
std::map<std::string, OpenPart> PartsOpenTo(const ClusterSnapshot& snapshot, const Pod& member,
                                            const PassingTerms& terms);

// Removes from `chosen` the nodes that reservations would refuse to the pod even without the
// victims there.
void DropReserved(const ClusterSnapshot& snapshot, const Pod& pod, const PassingTerms& terms,
                  std::vector<NodeVictims>& chosen);

// Part of the reason for which the extender refuses a node. kube-scheduler copies reasons into a
// pod's condition, where the controller finds refused pods.
inline constexpr std::string_view kReservedFor = " are reserved for ";

// Returns text such as "GPUs of gpu-3 are reserved for team/big until 14:20 UTC; this pod has no
// known end".
std::string DescribeRefusal(const GpuReservation& by, const PassingTerms& terms, WallTime wall);

}  // namespace synergy
