#pragma once

// `synergy top`: the resources of each node and each pod, and idle pods.
//
// Threading: pure.

#include <chrono>
#include <map>
#include <optional>
#include <ratio>
#include <string>
#include <vector>

#include "cli/cluster/cluster_facts.h"
#include "cli/text/shown.h"
#include "cli/text/tree.h"
#include "cli/views/pod_view.h"
#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy::cli {

// Bytes per second that a node's pods read from a disk.
struct DiskView {
  double read = 0;
  std::optional<double> bandwidth;  // nullopt: unknown
};

struct NodeView {
  std::string name;
  bool schedulable = true;
  size_t gpu_pods = 0;  // with GPUs, whole or in slices
  Slices slices;        // of shared GPUs
  Slices slices_taken;
  bool in_turns = false;  // `slices` are turns
  ResourceVector allocatable;
  ResourceVector allocated;
  ResourceVector demand;   // as `allocated`, with the demand of each pod that has one
  ResourceVector surplus;  // the part of `allocated` that is above the owners' floors
  // Whether pods keep their GPUs when they are resized there; only with kSafe are running pods
  // resized.
  DeviceSafety devices = DeviceSafety::kUnknown;
  std::optional<double> part_of_best;     // mean of pods with profiles, by GPUs
  std::map<std::string, DiskView> disks;  // those that its managed pods read from, by name
};

// A pod whose GPUs and CPU are idle (docs/idle-pods.md).
struct IdleView {
  std::string pod_namespace;
  std::string name;
  std::string node;
  Gpus gpus;
  Duration idle{};
  MilliCpu cpu;   // its request
  MilliCpu lent;  // the part of its CPU that it lends

  double GpuHours() const {
    return static_cast<double>(gpus.count()) *
           std::chrono::duration<double, std::ratio<3600>>(idle).count();
  }
};

NodeView View(const NodeState& node, const Profiles& profiles, WallTime now);

// Return the nodes with GPUs and the GPU pods, by name.
std::vector<NodeView> ViewNodes(const ClusterFacts& facts, WallTime now);
std::vector<PodView> ViewPods(const ClusterFacts& facts, WallTime now);
// Returns the pods that have been idle for at least that long, those with most GPU hours first.
std::vector<IdleView> ViewIdle(const ClusterFacts& facts, Duration least = kIdleToShow);

Tree ToTree(const NodeView& view);
Shown ShowNodes(const std::vector<NodeView>& nodes);
Tree ToTree(const IdleView& view);
Shown ShowIdle(const std::vector<IdleView>& pods, bool with_namespace);
Shown ShowPods(const std::vector<PodView>& pods, bool with_namespace);

}  // namespace synergy::cli
