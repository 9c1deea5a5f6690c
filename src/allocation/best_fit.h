#pragma once

// Chooses a node for one pod: best fit over GPUs, CPU and memory, by demand.
//
// Sources: Synergy-Tune's placement step (OSDI'22, section 4.2: the server with the least free
// resources that is just enough for the whole demand), and two changes of ours, which
// docs/internals/placement.md explains and measures. First, a placement should leave every GPU that
// stays free the least that any job needs (the reserve). Second, what is left beyond that is
// counted per GPU that stays free, because that is how much a later job can get. With r the reserve
// per GPU, per node
//
//   left      = free GPUs - the pod's GPUs
//   room[d]   = free[d] - demand[d] - r[d] x left                        d in {CPU, memory}
//
//   kRoom     both room[d] >= 0:  cost = sum over d of room[d] / largest[d] / (left + 1)
//                                        + 0.25 x left / largest[GPU]
//   kShort    otherwise:          cost = sum over d of max(0, -room[d]) / largest[d]
//
// and a little more if the pod's GPUs would span several NUMA nodes, as far as that is known. A pod
// with slices of GPUs goes where fewest use a GPU; among those, by the above. Where
// the bandwidth of a node's storage is known, it is a further d, without a reserve: needs are those
// at the demands, so that two pods that wait for storage go to different nodes.
// largest[d] is the largest allocatable of any node, so that unlike dimensions can be added. The
// last term of kRoom keeps whole nodes free for jobs with many GPUs. Of two nodes, the one with the
// lower FitRank is better; equal ranks are ordered by node name. So the order is total, and depends
// on the cluster only.
//
// Threading: pure; a BestFit may be read by many threads.

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
  kRoom,   // the whole demand fits, and every GPU left free keeps its reserve
  kShort,  // it does not: the pod, its neighbours or later pods lack something
};

inline constexpr size_t kFitTiers = 2;

struct FitRank {
  FitTier tier = FitTier::kShort;
  double cost = 0;  // in nodes: 1 is one dimension of the largest node

  auto operator<=>(const FitRank&) const = default;
};

// The CPU and memory to keep free: for every GPU that stays free, and on every node.
struct ReserveRule {
  // Per GPU (gpus = 1); none: the least that any GPU pod of the cluster requests, in each
  // dimension, but no more than the largest node has per GPU.
  std::optional<ResourceVector> per_gpu;
  // For later pods without GPUs (agents, DaemonSets); gpus = 0.
  ResourceVector headroom;
};

// The ranking that every placement uses: of a pod by the extender, of a job in a round.
class BestFitStep {
 public:
  // `largest` is the unit of each dimension.
  BestFitStep(const ResourceVector& demand, const ResourceVector& reserve_per_gpu,
              const ResourceVector& largest);

  // `storage_room`: the storage bandwidth that the node has left beside the demand, as a part of
  // the largest; none: unknown. REQUIRES: the node has enough GPUs.
  FitRank Rank(const ResourceVector& free, std::optional<double> storage_room = {}) const;

 private:
  ResourceVector demand_;
  ResourceVector reserve_per_gpu_;
  double gpu_unit_;
  std::array<double, ResourceVector::kDivided> units_{};  // in the order of ForEachDivided
};

// The storage that a pod reads from.
struct StorageAsk {
  const StorageCatalog* catalog = nullptr;  // null: nothing is known of it
  double need = 0;                          // bytes per second; 0: unknown
};
// Returns what the pod asks of the storage with its demand.
StorageAsk AskOfStorage(const Pod& pod, const StorageCatalog* catalog);

class BestFit {
 public:
  // The catalog outlives this.
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
  // Cost of GPUs that span NUMA nodes: less than that of any GPU left over.
  static constexpr double kSpanningCost = 0.02;
  // Cost of each user of a GPU: more than anything that is left over, even if it is a hundredth
  // more on the average.
  static constexpr double kSharingCost = 1000;

  bool SpansNumaNodes(const NodeDetail& node) const {
    const int64_t most = node.gpu_kinds.most_per_numa_node;
    return most > 0 && gpus_ > most;
  }

  std::optional<double> StorageRoom(const NodeState& node) const;
  // Returns how many slices of a GPU are taken with the pod there, on the average of the node's
  // shared GPUs.
  double UsersOfGpu(const NodeState& node) const;

  BestFitStep step_;
  ResourceVector headroom_;
  int64_t gpus_;
  Slices slices_;
  StorageAsk storage_;
};

// The CPU and memory per GPU that every GPU pod may count on, under `rule`.
ResourceVector ReservePerGpu(const ClusterSnapshot& snapshot, const ReserveRule& rule);

// Number of GPUs that are free on the node but lack the CPU or memory that any pod would need
// beside them.
Gpus StrandedGpus(const NodeState& node, const ResourceVector& reserve_per_gpu);

}  // namespace synergy
