#pragma once

// GPUs that simulated jobs share: which jobs are on which block of GPUs, whose turn it is there,
// and how fast packed jobs run. The decisions are those of the product (engine/sharing).
//
// A node takes pods of one size, which divides its number of GPUs. The node's GPUs form blocks of
// that size. A block has places for `height` pods. A pod goes to the block with the fewest pods
// and, among those, beside the model with which it is known to run best. Models whose pair is not
// in the table never share a block, because a suspended pod keeps its GPU memory.
//
// A speed of 0 suspends a job. A job holds no slot while it starts up. A window of a trial is as
// long as the rules of Packing allow, and measures the true speeds without noise.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "engine/sharing/gpu_turns.h"
#include "engine/sharing/packing.h"
#include "sim/sharing/pair_speeds.h"
#include "sim/simulation_run.h"

namespace synergy {

struct SharingOptions {
  int64_t height = 1;  // the most jobs per GPU; 1: no GPU is shared
  Duration slice = std::chrono::seconds(60);
  bool packs = false;
  bool knows_pairs = false;  // good packs are known from the beginning
  PairSpeeds pairs;          // empty: all models fit together, and nothing is packed
};

class SharedGpus {
 public:
  // `counted_from`, `counted_until`: the period whose work SharingFigures counts.
  SharedGpus(SharingOptions options, Instant counted_from, Instant counted_until);

  void SetNode(const std::string& name, Gpus gpus, std::string product);

  struct Pod {
    size_t job = 0;
    std::string model;
    Gpus gpus;
    double iterations_per_second = 1;  // alone
  };
  // Returns the rank of the node for the pod (lower is better); nullopt if the pod may not go
  // there.
  std::optional<double> RankOf(const std::string& node, const Pod& pod) const;
  // Returns whether a node, which has these pods, certainly has a place for one more.
  bool HasPlaceBeside(const std::string& node, const Pod& pod, const std::vector<Pod>& there) const;
  // Places the job's pod. REQUIRES: RankOf() is not nullopt; the job has one pod and no place.
  void Place(const std::string& node, const Pod& pod);
  // Records that the job's pod runs, and begins to train at `from`.
  void Start(size_t job, Instant from);
  // Removes the job's pod, if it had a place.
  void Remove(size_t job, Instant now);

  // Returns when to call Run() next.
  Instant wake() const { return wake_; }
  // Returns the jobs whose speeds change now, with factors on their speeds alone.
  std::vector<std::pair<size_t, double>> Run(Instant now);

  SharingFigures Figures() const;

 private:
  struct Node {
    int64_t gpus = 0;
    std::string product;
    int64_t pod_gpus = 0;                     // GPUs per pod there; 0: there is no pod
    std::vector<std::vector<size_t>> blocks;  // their jobs
  };
  struct Sharer {
    Pod pod;
    std::string node;
    size_t block = 0;
    std::optional<Instant> from;  // when it trains; absent: it does not run yet
    bool newcomer = true;
    double speed = 0;
    std::optional<double> returned;  // the speed as last returned
  };
  struct PackState {
    size_t first = 0;
    size_t second = 0;
    bool runs = false;
    Duration in_window{};  // since the present window began
  };
  using Key = std::pair<std::string, std::string>;  // model and product

  std::optional<size_t> BlockFor(const Node& node, const Pod& pod) const;
  double ExpectedSum(const Node& node, const std::vector<size_t>& jobs, const Pod& pod) const;
  bool IsActive(const Sharer& sharer, Instant now) const {
    return sharer.from && *sharer.from <= now;
  }
  Duration WindowOf(const PackState& pack) const;
  void Advance(Instant now);
  void Plan(Instant now);
  std::vector<PackCandidate> Candidates(Instant now) const;
  static bool IsGood(const std::array<double, 2>& speeds, double slice);

  const SharingOptions options_;
  const Instant counted_from_;
  const Instant counted_until_;
  GpuTurns turns_;
  Packing packing_;
  std::map<std::string, Node> nodes_;
  std::map<size_t, Sharer> sharers_;        // by job
  std::unordered_map<size_t, bool> began_;  // jobs that have trained before
  std::map<GpuPack, PackState> packs_;
  std::map<Key, double> alone_;  // measured iterations
  std::map<Key, Duration> alone_for_;
  bool dirty_ = false;
  Instant advanced_to_;
  Instant wake_ = Instant::max();
  double work_ = 0;
  double gpus_ = 0;
};

}  // namespace synergy
