#pragma once

// The part of a server's CPU and memory that belongs to a number of its GPUs, and what a pod may
// count on wherever it comes to run.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/gpu_amount.h"
#include "core/resources.h"

namespace synergy {

// The part of `capacity` that belongs to `gpus` of its `installed` GPUs, rounded down, so that the
// parts fit together. Never more than the whole; nothing at all, not even GPUs, if no GPU is
// installed.
ResourceVector FairShareOf(const ResourceVector& capacity, Gpus installed, Gpus gpus);

// How many GPUs a node's CPU and memory are for. Includes unhealthy GPUs, and those not reported
// while the device plugin is being replaced.
Gpus InstalledGpus(const NodeState& node);

// FairShareOf() the node without its headroom (kept free for later pods without GPUs) and without
// the amounts, GPUs included, of pods that Synergy does not size. A slice counts as its part of a
// GPU.
ResourceVector FairShare(const NodeState& node, const GpuAmount& gpus,
                         const ResourceVector& headroom);

// Returns what `gpus` may count on wherever the pod may go: on schedulable nodes that have this
// many GPUs and slices not used by pods of others, within `selection` (null: any node), and whose
// GPUs may be of `gpu_product` (empty: any).
//
// The result is the least FairShare() of those nodes per dimension, so that it fits on each. A node
// that others have filled does not count, so that it does not starve pods that go elsewhere: one
// with less than half as much left as the emptiest node, each as a part of its own share. None if
// there is no such node.
std::optional<ResourceVector> LeastFairShare(const ClusterSnapshot& snapshot,
                                             const NodeSelection* selection, const GpuAmount& gpus,
                                             std::string_view gpu_product,
                                             const ResourceVector& headroom);

}  // namespace synergy
