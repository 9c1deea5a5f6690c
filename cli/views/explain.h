#pragma once

// `synergy explain pod`: why a pod is where it is, what it has, and what it waits for.
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/cluster_facts.h"
#include "cli/text/tree.h"
#include "cli/views/gang_view.h"
#include "cli/views/pod_view.h"
#include "cli/views/top.h"
#include "core/clock.h"
#include "engine/reservations/published_reservation.h"

namespace synergy::cli {

// Nodes that are ruled out for a pod for the same reason.
struct NodeObstacle {
  std::string reason;  // in kube-scheduler's words
  size_t nodes = 0;
};

// How a node suits a waiting pod.
struct NodeVerdict {
  std::string node;
  ResourceVector free;
  Slices slices;       // free ones, of shared GPUs
  std::string reason;  // why the pod does not fit; empty if there is room
};

// The state of a pod that waits for a node.
struct Waits {
  std::string scheduler;
  std::string since;    // RFC 3339; empty: unknown
  std::string message;  // from kube-scheduler
  std::string kept_on;  // the node where the tuner keeps a place; empty: none
  std::optional<PublishedReservation> reservation;  // the next GPUs that its job gets
  std::vector<std::string> avoids;                  // because of failures there
  std::vector<NodeObstacle> obstacles;              // sorted by number of nodes, most first
  size_t nodes_with_room = 0;      // kube-scheduler has yet to look, or has another reason
  size_t nodes_by_reclaim = 0;     // CPU and memory would suffice if pods returned their surplus
  std::vector<NodeVerdict> nodes;  // all of them, by name
};

struct Explanation {
  PodView pod;
  Gpus gpus_by_claims;
  std::vector<std::string> claims;  // names of its ResourceClaims; empty: not created yet
  std::optional<std::string> enforcement;
  int64_t profile_generation = 0;
  std::optional<std::string> measured;  // confidence of a profile that Synergy measured
  // The identity of the pod's workload by which the profile was found: "exact", "arguments",
  // "owner" (profile/measured/workload_identities.h).
  std::optional<std::string> found_by;
  std::optional<ResourceVector> in_force;  // reported by the kubelet
  std::string resize_message;              // reported by the kubelet
  std::optional<ChangeRecord> change;
  std::optional<NodeView> node;
  std::vector<wire::UnhealthyDevice> unhealthy_devices;  // not reported healthy by the kubelet
  std::optional<GangView> gang;
  std::optional<Waits> waits;
  std::vector<wire::EventAboutPod> events;  // Synergy's and the scheduler's, oldest first
  std::vector<std::string> remarks;         // advice for the user
};

Explanation Explain(const PodFacts& facts, WallTime now);

// `each_node`: list every node with the reason why the pod does not fit.
Tree ToTree(const Explanation& explanation, bool each_node = false);
std::string ToText(const Explanation& explanation, WallTime now, bool each_node = false);

}  // namespace synergy::cli
