#pragma once

// The simulator that the authors of Synergy published (github.com/msr-fiddle/synergy), job by job,
// with all its differences from the paper (OSDI'22): it shows that we measure the same things. It
// is confined to this folder.
//
// * Time advances in rounds. Every round frees all servers and allocates again; a whole round's
//   progress is charged at its start, in whole iterations, and a job ends only between rounds.
// * A job runs at the speed of the fair share, or at its speed-up with its full demand; nothing
//   in between, and nothing for spreading or moving it.
// * Storage is a resource of 62.5 MB/s per GPU.
// * First come, first served ignores how long a job has waited; under the other policies a job that
//   has not run for 1000 hours has precedence. SRTF, FTF and TETRIS use the speed after the last
//   round's cut. FTF gives precedence to the best treated jobs.
// * Opt runs on one machine as large as the cluster, allocates nothing, and is reproduced only in
//   the mean: among equal choices, the authors' solver takes another.
// * All policies but LAS give later jobs the GPUs that an earlier job cannot use.
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

// Ignores case; the error lists the names.
Result<ReferencePolicy> ParseReferencePolicy(std::string_view name);
Result<ReferenceMechanism> ParseReferenceMechanism(std::string_view name);

// The origin of the trace, which determines when rounds begin and when the run ends.
enum class ReferenceArrivals {
  // kStatic if the first job arrives within the first second and the last within the first round;
  // else kGenerated if a window leaves out jobs at the end of a trace in the order of arrival, as
  // when a steady state is measured; else kReplay.
  kAuto,
  // All jobs are present at the start: rounds begin at 1 s. The run ends with a round without jobs.
  kStatic,
  // A recorded trace: rounds begin at the first multiple of their length at or after the first
  // line's arrival. The run ends with a round without jobs, even if more would arrive later.
  kReplay,
  // A generator's jobs, one after the other: rounds begin at 0 and continue without jobs.
  kGenerated,
};

// Parses "auto", "static", "replay" or "generated"; the error lists them.
Result<ReferenceArrivals> ParseReferenceArrivals(std::string_view name);

struct ReferenceOptions {
  int64_t servers = 16;
  ResourceVector server{Gpus(8), Cores(24), GB(500)};  // each
  ReferencePolicy policy = ReferencePolicy::kFifo;
  ReferenceMechanism mechanism = ReferenceMechanism::kTune;
  bool consolidate = false;  // "place": by the fewest free GPUs rather than by server number
  Seconds round{300};
  // The run ends at the moment when as many jobs of the window have finished as it has ids. Without
  // a window, it ends when all have finished.
  std::optional<JobWindow> window;
  ReferenceArrivals arrivals = ReferenceArrivals::kAuto;
};

struct ReferenceRun {
  std::vector<JobTimes> jobs;     // in the order of the trace
  std::vector<Seconds> attained;  // by job: time in rounds
  int64_t rounds = 0;
  // The allocated fraction of the whole cluster, from 0 to 1; the mean over all rounds.
  double mean_gpus = 0, mean_cpu = 0, mean_memory = 0;
};

// kInvalid for inconsistent options; for jobs that the authors' program rejects or that would never
// end; and where their program breaks off, with the reason.
Result<ReferenceRun> SimulateReference(std::span<const TraceJob> trace, const ModelFacts& facts,
                                       const ReferenceOptions& options);

}  // namespace synergy
