#pragma once

// Measurements that Synergy made of a workload while it trained: live optimistic profiling
// (Synergy, OSDI'22, section 3.1, on running pods; docs/internals/profiling.md). The controller
// keeps them as status.measured of a TrainingProfile that it owns.
//
// A *workload* is a set of pods that are alike in the image and the command of their training
// container, or in the label synergy.io/workload. Its speed is measured separately for each GPU
// count, GPU product and gang size, because pods that train together wait for each other.
//
// Throughput is that of the whole pod in iterations a second; CPU is the training container's. A
// gang counts the iterations of all its pods together, and the CPU of each pod.
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
#include "profile/measured/memory_raise.h"
#include "profile/measured/workload_identities.h"
#include "profile/training_profile.h"

namespace synergy {

// How certain a point is.
enum class PointCertainty : uint8_t {
  kExact,
  kAtLeast,  // the pod may be faster with that CPU: something else limited it
  kGuess,    // computed from CPU seconds per iteration, never seen with that CPU
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

// How a workload uses memory, as observed on its pods (memory_study.h).
struct MeasuredMemory {
  Bytes process;              // the peak of anonymous and shared memory
  Bytes data_set;             // bytes read in an epoch; 0: it reads hardly anything
  Bytes bytes_per_iteration;  // read, from the cache or from storage
  // A lower bound, per second; nullopt: storage delivered nothing while pods were watched.
  std::optional<Bytes> storage_bandwidth;
  // Whether the pods were watched for long enough that the processes have shown their peak. Until
  // then a pod may get more memory than its fair share, but is not cut below it.
  bool confirmed = false;
  // The time (MemoryRaise::at) of a raise that has ended, because a later pod has shown its peak.
  std::optional<WallTime> raise_over = std::nullopt;

  bool operator==(const MeasuredMemory&) const = default;
};

// The TrainingProfile whose curve was adopted because a window agreed with the curve, and the
// identity by which the profile was found.
struct TakenCurve {
  std::string profile;
  LooserIdentity by = LooserIdentity::kArguments;

  bool operator==(const TakenCurve&) const = default;
};

struct MeasuredProfile {
  std::string workload;
  LooserIdentities alike;           // identities that other workloads may share
  std::optional<TakenCurve> taken;  // nullopt: measured on its own pods
  std::string gpu_product;          // as in the node label nvidia.com/gpu.product; empty: unknown
  Gpus gpus = Gpus(1);              // of a pod
  int32_t gang_size = 1;            // pods of its gang (cluster/gang.h); 1: it trains alone
  std::string node;                 // where most of it was measured
  int64_t revision = 0;             // starts at 1, and grows by one with each change of the points
  WallTime at{};                    // of the last change
  std::vector<MeasuredPoint> points;  // by CPU, ascending; never empty
  std::optional<double> cpu_seconds;  // CPU seconds per iteration, if CPU is the limit
  // Probes agree with the points; if not set, the points follow only from progress.
  bool confirmed = false;
  // The speed no longer follows the points, which are being measured again.
  bool drifted = false;
  // The best speed was seen with all workers busy: with more CPU and more workers, a new pod may be
  // faster.
  bool censored = false;
  // The profile is based on GPU busy time, because nothing reports iterations. One busy second then
  // counts as an iteration, also for `cpu_seconds`, and the profile is `censored`.
  bool estimate = false;
  int32_t probes = 0;
  double lost_iterations = 0;            // lost to probes
  std::optional<MeasuredMemory> memory;  // nullopt: not known well enough
  std::optional<MemoryRaise> raise;      // written after processes were killed, not by the profiler
  std::string note;                      // a sentence for people; may be empty

  bool operator==(const MeasuredProfile&) const = default;
};

// Returns the memory that the processes count as needing: at least the measured amount and, while a
// raise is in force, at least the raised amount. Returns nullopt if the memory is not measured.
std::optional<Bytes> ProcessMemoryOf(const MeasuredProfile& measured);
// Returns whether the raise is in force.
bool IsRaised(const MeasuredProfile& measured);

// Returns whether less CPU than the fair share may be too little. That is so if few workers, or a
// cause that has since changed, limited the measured pods, which might have been faster with more
// CPU.
bool IsCpuInDoubt(const MeasuredProfile& measured);
// Does the same for memory: the processes may need more than they have shown so far.
bool IsMemoryInDoubt(const MeasuredProfile& measured);

// Returns whether the profile may be a hint for pods of another workload: it was measured on its
// own pods, and probes confirmed it.
bool MayHint(const MeasuredProfile& measured);
// Returns whether `a` is the better hint: the newer one or, if both are equally old, the one whose
// workload sorts first.
bool IsBetterHint(const MeasuredProfile& a, const MeasuredProfile& b);

// Returns the name of its TrainingProfile: a DNS subdomain of at most 253 characters.
std::string MeasuredName(std::string_view workload, Gpus gpus, std::string_view gpu_product,
                         int32_t gang_size = 1);
std::string MeasuredName(const MeasuredProfile& measured);

// Returns the profile that the tuner and admission use. If the memory is unknown, the profile is
// the same for any memory and has no process memory. If it is known, the points are the speeds that
// CPU allows with the data set in memory. With less memory, storage sets a limit (cache_model.h)
// or, if its bandwidth is unknown, the whole data set must be in memory. Points that differ by no
// more than repeated measurements do are made equal, so that no demand depends on chance.
TrainingProfile TrainingOf(const MeasuredProfile& measured);
// Returns kInvalid as JobProfile::Create does.
Result<JobProfile> MakeJobProfile(const MeasuredProfile& measured);

}  // namespace synergy
