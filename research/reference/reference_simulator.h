#pragma once

// The simulator that the authors of Synergy published (github.com/msr-fiddle/synergy), job by job,
// with everything in it that differs from the paper (OSDI'22): for showing that we measure the same
// things. Only this folder knows of it.
//
//   * Time goes in rounds. Every round frees all servers and allocates again; a whole round's
//     progress is booked at its start, in whole iterations, and a job ends only between rounds.
//   * A job runs at the speed of the fair share, or at its speed-up with its full demand; nothing
//     in between, and nothing for spreading or moving it.
//   * Storage is a resource of 62.5 MB/s per GPU.
//   * First come, first served ignores how long a job has waited; under the other policies one that
//     has not run for 1000 hours goes first. SRTF, FTF and TETRIS count with the speed that the
//     last round's cut left. FTF has the best treated jobs go first.
//   * Opt runs on one machine as large as the cluster, allocates nothing, and is reproduced only in
//     the mean: of choices that come to the same, the authors' solver takes another.
//   * All policies but LAS let later jobs take the GPUs that an earlier one has no use for.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "sim/model_facts.h"
#include "sim/statistics.h"
#include "sim/trace.h"

namespace synergy {

enum class ReferencePolicy { kFifo, kSrtf, kLas, kFtf, kDrf, kTetris };
enum class ReferenceMechanism { kFair, kGreedy, kTune, kOpt };

// In either case; the error lists the names.
Result<ReferencePolicy> ParseReferencePolicy(std::string_view name);
Result<ReferenceMechanism> ParseReferenceMechanism(std::string_view name);

// Where the trace comes from, which decides when rounds begin and when the run ends.
enum class ReferenceArrivals {
  // kStatic where the first job arrives within the first second and the last within the first
  // round; else kGenerated where a window leaves out jobs at the end of a trace that is in the
  // order of arrival, as when a steady state is measured; else kReplay.
  kAuto,
  // All there from the start: rounds begin at 1 s. The run ends with a round that has no job.
  kStatic,
  // A recorded trace: rounds begin at the first multiple of their length at or after the first
  // line's arrival. The run ends with a round that has no job, also where more would arrive later.
  kReplay,
  // A generator's jobs, one after the other: rounds begin at 0 and go on when there is no job.
  kGenerated,
};

// "auto", "static", "replay" or "generated"; the error lists them.
Result<ReferenceArrivals> ParseReferenceArrivals(std::string_view name);

struct ReferenceOptions {
  int64_t servers = 16;
  ResourceVector server{Gpus(8), Cores(24), GB(500)};  // each
  ReferencePolicy policy = ReferencePolicy::kFifo;
  ReferenceMechanism mechanism = ReferenceMechanism::kTune;
  bool consolidate = false;  // "place": by the fewest free GPUs rather than by server number
  Seconds round{300};
  // The run ends in the very moment in which as many jobs of the window have finished as it has
  // ids. Without it, when all have.
  std::optional<JobWindow> window;
  ReferenceArrivals arrivals = ReferenceArrivals::kAuto;
};

struct ReferenceRun {
  std::vector<JobTimes> jobs;     // in the order of the trace
  std::vector<Seconds> attained;  // by job: time in rounds
  int64_t rounds = 0;
  // Of the whole cluster, from 0 to 1, the mean over all rounds.
  double mean_gpus = 0, mean_cpu = 0, mean_memory = 0;
};

// kInvalid: options that make no sense; jobs that the authors' program does not take or that would
// never end; and where their program breaks off, with the reason.
Result<ReferenceRun> SimulateReference(std::span<const TraceJob> trace, const ModelFacts& facts,
                                       const ReferenceOptions& options);

}  // namespace synergy
