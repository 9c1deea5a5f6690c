#pragma once

// Chooses sharers of a GPU that run at the same time instead of in turns (packing). Packing is
// measured, and undone if it does not help (introspection of Gandiva, OSDI'18).
//
//   unknown --> on trial --> kept ------> undone, refused for a while
//                  |                          ^
//                  '--- aborted, refused -----'
//
// A pair is tried if both take turns on the same GPUs, fit into the GPU memory together, and have a
// known rate alone. The pair that keeps the GPU least busy comes first, and a node has one trial at
// a time. A trial consists of kTrialWindows windows, each of at least kLeastWindow and with at
// least kLeastIterations of each sharer. Let r be a sharer's rate in the trial relative to its rate
// alone, and s the fraction of the time that is its slot. A window also ends if r < 0.3 and the
// sharer could have done kLeastIterations alone, so that a slow training does not starve for hours.
// A pack has these results:
//
//   aborted   at once, if r < 0.3 of either
//   kept      if the sum of both r is above 1.05, and each r is at least 0.9 s
//   undone    once kept, if in two windows, one after the other, the sum is below 1.0 or an r is
//             below 0.9 s
//
// A refused pair is not tried again for ten minutes; the time doubles with each refusal, up to four
// hours. A result applies to the pair of workloads on the GPU product, on any node. So two other
// pods of a kept pair are packed without a trial.
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
#include "profile/measured/pack_record.h"

namespace synergy {

struct WorkloadPair {
  std::string first;  // not after `second`
  std::string second;
  std::string gpu_product;

  auto operator<=>(const WorkloadPair&) const = default;
};

// Returns the pair of workloads in canonical order.
WorkloadPair PairOf(std::string workload, std::string other, std::string gpu_product);

struct PackMember {
  std::string name;                           // same as GpuSharer::name
  std::string workload;                       // equal for pods that are alike
  std::optional<double> alone;                // iterations per second; absent: unknown
  std::optional<double> busy = std::nullopt;  // fraction of time that it keeps the GPU busy alone
  double slice = 0.5;                         // fraction of the time that is its slot in turns
};

// Two active sharers of the same blocks that take turns or run packed.
struct PackCandidate {
  std::string node;  // a node has one trial at a time
  std::string gpu_product;
  PackMember first;
  PackMember second;
  bool fits = false;  // both fit into the GPU's memory, with the reserve
};

WorkloadPair PairOf(const PackCandidate& candidate);

// The work of both members of a pack while both ran.
struct PackWindow {
  Duration length{};
  std::array<double, 2> iterations{};  // of the first and the second sharer, as in GpuPack
};

// The result of measuring a pair of workloads on a product; in the order of WorkloadPair.
struct PackResult {
  std::array<double, 2> speeds{};  // relative to the rates alone, as last measured
  bool good = false;
  uint32_t refusals = 0;    // consecutive
  Instant refused_until{};  // the pair is not tried before this time
  Instant measured_at{};
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
  static constexpr Duration kMostRest = kLongestPackRest;

  // Returns the packs from now on, including trials, in a fixed order. A pack ends when it is no
  // longer a candidate. REQUIRES: `now` does not decrease, and names are unique.
  std::vector<GpuPack> Plan(Instant now, std::span<const PackCandidate> candidates);

  // Records the work of a pack since the last call for it. Returns whether the pack ends, refused
  // or undone. Does nothing if there is no such pack.
  bool Observe(Instant now, const GpuPack& pack, const PackWindow& window);

  // Ends a pack and refuses its pair. `speeds`: relative to the rates alone, in the order of the
  // pack. Does nothing if there is no such pack.
  void Abort(Instant now, const GpuPack& pack, const std::array<double, 2>& speeds);
  // Ends a pack that cannot be measured. The pair rests for kFirstRest without a refusal, and no
  // longer counts as good. Does nothing if there is no such pack.
  void Abandon(Instant now, const GpuPack& pack);

  // Return whether there is such a pack, and whether there is one on trial.
  bool Holds(const GpuPack& pack) const { return packs_.contains(pack); }
  bool IsOnTrial(const GpuPack& pack) const;

  // Returns the results, measured here or set.
  const std::map<WorkloadPair, PackResult>& results() const { return results_; }
  void SetResult(const WorkloadPair& pair, const PackResult& result) { results_[pair] = result; }
  void Forget(const WorkloadPair& pair) { results_.erase(pair); }

  struct Counts {
    uint64_t tried = 0;
    uint64_t kept = 0;    // after a trial
    uint64_t undone = 0;  // refused or aborted trials, and packs that were undone
  };
  const Counts& counts() const { return counts_; }

 private:
  struct Pack {
    PackCandidate candidate;  // as of the last plan
    bool on_trial = false;
    PackWindow window;       // the current one, so far
    size_t windows = 0;      // of the trial
    PackWindow all;          // of the trial
    size_t bad_windows = 0;  // consecutive, of a kept pack
  };

  bool MayPack(Instant now, const PackCandidate& candidate) const;
  std::array<double, 2> SpeedsIn(const Pack& pack, const PackWindow& window) const;
  void Refuse(Instant now, const Pack& pack, const std::array<double, 2>& speeds);
  PackResult& ResultOf(Instant now, const Pack& pack, const std::array<double, 2>& speeds);

  std::map<GpuPack, Pack> packs_;
  std::map<WorkloadPair, PackResult> results_;
  Counts counts_;
};

}  // namespace synergy
