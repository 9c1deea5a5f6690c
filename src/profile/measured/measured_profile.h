#pragma once

// What Synergy has measured of a workload while it trained: live optimistic profiling (Synergy,
// OSDI'22, section 3.1, on running pods; docs/profiling.md). The controller keeps it as the
// status.measured of a TrainingProfile of its own.
//
// A *workload* is what pods have in common that are alike: the image and the command of their
// training container, or the label synergy.io/workload. Its speed is measured for each GPU count,
// GPU product and size of gang apart: pods that train together wait for each other.
//
// Throughput is that of the whole pod in iterations a second, CPU the training container's. Of a
// gang: iterations of all its pods together, and the CPU that each of them has.
//
// Threading: values, pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"
#include "profile/training_profile.h"

namespace synergy {

// How sure a point is.
enum class PointCertainty : uint8_t {
  kExact,
  kAtLeast,  // the pod may be faster with that CPU: something else held it back meanwhile
  kGuess,    // by CPU seconds per iteration alone: nobody has seen it run with that CPU
};
std::string_view ToString(PointCertainty certainty);  // "exact", "at least", "guess"
Result<PointCertainty> ParsePointCertainty(std::string_view text);

struct MeasuredPoint {
  MilliCpu cpu;
  double throughput = 0;
  PointCertainty certainty = PointCertainty::kExact;
  int32_t windows = 0;  // how often it was measured
  double spread = 0;    // between those windows, as a fraction of the throughput

  bool operator==(const MeasuredPoint&) const = default;
};

// What a workload does with memory, as its pods were seen to (memory_study.h).
struct MeasuredMemory {
  Bytes process;              // the peak of anonymous and shared memory
  Bytes data_set;             // bytes read in an epoch; 0: hardly anything is read
  Bytes bytes_per_iteration;  // read, from the cache or from storage
  // Per second; at least so much. None: nothing came from storage while it was watched.
  std::optional<Bytes> storage_bandwidth;
  // Watched for so long that the processes have shown their peak. Before that more memory than the
  // fair share may be given, and nothing below it taken.
  bool confirmed = false;

  bool operator==(const MeasuredMemory&) const = default;
};

struct MeasuredProfile {
  std::string workload;
  std::string gpu_product;  // as in the node label nvidia.com/gpu.product; empty: it says nothing
  Gpus gpus = Gpus(1);      // of a pod
  int32_t gang_size = 1;    // pods of its gang (cluster/gang.h); 1: it trains alone
  std::string node;         // where most of it was measured
  int64_t revision = 0;     // from 1 on; one more with each change of the points
  WallTime at{};            // of the last change
  std::vector<MeasuredPoint> points;  // by CPU, ascending; never empty
  std::optional<double> cpu_seconds;  // of CPU for an iteration, where the CPU is what limits it
  bool confirmed =
      false;  // probes have agreed with the points; else they follow from progress alone
  // The speed no longer follows the points; they are being measured again.
  bool drifted = false;
  // The best was seen with all workers busy: with more CPU, and more workers, a new pod may be
  // faster.
  bool censored = false;
  // By GPU busy time, for want of anything that tells of iterations: an iteration is a second of
  // it, `cpu_seconds` is for that, and the profile is `censored`.
  bool estimate = false;
  int32_t probes = 0;
  double lost_iterations = 0;            // to probes
  std::optional<MeasuredMemory> memory;  // none: not known well enough to go by
  std::string note;  // what whoever reads it has to know, in a sentence; may be empty

  bool operator==(const MeasuredProfile&) const = default;
};

// Whoever is held back by few workers, or by something that has changed, might be with more CPU as
// well: nobody knows that less than the fair share would do.
bool IsCpuInDoubt(const MeasuredProfile& measured);
// Likewise of memory: the processes may need more than they have shown yet.
bool IsMemoryInDoubt(const MeasuredProfile& measured);

// The name of the TrainingProfile that is kept for it: a DNS subdomain of at most 253 characters.
std::string MeasuredName(std::string_view workload, Gpus gpus, std::string_view gpu_product,
                         int32_t gang_size = 1);
std::string MeasuredName(const MeasuredProfile& measured);

// As the tuner and admission use it. Where the memory is not known the profile says the same with
// any of it, and has no process memory. Where it is, the points are what the CPU allows with the
// data set in memory: with less of it storage sets a limit (cache_model.h), or, where nobody knows
// the storage's bandwidth, all of it is needed. Points that differ by less than measurements do say
// the same, so that nobody's demand is up to chance.
TrainingProfile TrainingOf(const MeasuredProfile& measured);
// kInvalid as JobProfile::Create says it.
Result<JobProfile> MakeJobProfile(const MeasuredProfile& measured);

}  // namespace synergy
