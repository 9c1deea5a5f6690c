#pragma once

// Where one pod should go: best fit over GPUs, CPU and memory, by demand.
//
// Sources: Synergy-Tune's placement step (OSDI'22, section 4.2: the server with the least free
// resources that is just enough for the whole demand), and two changes of ours that
// docs/extender.md explains: a fit first has to leave every GPU that stays free on the node the
// least that any job needs (the reserve), and nodes that cannot give the whole demand are ranked by
// the fair share instead of being skipped.
//
// Of two nodes the better one is that with the lower FitRank:
//
//   tier      kDemandWithReserve < kDemand < kFairShare < kRequests
//   leftover  sum over d in {GPU, CPU, memory} of max(0, free[d] - need[d]) / largest[d], the lower
//   the better
//
// where need is what the tier gives the pod, and largest[d] the largest allocatable of any node, so
// that unlike dimensions add. Equal ranks are ordered by node name. So the order is total, and
// depends on the cluster alone.
//
// Threading: pure; a BestFit may be read by many threads.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cluster/cluster_snapshot.h"
#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

// What a node can give a pod whose requests fit there, best first.
enum class FitTier : uint8_t {
  kDemandWithReserve,  // the whole demand, and every GPU left free keeps its reserve
  kDemand,             // the whole demand
  kFairShare,          // its share of the node in proportion to its GPUs
  kRequests,           // what it asks for, and no more
};

inline constexpr size_t kFitTiers = 4;

struct FitRank {
  FitTier tier = FitTier::kRequests;
  double leftover = 0;  // in nodes: 1 is one dimension of the largest node

  auto operator<=>(const FitRank&) const = default;
};

// How much CPU and memory is kept for every GPU that stays free.
struct ReserveRule {
  // Per GPU (gpus = 1); none: the least that any GPU pod of the cluster asks for, dimension by
  // dimension.
  std::optional<ResourceVector> per_gpu;
};

// The pod's part of a node's CPU and memory in proportion to its GPUs, of what pods without GPUs
// leave there. Zero for a node without GPUs.
ResourceVector FairShare(const NodeState& node, Gpus gpus);

class BestFit {
 public:
  BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve);

  // For a node on which the pod's requests fit (CheckFit).
  FitRank Rank(const NodeState& node) const;

 private:
  double Leftover(const ResourceVector& free, const ResourceVector& need) const;

  ResourceVector requests_;
  ResourceVector demand_;
  ResourceVector reserve_per_gpu_;
  double gpu_unit_;
  double cpu_unit_;
  double memory_unit_;
};

// CPU and memory that every GPU pod may count on, per GPU, under `rule`.
ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule);

// GPUs that are free on the node but lack the CPU or the memory that any pod would need beside
// them.
Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu);

// The best node of all for the pod, none when it fits nowhere.
std::optional<NodeIndex> PlaceOne(const ClusterSnapshot& snapshot, const Pod& pod,
                                  const ReserveRule& reserve);

}  // namespace synergy
