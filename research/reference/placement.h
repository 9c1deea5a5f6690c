#pragma once

// Finds places for a job's demand, by the two rules of the reference simulator.
//
// Threading: one owner at a time.

#include <vector>

#include "research/reference/amounts.h"
#include "research/reference/cluster.h"

namespace synergy::reference {

class Placement {
 public:
  // `consolidate`: a job with several GPUs is placed on the server with the fewest free GPUs that
  // holds all of it; if there is none, and for one GPU, servers with the fewest free GPUs come
  // first. Otherwise servers come in their order. Either way a job is split freely, equally per
  // GPU.
  Placement(const Cluster& cluster, bool consolidate)
      : cluster_(cluster), consolidate_(consolidate) {}

  // Returns whether there is room for `demand`; parts() then returns the place.
  bool Find(const Amounts& demand);
  const std::vector<Part>& parts() const { return parts_; }

 private:
  bool FindWhole(const Amounts& demand);
  // Takes GPUs of this server, which has room for one, until it has no more or `wanted` is 0.
  void Gather(uint32_t server, const Amounts& per_gpu, int& wanted);

  const Cluster& cluster_;
  const bool consolidate_;
  std::vector<Part> parts_;
  std::vector<uint32_t> order_;
};

// Sorts the servers with free GPUs by the number of free GPUs, then by server number.
void ByFreeGpus(const Cluster& cluster, std::vector<uint32_t>& order);

}  // namespace synergy::reference
