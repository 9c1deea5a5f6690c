#pragma once

// Finds places for a job's demand by one of the reference simulator's two rules.
//
// Threading: one owner at a time.

#include <vector>

#include "research/reference/amounts.h"
#include "research/reference/cluster.h"

namespace synergy::reference {

class Placement {
 public:
  // With `consolidate`, a job with several GPUs is placed on the server with the fewest free GPUs
  // that can hold all of it. If there is none, and for jobs with one GPU, servers with the fewest
  // free GPUs come first. Without it, servers come in their order. In both cases a job may be split
  // over servers, with equal amounts for each GPU.
  Placement(const Cluster& cluster, bool consolidate)
      : cluster_(cluster), consolidate_(consolidate) {}

  // Returns whether there is room for `demand`. If so, parts() returns the place.
  bool Find(const Amounts& demand);
  const std::vector<Part>& parts() const { return parts_; }

 private:
  bool FindWhole(const Amounts& demand);
  // Takes GPUs of this server, which has room for at least one, until it has no more or `wanted` is
  // 0.
  void Gather(uint32_t server, const Amounts& per_gpu, int& wanted);

  const Cluster& cluster_;
  const bool consolidate_;
  std::vector<Part> parts_;
  std::vector<uint32_t> order_;
};

// Sorts the servers with free GPUs by the number of free GPUs, then by server number.
void ByFreeGpus(const Cluster& cluster, std::vector<uint32_t>& order);

}  // namespace synergy::reference
