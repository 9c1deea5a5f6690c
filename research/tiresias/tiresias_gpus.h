#pragma once

// The GPUs of a cluster as the authors' simulator allocates them. Counted: anywhere. Yarn, one
// switch: a job that one node can hold gets the first such node; a larger one gets the first whole
// idle nodes, and the remainder from the first other node that has it.
//
// Threading: one owner.

#include <cstdint>
#include <utility>
#include <vector>

#include "research/tiresias/tiresias_input.h"

namespace synergy {

class TiresiasGpus {
 public:
  // Nodes and the number of GPUs on each.
  using Taken = std::vector<std::pair<size_t, int64_t>>;

  TiresiasGpus(const TiresiasCluster& cluster, TiresiasScheme scheme);

  // Returns whether the job would fit into the empty cluster.
  bool CouldHold(int64_t gpus) const;
  // Returns an empty list, and takes nothing, if the GPUs do not fit.
  Taken Take(int64_t gpus);
  void GiveBack(const Taken& taken);
  void FreeAll();

 private:
  Taken TakeWholeNodes(int64_t gpus);

  int64_t node_gpus_;
  std::vector<int64_t> free_;  // by node; counted: one node with all
};

}  // namespace synergy
