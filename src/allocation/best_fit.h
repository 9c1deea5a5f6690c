#pragma once

// Where one pod should go: best fit over GPUs, CPU and memory, by demand.
//
// Sources: Synergy-Tune's placement step (OSDI'22, section 4.2: the server with the least free
// resources that is just enough for the whole demand), and two changes of ours that
// docs/placement.md explains and measures: a place should leave every GPU that stays free there the
// least that any job needs (the reserve), and what is left beyond that is counted per GPU that
// stays free, because that is how much a later job can get. With r the reserve per GPU, per node
//
//   left      = free GPUs - the pod's GPUs
//   room[d]   = free[d] - demand[d] - r[d] x left                        d in {CPU, memory}
//
//   kRoom     both room[d] >= 0:  cost = sum over d of room[d] / largest[d] / (left + 1)
//                                        + 0.25 x left / largest[GPU]
//   kShort    otherwise:          cost = sum over d of max(0, -room[d]) / largest[d]
//
// and a little more where a pod's GPUs would be of several NUMA nodes, if that is known;
// where largest[d] is the largest allocatable of any node, so that unlike dimensions add. The last
// term of kRoom keeps whole nodes free for jobs with many GPUs. Of two nodes the better one is that
// with the lower FitRank; equal ranks are ordered by node name. So the order is total, and depends
// on the cluster alone.
//
// Threading: pure; a BestFit may be read by many threads.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

enum class FitTier : uint8_t {
  kRoom,   // the whole demand, and every GPU left free keeps its reserve
  kShort,  // less: the pod, its neighbours or those who come later lack something
};

inline constexpr size_t kFitTiers = 2;

struct FitRank {
  FitTier tier = FitTier::kShort;
  double cost = 0;  // in nodes: 1 is one dimension of the largest node

  auto operator<=>(const FitRank&) const = default;
};

// How much CPU and memory is kept: for every GPU that stays free, and on every node.
struct ReserveRule {
  // Per GPU (gpus = 1); none: the least that any GPU pod of the cluster asks for, dimension by
  // dimension, but no more than the largest node has per GPU.
  std::optional<ResourceVector> per_gpu;
  // For pods without GPUs that come later (agents, DaemonSets); gpus = 0.
  ResourceVector headroom;
};

// The step by which every placement is made: a pod's by the extender, a job's in a round.
class BestFitStep {
 public:
  // `largest` is the unit of each dimension.
  BestFitStep(const ResourceVector& demand, const ResourceVector& reserve_per_gpu,
              const ResourceVector& largest);

  // For a place with GPUs enough.
  FitRank Rank(const ResourceVector& free) const;

 private:
  ResourceVector demand_;
  ResourceVector reserve_per_gpu_;
  double gpu_unit_;
  std::array<double, ResourceVector::kDivided> units_{};  // in the order of ForEachDivided
};

class BestFit {
 public:
  BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve);

  // For a node on which the pod's requests fit (CheckFit).
  FitRank Rank(const NodeState& node) const {
    FitRank rank = step_.Rank(node.FreeOfDemand() - headroom_);
    if (gpus_ > 1 && SpansNumaNodes(*node.detail)) rank.cost += kSpanningCost;
    return rank;
  }

 private:
  // What it weighs that a pod's GPUs cannot all be of one NUMA node: less than any GPU left over.
  static constexpr double kSpanningCost = 0.02;

  bool SpansNumaNodes(const NodeDetail& node) const {
    const int64_t most = node.gpu_kinds.most_per_numa_node;
    return most > 0 && gpus_ > most;
  }

  BestFitStep step_;
  ResourceVector headroom_;
  int64_t gpus_;
};

// CPU and memory that every GPU pod may count on, per GPU, under `rule`.
ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule);

// GPUs that are free on the node but lack the CPU or the memory that any pod would need beside
// them.
Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu);

}  // namespace synergy
