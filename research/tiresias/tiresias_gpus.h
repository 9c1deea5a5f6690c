#pragma once

// The GPUs of a cluster as the authors' simulator gives them away. Counted: anywhere. Yarn, one
// switch: a job that one node can hold goes to the first node that does; a larger one takes the
// first whole idle nodes, and what is over from the first other node that has it.
//
// Threading: one owner.

#include <cstdint>
#include <utility>
#include <vector>

#include "research/tiresias/tiresias_input.h"

namespace synergy {

class TiresiasGpus {
 public:
  // Nodes and how many GPUs of each.
  using Taken = std::vector<std::pair<size_t, int64_t>>;

  TiresiasGpus(const TiresiasCluster& cluster, TiresiasScheme scheme);

  // Whether they would do if all were free.
  bool CouldHold(int64_t gpus) const;
  // Empty where they do not fit; nothing is taken then.
  Taken Take(int64_t gpus);
  void GiveBack(const Taken& taken);
  void FreeAll();

 private:
  Taken TakeWholeNodes(int64_t gpus);

  int64_t node_gpus_;
  std::vector<int64_t> free_;  // by node; counted: one node with all
};

}  // namespace synergy
