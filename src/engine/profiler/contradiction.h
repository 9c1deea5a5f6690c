#pragma once

// Checks whether pods are as fast as a user's TrainingProfile claims. Synergy never changes such a
// profile, but notifies its author.
//
// A profile's throughput may be in any unit, so only ratios can be compared. A steady window of a
// pod (profile/measured/rate_window.h) has a rate in iterations per second. That rate divided by
// the profile's throughput for the pod's CPU gives the profile's unit. The amounts that a pod could
// have used are not always known. Without limits, its CPU lies between its use and its node's CPU.
// Its memory lies between its request and the profile's largest amount. So a window gives a range
// for the unit. A profile is contradicted if the ranges of two amounts of CPU are more than `drift`
// apart for `drift_time`.
//
// There is no verdict for
//   * a workload that was seen with only one amount of CPU
//   * more CPU than the container started with if the pod has no use for it: it may have too few
//     data workers
//   * a pod of a gang, or of another job with several pods, because the slowest pod sets the pace
//   * the first two epochs, in which caches fill; or a profile in which memory matters, if the log
//     reports no epochs
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

// One version of a profile. The uid is part of it, because a profile that is deleted and created
// again begins with generation 1.
struct ProfileVersion {
  std::string uid;
  int64_t generation = 0;

  bool operator==(const ProfileVersion&) const = default;
};

// A profile written by a user.
struct GivenProfile {
  ProfileVersion version;
  std::shared_ptr<const JobProfile> curve;
};

enum class Verdict : uint8_t { kUnknown, kFits, kContradicted };

struct ProfileVerdict {
  Verdict verdict = Verdict::kUnknown;
  ProfileVersion version;  // of the profile judged
  std::string message;     // kContradicted: the measured speeds, and the profile's claim

  bool operator==(const ProfileVerdict&) const = default;
};

// The range of iterations per unit of the profile's throughput.
struct UnitRange {
  double low = 0;
  double high = 0;
};

// The latest windows of a workload with one amount of CPU.
struct SeenAmount {
  MilliCpu cpu;
  double rate = 0;
  double claimed = 0;  // the profile's throughput
  std::vector<double> lows;
  std::vector<double> highs;  // only from windows in which the pod could not have been faster
  Instant at{};
};

// Identifies a profile and the pods that use it and do the same work per iteration.
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
  ProfileVersion version;
  std::vector<SeenAmount> amounts;  // by CPU, ascending
  std::optional<Instant> apart_since;
  std::optional<Instant> together_since;
  ProfileVerdict verdict;
};

struct ComparedPod {
  WatchedPod watched;
  ProfileVersion version;
  std::shared_ptr<const JobProfile> curve;  // for the pod's GPUs
  MilliCpu began_with;                      // 0: unknown
  Instant observed{};
};

struct ContradictionMemory {
  std::unordered_map<std::string, ComparedPod> pods;  // by uid
  std::map<ComparedKey, Compared> compared;
  Instant next_tidy_up{};
};

class ContradictionFinder {
 public:
  explicit ContradictionFinder(ProfilerSettings settings) : settings_(settings) {}

  // Processes the node agent's report about a running managed pod with a user's profile. `since`:
  // the start of the agent. `node_cpu` and `gpu_product` describe the node. Returns the verdict if
  // this report changed it.
  std::optional<ProfileVerdict> Observe(ContradictionMemory& memory,
                                        const std::shared_ptr<const Pod>& pod, MilliCpu node_cpu,
                                        const std::string& gpu_product, const GivenProfile& given,
                                        const PodProgress& progress, WallTime since,
                                        Moment at) const;

 private:
  ProfilerSettings settings_;
};

}  // namespace synergy
