#pragma once

// Computes the part of a server's CPU and memory that belongs to a number of its GPUs. Also
// computes the amounts that a pod can count on wherever it runs.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/gpu_amount.h"
#include "core/resources.h"

namespace synergy {

// Returns the part of `capacity` that belongs to `gpus` of its `installed` GPUs, rounded down, so
// that the parts fit together. Never returns more than the whole. Returns zero amounts, GPUs
// included, if no GPU is installed.
ResourceVector FairShareOf(const ResourceVector& capacity, Gpus installed, Gpus gpus);

// Returns the number of GPUs that share the node's CPU and memory. Includes unhealthy GPUs and
// those that are not reported while the device plugin is replaced.
Gpus InstalledGpus(const NodeState& node);

// Applies FairShareOf() to the node's allocatable amounts, less its headroom (kept free for later
// pods without GPUs). Also subtracts the amounts and GPUs of pods that Synergy does not size. A
// slice counts as a fraction of a GPU.
ResourceVector FairShare(const NodeState& node, const GpuAmount& gpus,
                         const ResourceVector& headroom);

// Returns the CPU and memory that a pod with `gpus` can count on, wherever it runs. Considers
// schedulable nodes within `selection` (null: any node) whose GPUs may be of `gpu_product` (empty:
// any). On these nodes, pods that Synergy does not size must leave at least this many GPUs and
// slices.
//
// The result is the least FairShare() of those nodes in each dimension, so that it fits on each of
// them. Ignores nodes that other pods have filled, because their small shares would also limit pods
// on other nodes. A node is filled if the remaining fraction of its share is less than half that of
// the emptiest node. Returns nullopt if no such node exists.
std::optional<ResourceVector> LeastFairShare(const ClusterSnapshot& snapshot,
                                             const NodeSelection* selection, const GpuAmount& gpus,
                                             std::string_view gpu_product,
                                             const ResourceVector& headroom);

}  // namespace synergy
