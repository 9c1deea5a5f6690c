#pragma once

// Chooses sharers of a GPU that run at the same time instead of taking turns: packing, measured and
// undone (introspection of Gandiva, OSDI'18).
//
//   unknown --> on trial --> kept ------> undone, refused for a while
//                  |                          ^
//                  '--- aborted, refused -----'
//
// A pair is tried where both take turns on the same GPUs, both fit into the memory together, and
// the rate of each alone is known; the pair that keeps the GPU least busy first, one trial at a
// time on a node. A trial is kTrialWindows windows of at least kLeastWindow and kLeastIterations of
// each. With r the rate of a sharer in the trial over its rate alone, and s the part of the time
// that is its slot:
//
//   aborted   at once, if r < 0.3 of either
//   kept      if the sum of both r is above 1.05, and each r is at least 0.9 s
//   undone    once kept, if in two windows, one after the other, the sum is below 1.0 or an r is
//             below 0.9 s
//
// What is refused is not tried again for ten minutes, doubled each time up to four hours. This
// holds for the pair of workloads on the GPU product, wherever its pods are, and so does what was
// kept: two other pods of the pair are packed without a trial.
//
// Threading: one owner.

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "engine/sharing/gpu_turns.h"

namespace synergy {

struct WorkloadPair {
  std::string first;  // not after `second`
  std::string second;
  std::string gpu_product;

  auto operator<=>(const WorkloadPair&) const = default;
};

// Returns the pair of workloads in its order.
WorkloadPair PairOf(std::string workload, std::string other, std::string gpu_product);

struct PackMember {
  std::string name;                           // as GpuSharer::name
  std::string workload;                       // pods that are alike
  std::optional<double> alone;                // iterations per second; none: not known yet
  std::optional<double> busy = std::nullopt;  // part of the time that it alone keeps the GPU busy
  double slice = 0.5;                         // part of the time that is its slot in turns
};

// Two active sharers of the same blocks, which take turns or run packed.
struct PackCandidate {
  std::string node;  // the trials of a node follow each other
  std::string gpu_product;
  PackMember first;
  PackMember second;
  bool fits = false;  // into the GPU's memory together, with what is kept free
};

// The work of both members of a pack in a stretch of time in which both ran.
struct PackWindow {
  Duration length{};
  std::array<double, 2> iterations{};  // of the first and the second, as in GpuPack
};

// The result of measuring a pair of workloads on a product; in the order of WorkloadPair.
struct PackResult {
  std::array<double, 2> speeds{};  // as parts of those alone, as last measured
  bool good = false;
  uint32_t refusals = 0;    // one after the other
  Instant refused_until{};  // not tried before
};

class Packing {
 public:
  static constexpr size_t kTrialWindows = 3;
  static constexpr Duration kLeastWindow = std::chrono::seconds(30);
  static constexpr double kLeastIterations = 16;
  static constexpr double kAborted = 0.3;
  static constexpr double kKept = 1.05;
  static constexpr double kUndone = 1.0;
  static constexpr double kOfSlice = 0.9;
  static constexpr Duration kFirstRest = std::chrono::minutes(10);
  static constexpr Duration kMostRest = std::chrono::hours(4);

  // Returns the packs from now on, trials included; in a fixed order. A pack ends when it is no
  // candidate any more. REQUIRES: `now` does not decrease, and names are unique.
  std::vector<GpuPack> Plan(Instant now, std::span<const PackCandidate> candidates);

  // Records what a pack has done since the last call for it. Returns whether that ends the pack: it
  // is refused, or undone. Ignored, if there is no such pack.
  bool Observe(Instant now, const GpuPack& pack, const PackWindow& window);

  // Returns whether the pack is on trial.
  bool IsOnTrial(const GpuPack& pack) const;

  // Returns the results, measured here or set.
  const std::map<WorkloadPair, PackResult>& results() const { return results_; }
  void SetResult(const WorkloadPair& pair, const PackResult& result) { results_[pair] = result; }

  struct Counts {
    uint64_t tried = 0;
    uint64_t kept = 0;    // after a trial
    uint64_t undone = 0;  // trials that were refused or aborted, and packs that were undone
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Pack {
    PackCandidate candidate;  // as of the last plan
    bool on_trial = false;
    PackWindow window;       // the present one, so far
    size_t windows = 0;      // of the trial
    PackWindow all;          // of the trial
    size_t bad_windows = 0;  // one after the other, of a kept pack
  };

  bool MayPack(Instant now, const PackCandidate& candidate) const;
  std::array<double, 2> SpeedsIn(const Pack& pack, const PackWindow& window) const;
  void Refuse(Instant now, const Pack& pack, const std::array<double, 2>& speeds);
  PackResult& ResultOf(const Pack& pack, const std::array<double, 2>& speeds);

  std::map<GpuPack, Pack> packs_;
  std::map<WorkloadPair, PackResult> results_;
  Counts counts_;
};

}  // namespace synergy
