#pragma once

// Chooses which pods run at the same time on a GPU on which pods take turns (packing.h). Measures
// these pods by the node agents' reports (run_meter.h). TurnPlanner owns it.
//
//   pods of GPUs, reports -> speeds alone, in turns -> candidates -> Packing -> packs
//                         '> windows of packs --------------------------^
//
// A pair of pods is a candidate if the authors of both opted in, both report iterations, and
// neither CPU is probed. The GPU's product must be known. All its pods must train, take turns and
// have the same priority. The pair must fit into the GPU's memory. A suspended pod keeps its GPU
// memory. So two pods that have both done kResidentIterations without a restart, while this planner
// saw them, already hold their memory together. Other pairs fit if the memory that their authors
// declared fits, with a reserve.
//
// A speed counts only while the pods of the GPU stay the same, their turns are written, and the
// pods run according to these turns. A trial ends without a result if reports are missing for
// RunMeter::kLongestGap, or if a training or an agent restarts. It also does if a pod ends, idles
// or opts out, or if a window takes too long. The pack then ends in the same step, so that its pods
// take turns again. A kept pack also ends if a window takes too long. A new planner has no packs
// and no speeds, and measures both again. It may take over results (pack_records.h).
//
// Threading: one owner.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/units.h"
#include "engine/sharing/gpu_turns.h"
#include "engine/sharing/pack_records.h"
#include "engine/sharing/packing.h"
#include "engine/sharing/run_meter.h"
#include "profile/pod_progress.h"

namespace synergy {

// A pod that requests GPUs in turns, and is bound to a node.
struct TurnPod {
  std::shared_ptr<const Pod> pod;
  std::optional<KnownProgress> report;  // nullopt: none in the last few minutes
  // Properties of its node's GPUs, if known and equal for all of them.
  std::string gpu_product = {};
  std::optional<Bytes> gpu_memory = std::nullopt;
  bool writable = true;  // false: a write of its annotations failed, and is not retried yet
  // Members of its gang that are on nodes, and request no GPUs in turns.
  size_t other_members = 0;
};

// A GPU on which pods take turns, with the pods that the node agent reports on it.
struct GpuInTurns {
  struct Member {
    const TurnPod* pod = nullptr;  // has a report with a `turn`
    bool takes_turns = false;      // the pod trains, and may be suspended
  };

  std::string node;
  std::string uuid;
  bool in_force = false;  // the turns of the last plan are written on these pods
  std::vector<Member> members;
};

// The results of packs.
enum class PackOutcome : uint8_t {
  kTried,    // a trial begins
  kReused,   // packed without a trial, because a trial of its workloads was good
  kKept,     // after a trial
  kRefused,  // by a trial
  kUndone,   // a kept pack was undone
  kGivenUp,  // ended without a result
};
std::string_view ToString(PackOutcome outcome);  // "tried", "reused", "kept" and so on

struct PackNews {
  PackOutcome outcome = PackOutcome::kTried;
  std::array<std::shared_ptr<const Pod>, 2> pods;
  std::array<double, 2> speeds{};  // relative to `alone`; for kReused, kKept, kRefused, kUndone
  std::array<double, 2> alone{};   // iterations per second
  Duration rest{};                 // until the pair may be tried again
};

class PackPlanner {
 public:
  static constexpr double kResidentIterations = 100;
  // The reserve of GPU memory for each pod: a factor, and an amount.
  static constexpr double kMemoryFactor = 1.1;
  static constexpr Bytes kMemoryReserve = MiB(512);
  // The time after a change before speeds count again.
  static constexpr Duration kSettles = std::chrono::seconds(5);
  // The least time that is compared with the speed alone.
  static constexpr Duration kLeastStretch = std::chrono::seconds(10);
  // In a trial, a pod may report no iterations for at least this long.
  static constexpr Duration kLeastSilence = std::chrono::seconds(20);
  static constexpr size_t kMostResults = 1000;

  // Updates the measurements, and returns the packs from now on. `gpus`: all reported GPUs with
  // turns. REQUIRES: a pod that takes turns is a member of one GPU; `at.now` does not decrease.
  std::vector<GpuPack> Plan(std::span<const GpuInTurns> gpus, Moment at);

  // Returns the results of packs since the last call.
  std::vector<PackNews> TakeNews() { return std::exchange(news_, {}); }
  const Packing& packing() const { return packing_; }
  // Takes over results of another planner. Call it before the first plan.
  void SetResults(const PackResults& results);

 private:
  using GpuKey = std::pair<std::string, std::string>;  // node, UUID
  struct Measured {
    RunMeter meter;
    RunMeter::Stretch alone;  // speed alone so far; older stretches count less
    bool seen = false;        // in this step
  };
  struct Gpu {
    std::vector<std::tuple<std::string, bool>> members;
    std::vector<GpuPack> packs;
    Instant newest_report{};
    bool seen = false;  // in this step
  };
  struct Pack {
    PackCandidate candidate;
    GpuKey gpu;
    std::array<std::shared_ptr<const Pod>, 2> pods;
    Instant begun_at{};
    Instant measured_at{};
  };

  void Observe(const GpuInTurns& gpu, Instant now);
  // Ends all stretches of the GPU's pods; the next ones begin at `from`.
  void Disturb(const Gpu& gpu, Instant from);
  void MeasureAlone(const GpuInTurns& gpu, const Gpu& state);
  void MeasurePack(const GpuPack& names, Pack& pack, Moment at);
  void AddCandidates(const GpuInTurns& gpu, Moment at, std::vector<PackCandidate>& candidates,
                     std::map<GpuPack, Pack>& known);
  bool Fits(const TurnPod& first, const TurnPod& second) const;
  PackMember MemberOf(const TurnPod& pod, double slice) const;
  // Ends a pack that has been measured.
  void Report(PackOutcome outcome, const Pack& pack, Instant now);
  void GiveUp(const GpuPack& names, const Pack& pack, Instant now);
  void ForgetOldResults(Instant now);

  Packing packing_;
  std::map<std::string, Measured> pods_;  // by uid
  std::map<GpuKey, Gpu> gpus_;
  std::map<GpuPack, Pack> packs_;
  std::vector<PackNews> news_;
};

}  // namespace synergy
