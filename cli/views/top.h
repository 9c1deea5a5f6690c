#pragma once

// `synergy top`: the resources of each node and each pod.
//
// Threading: pure.

#include <string>
#include <vector>

#include "cli/cluster/cluster_facts.h"
#include "cli/text/tree.h"
#include "cli/views/pod_view.h"

namespace synergy::cli {

struct NodeView {
  std::string name;
  bool schedulable = true;
  size_t gpu_pods = 0;
  ResourceVector allocatable;
  ResourceVector allocated;
  ResourceVector demand;   // as `allocated`, with the demand of each pod that has one
  ResourceVector surplus;  // the part of `allocated` that is above the owners' floors
  // Whether pods keep their GPUs when they are resized there; only with kSafe are running pods
  // resized.
  DeviceSafety devices = DeviceSafety::kUnknown;
  std::optional<double> part_of_best;  // of the throughput of its pods with profiles, by GPUs
};

NodeView View(const NodeState& node, const Profiles& profiles, WallTime now);

// Return the nodes with GPUs and the GPU pods, by name.
std::vector<NodeView> ViewNodes(const ClusterFacts& facts, WallTime now);
std::vector<PodView> ViewPods(const ClusterFacts& facts, WallTime now);

Tree ToTree(const NodeView& view);
std::string NodeTable(const std::vector<NodeView>& nodes);
std::string PodTable(const std::vector<PodView>& pods, bool with_namespace);

}  // namespace synergy::cli
