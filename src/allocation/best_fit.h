#pragma once

// Chooses a node for one pod by best fit: it compares the pod's demand for GPUs, CPU and memory
// with what each node has free.
//
// The algorithm is Synergy-Tune's placement step (OSDI'22, section 4.2): the server with the least
// free resources that suffice for the whole demand. It has two changes, which
// docs/internals/placement.md explains and measures. First, every GPU that stays free should keep
// the least CPU and memory that any job needs (the reserve). Second, amounts beyond the reserve are
// divided by the GPUs that stay free, because later jobs get them with those GPUs. With r as the
// reserve per GPU, each node has
//
//   left      = free GPUs - the pod's GPUs
//   room[d]   = free[d] - demand[d] - r[d] x left                        d in {CPU, memory}
//
//   kRoom     both room[d] >= 0:  cost = sum over d of room[d] / largest[d] / (left + 1)
//                                        + 0.25 x left / largest[GPU]
//   kShort    otherwise:          cost = sum over d of max(0, -room[d]) / largest[d]
//
// A small extra cost applies if the pod's GPUs are known to span several NUMA nodes. A pod that
// requests slices goes where the fewest pods share a GPU; the cost above decides between nodes with
// equally many. If the bandwidth of a node's storage is known, it is another dimension, without a
// reserve. Each pod counts with the bandwidth that it needs at its demand, so that two pods that
// wait for storage go to different nodes. largest[d] is the largest allocatable amount of any node;
// dividing by it makes the dimensions comparable. The last term of kRoom keeps whole nodes free for
// jobs with many GPUs. The node with the lower FitRank is better; equal ranks are ordered by node
// name. So the order is total and depends only on the cluster.
//
// Threading: pure; several threads may read a BestFit at once.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "allocation/storage/storage_catalog.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

enum class FitTier : uint8_t {
  kRoom,   // the whole demand fits, and every GPU that stays free keeps its reserve
  kShort,  // the pod, its neighbours or later pods would lack something
};

inline constexpr size_t kFitTiers = 2;

struct FitRank {
  FitTier tier = FitTier::kShort;
  double cost = 0;  // in nodes: 1 equals one dimension of the largest node

  auto operator<=>(const FitRank&) const = default;
};

// The CPU and memory to keep free: for every GPU that stays free, and on every node.
struct ReserveRule {
  // Per GPU (gpus = 1). If absent, the reserve is the least that any GPU pod of the cluster
  // requests in each dimension, but at most what the largest node has per GPU.
  std::optional<ResourceVector> per_gpu;
  // For later pods without GPUs (agents, DaemonSets); gpus = 0.
  ResourceVector headroom;
};

// Ranks nodes for one demand. The extender uses it for pods, and rounds use it for jobs.
class BestFitStep {
 public:
  // `largest` gives the unit of each dimension.
  BestFitStep(const ResourceVector& demand, const ResourceVector& reserve_per_gpu,
              const ResourceVector& largest);

  // `storage_room`: the storage bandwidth that the demand leaves on the node, as a fraction of the
  // largest bandwidth; absent if unknown. REQUIRES: the node has enough GPUs.
  FitRank Rank(const ResourceVector& free, std::optional<double> storage_room = {}) const;

 private:
  ResourceVector demand_;
  ResourceVector reserve_per_gpu_;
  double gpu_unit_;
  std::array<double, ResourceVector::kDivided> units_{};  // in the order of ForEachDivided
};

// A pod's demand for storage bandwidth.
struct StorageAsk {
  const StorageNeeds* known = nullptr;  // null: nothing is
  double need = 0;                      // bytes per second; 0: unknown
};
StorageAsk AskOfStorage(const Pod& pod, const StorageNeeds* storage);

class BestFit {
 public:
  // The catalog must outlive this object.
  BestFit(const Pod& pod, const ClusterSnapshot& snapshot, const ReserveRule& reserve,
          StorageAsk storage = {});

  // REQUIRES: the pod's requests fit on the node (CheckFit).
  FitRank Rank(const NodeState& node) const {
    FitRank rank = step_.Rank(node.FreeOfDemand() - headroom_, StorageRoom(node));
    if (gpus_ > 1 && SpansNumaNodes(*node.detail)) rank.cost += kSpanningCost;
    if (slices_ > Slices(0)) rank.cost += kSharingCost * UsersOfGpu(node);
    return rank;
  }

 private:
  // Cost of GPUs that span NUMA nodes: less than the cost of any GPU left over.
  static constexpr double kSpanningCost = 0.02;
  // Cost of each user of a GPU. Even an average difference of 0.01 users costs more than any free
  // amounts.
  static constexpr double kSharingCost = 1000;

  bool SpansNumaNodes(const NodeDetail& node) const {
    const int64_t most = node.gpu_kinds.most_per_numa_node;
    return most > 0 && gpus_ > most;
  }

  std::optional<double> StorageRoom(const NodeState& node) const;
  // Returns the average number of slices in use per shared GPU of the node, including this pod.
  double UsersOfGpu(const NodeState& node) const;

  BestFitStep step_;
  ResourceVector headroom_;
  int64_t gpus_;
  Slices slices_;
  StorageAsk storage_;
};

// Returns the reserve per GPU under `rule`.
ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule);

// Returns the number of free GPUs for which the node lacks the CPU or memory of their reserve.
Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu);

}  // namespace synergy
