#pragma once

// Measurements that Synergy made of a workload while it trained: live optimistic profiling
// (Synergy, OSDI'22, section 3.1, on running pods; docs/internals/profiling.md). The controller
// keeps them as the status.measured of a TrainingProfile of its own.
//
// A *workload* is a set of pods that are alike: in the image and the command of their training
// container, or in the label synergy.io/workload. Its speed is measured separately for each GPU
// count, GPU product and gang size, because pods that train together wait for each other.
//
// Throughput is that of the whole pod in iterations a second; CPU is the training container's. For
// a gang: iterations of all its pods together, and the CPU of each pod.
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
#include "profile/measured/workload_identities.h"
#include "profile/training_profile.h"

namespace synergy {

// How certain a point is.
enum class PointCertainty : uint8_t {
  kExact,
  kAtLeast,  // the pod may be faster with that CPU: something else held it back
  kGuess,    // from CPU seconds per iteration only: never seen with that CPU
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

// How a workload uses memory, from observation of its pods (memory_study.h).
struct MeasuredMemory {
  Bytes process;              // the peak of anonymous and shared memory
  Bytes data_set;             // bytes read in an epoch; 0: hardly anything is read
  Bytes bytes_per_iteration;  // read, from the cache or from storage
  // Per second, a lower bound. nullopt: nothing came from storage while it was watched.
  std::optional<Bytes> storage_bandwidth;
  // Watched for long enough that the processes have shown their peak. Until then a pod may be given
  // more memory than its fair share, but is not cut below it.
  bool confirmed = false;

  bool operator==(const MeasuredMemory&) const = default;
};

// The TrainingProfile whose curve was taken over because a window agreed with it, and by which
// identity it was found.
struct TakenCurve {
  std::string profile;
  LooserIdentity by = LooserIdentity::kArguments;

  bool operator==(const TakenCurve&) const = default;
};

struct MeasuredProfile {
  std::string workload;
  LooserIdentities alike;             // by which other workloads are like it
  std::optional<TakenCurve> taken;    // nullopt: measured on pods of its own
  std::string gpu_product;            // as in the node label nvidia.com/gpu.product; empty: unknown
  Gpus gpus = Gpus(1);                // of a pod
  int32_t gang_size = 1;              // pods of its gang (cluster/gang.h); 1: it trains alone
  std::string node;                   // where most of it was measured
  int64_t revision = 0;               // starts at 1; one more with each change of the points
  WallTime at{};                      // of the last change
  std::vector<MeasuredPoint> points;  // by CPU, ascending; never empty
  std::optional<double> cpu_seconds;  // of CPU for an iteration, if the CPU is the limit
  // Probes agree with the points; otherwise these follow from progress only.
  bool confirmed = false;
  // The speed no longer follows the points; they are being measured again.
  bool drifted = false;
  // The best was seen with all workers busy: with more CPU, and more workers, a new pod may be
  // faster.
  bool censored = false;
  // Based on GPU busy time, because nothing reports iterations. An iteration is one second of it,
  // which `cpu_seconds` refers to, and the profile is `censored`.
  bool estimate = false;
  int32_t probes = 0;
  double lost_iterations = 0;            // to probes
  std::optional<MeasuredMemory> memory;  // nullopt: not known well enough
  std::string note;                      // a sentence for readers of the profile; may be empty

  bool operator==(const MeasuredProfile&) const = default;
};

// Whether less CPU than the fair share may be too little: pods were held back by few workers, or by
// something that has changed, and might have been faster with more CPU.
bool IsCpuInDoubt(const MeasuredProfile& measured);
// The same for memory: the processes may need more than they have shown so far.
bool IsMemoryInDoubt(const MeasuredProfile& measured);

// Whether it may be a hint for pods of another workload: it was measured on pods of its own, and
// confirmed by probes.
bool MayHint(const MeasuredProfile& measured);
// Whether `a` is the better hint: the newer one; of two at the same time, the one whose workload is
// first in order.
bool IsBetterHint(const MeasuredProfile& a, const MeasuredProfile& b);

// Returns the name of the TrainingProfile that is kept for it: a DNS subdomain of at most 253
// characters.
std::string MeasuredName(std::string_view workload, Gpus gpus, std::string_view gpu_product,
                         int32_t gang_size = 1);
std::string MeasuredName(const MeasuredProfile& measured);

// Returns the profile that the tuner and admission use. If the memory is unknown, the profile is
// the same for any memory and has no process memory. If it is known, the points are what the CPU
// allows with the data set in memory; with less, storage sets a limit (cache_model.h) or, if its
// bandwidth is unknown, the whole data set is needed in memory. Points that differ by no more than
// repeated measurements do are made equal, so that no demand depends on chance.
TrainingProfile TrainingOf(const MeasuredProfile& measured);
// kInvalid as JobProfile::Create reports it.
Result<JobProfile> MakeJobProfile(const MeasuredProfile& measured);

}  // namespace synergy
