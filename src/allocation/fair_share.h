#pragma once

// What of a server's CPU and memory belongs to so many of its GPUs, and what a pod may count on
// wherever it comes to run.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// The part of `capacity` that belongs to `gpus` of the `installed` GPUs that it is there for,
// rounded down, so that the parts fit together. Never more than the whole; nothing at all, not even
// GPUs, where no GPU is installed.
ResourceVector FairShareOf(const ResourceVector& capacity, Gpus installed, Gpus gpus);

// How many GPUs a node's CPU and memory are there for: also those that are ill, or that nobody
// tells of while the device plugin is being replaced.
Gpus InstalledGpus(const NodeState& node);

// FairShareOf() what is left of the node without its headroom (kept free for pods without GPUs that
// come later) and without what pods have that we do not size, their GPUs included.
ResourceVector FairShare(const NodeState& node, Gpus gpus, const ResourceVector& headroom);

// What `gpus` may count on wherever the pod may go: schedulable nodes with so many GPUs that others
// do not use, within `selection` (null: whatever it says), and with GPUs that may be of
// `gpu_product` (empty: any).
//
// Per dimension the least FairShare() of those nodes, so that it fits on each. A node that others
// have filled does not count, so that it does not starve pods that go elsewhere: one that has less
// than half of what the emptiest has left, in parts of its own share. None when there is no such
// node.
std::optional<ResourceVector> LeastFairShare(const ClusterSnapshot& snapshot,
                                             const NodeSelection* selection, Gpus gpus,
                                             std::string_view gpu_product,
                                             const ResourceVector& headroom);

}  // namespace synergy
