#pragma once

// Whether pods are as fast as the TrainingProfile says that somebody wrote for them. Such a profile
// is never changed; its author is told.
//
// A profile's throughput may be in any unit, so only ratios can be compared. A steady window of a
// pod (profile/measured/rate_window.h) has a rate in iterations per second; divided by the
// throughput that the profile has for the pod's CPU it is the profile's unit. What a pod could have
// had is not always known: without a limit it lies between what it used and its node's CPU, and its
// memory between what it requests and the most in the profile. So a window gives a range for the
// unit. A profile is contradicted where the ranges of two amounts of CPU are apart by more than
// `drift`, for `drift_time`.
//
// Nothing is said
//   * of a workload that was seen with one amount of CPU only
//   * of more CPU than the container began with, where the pod has no use for it: its data workers
//     may be too few
//   * of a pod of a gang, or of another job with several, because the slowest of them sets the pace
//   * of the first two epochs, in which caches fill; and where the log tells of no epochs, of a
//     profile in which memory matters
//
// Threading: pure; one owner of the memory.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "core/units.h"
#include "engine/profiler/profiler.h"
#include "engine/profiler/profiler_memory.h"
#include "profile/job_profile.h"
#include "profile/pod_progress.h"

namespace synergy {

// What somebody wrote.
struct GivenProfile {
  int64_t generation = 0;
  std::shared_ptr<const JobProfile> curve;
};

enum class Verdict : uint8_t { kUnknown, kFits, kContradicted };

struct ProfileVerdict {
  Verdict verdict = Verdict::kUnknown;
  int64_t generation = 0;  // of the profile that it is about
  std::string message;     // kContradicted: what was seen, and what the profile says

  bool operator==(const ProfileVerdict&) const = default;
};

// Iterations for one unit of the profile's throughput.
struct UnitRange {
  double low = 0;
  double high = 0;
};

// What was seen of a workload with one amount of CPU, in its last windows.
struct SeenAmount {
  MilliCpu cpu;
  double rate = 0;
  double said = 0;  // by the profile
  std::vector<double> lows;
  std::vector<double> highs;  // where the pod cannot have been faster with it
  Instant at{};
};

// A profile and who uses it: pods that do the same work in an iteration.
struct ComparedKey {
  std::string profile_namespace;
  std::string profile;
  std::string workload;
  Gpus gpus;
  std::string gpu_product;
  std::string format;

  auto operator<=>(const ComparedKey&) const = default;
};

struct Compared {
  int64_t generation = 0;
  std::vector<SeenAmount> amounts;  // by CPU, ascending
  std::optional<Instant> apart_since;
  std::optional<Instant> together_since;
  ProfileVerdict verdict;
};

struct ComparedPod {
  WatchedPod watched;
  int64_t generation = 0;
  std::shared_ptr<const JobProfile> curve;  // for the pod's GPUs
  MilliCpu began_with;                      // 0: not known
  Instant heard{};
};

struct ContradictionMemory {
  std::unordered_map<std::string, ComparedPod> pods;  // by uid
  std::map<ComparedKey, Compared> compared;
  Instant next_tidy_up{};
};

class ContradictionFinder {
 public:
  explicit ContradictionFinder(ProfilerSettings settings) : settings_(settings) {}

  // What the agent of the pod's node, which started at `since`, tells of a running managed pod with
  // a given profile. `node_cpu` and `gpu_product` are the node's. The verdict about the profile,
  // where this has changed it.
  std::optional<ProfileVerdict> Hear(ContradictionMemory& memory,
                                     const std::shared_ptr<const Pod>& pod, MilliCpu node_cpu,
                                     const std::string& gpu_product, const GivenProfile& given,
                                     const PodProgress& progress, WallTime since, Moment at) const;

 private:
  ProfilerSettings settings_;
};

}  // namespace synergy
