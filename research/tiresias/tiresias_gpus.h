#pragma once

// Allocates the GPUs of a cluster as the authors' simulator does. If GPUs are only counted, they
// can be anywhere. With Yarn and one switch, a job gets the first node that can hold it. A larger
// job gets the first nodes that are completely idle, and the remainder from the first other node
// that has it.
//
// Threading: one owner.

#include <cstdint>
#include <utility>
#include <vector>

#include "research/tiresias/tiresias_input.h"

namespace synergy {

class TiresiasGpus {
 public:
  // Nodes, and the number of GPUs on each.
  using Taken = std::vector<std::pair<size_t, int64_t>>;

  TiresiasGpus(const TiresiasCluster& cluster, TiresiasScheme scheme);

  // Returns whether the job would fit into the empty cluster.
  bool CouldHold(int64_t gpus) const;
  // Takes the GPUs and returns them. If they do not fit, returns an empty list and takes nothing.
  Taken Take(int64_t gpus);
  void GiveBack(const Taken& taken);
  void FreeAll();

 private:
  Taken TakeWholeNodes(int64_t gpus);

  int64_t node_gpus_;
  // free GPUs of each node; if GPUs are only counted, there is one node with all
  std::vector<int64_t> free_;
};

}  // namespace synergy
