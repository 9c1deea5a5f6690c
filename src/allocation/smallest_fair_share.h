#pragma once

// What a pod may count on wherever it comes to run.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "cluster/cluster_snapshot.h"
#include "cluster/node_selection.h"
#include "core/resources.h"

namespace synergy {

// Per dimension the least FairShare() of `gpus` on any node that the pod may go to: schedulable,
// with so many GPUs installed, within `selection` (null: whatever it says), and with GPUs that may
// be of `gpu_product` (empty: any). Nodes whose other pods leave nothing of a dimension do not
// count, because no GPU pod can run there. None when there is no such node.
std::optional<ResourceVector> SmallestFairShare(const ClusterSnapshot& snapshot,
                                                const NodeSelection* selection, Gpus gpus,
                                                std::string_view gpu_product);

}  // namespace synergy
