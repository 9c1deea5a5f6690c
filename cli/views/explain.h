#pragma once

// `synergy explain pod`: why a pod is where it is, with what, and what it waits for.
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

namespace synergy::cli {

// Nodes that are alike in what keeps a pod from them.
struct NodeObstacle {
  std::string reason;  // in kube-scheduler's words
  size_t nodes = 0;
};

// A node as it looks to a waiting pod.
struct NodeVerdict {
  std::string node;
  ResourceVector free;
  std::string reason;  // why not; empty: there is room
};

// What a pod without a node waits for.
struct Waits {
  std::string scheduler;
  std::string since;                    // RFC 3339; empty: not known
  std::string message;                  // kube-scheduler's own
  std::string kept_on;                  // the node that the tuner keeps a place on; empty: none
  std::vector<NodeObstacle> obstacles;  // those of most nodes first
  size_t nodes_with_room = 0;           // kube-scheduler has yet to look, or knows another reason
  size_t nodes_by_reclaim = 0;     // CPU and memory would suffice if all gave back their surplus
  std::vector<NodeVerdict> nodes;  // all of them, by name
};

struct Explanation {
  PodView pod;
  std::optional<std::string> enforcement;
  int64_t profile_generation = 0;
  std::optional<std::string> measured;     // how sure the profile is, where Synergy has measured it
  std::optional<ResourceVector> in_force;  // by the kubelet
  std::string resize_message;              // likewise
  std::optional<ChangeRecord> change;
  std::optional<NodeView> node;
  std::vector<wire::UnhealthyDevice> unhealthy_devices;  // that the kubelet does not call healthy
  std::optional<GangView> gang;
  std::optional<Waits> waits;
  std::vector<wire::EventAboutPod> events;  // Synergy's and the scheduler's, the oldest first
  std::vector<std::string> remarks;         // what a reader should know or do
};

Explanation Explain(const PodFacts& facts, WallTime now);

// `each_node`: what a pod waits for is told node by node.
Tree ToTree(const Explanation& explanation, bool each_node = false);
std::string ToText(const Explanation& explanation, WallTime now, bool each_node = false);

}  // namespace synergy::cli
