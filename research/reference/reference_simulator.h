#pragma once

// Reproduces, job by job, the simulator that the authors of Synergy published
// (github.com/msr-fiddle/synergy), with all its differences from the paper (OSDI'22). It shows that
// we measure the same things. Everything about it is in this folder.
//
// * Time advances in rounds. Every round frees all servers and allocates again. The progress of a
//   whole round is charged at its start, in whole iterations, and jobs end only between rounds.
// * A job runs at the speed of the fair share, or at its speed-up with its full demand, and at no
//   speed in between. Spreading or moving it costs nothing.
// * Storage is a resource of 62.5 MB/s per GPU.
// * First come, first served ignores how long a job has waited; under the other policies a job that
//   has not run for 1000 hours has precedence. SRTF, FTF and TETRIS use the speed after the last
//   round's cut. FTF gives precedence to the best treated jobs.
// * Opt runs on one machine as large as the cluster and allocates nothing. Only its means are
//   reproduced: of equal choices, the authors' solver takes another.
// * All policies except LAS give later jobs the GPUs that an earlier job cannot use.
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

// Ignores case. The error lists the names.
Result<ReferencePolicy> ParseReferencePolicy(std::string_view name);
Result<ReferenceMechanism> ParseReferenceMechanism(std::string_view name);

// Where the trace comes from, which determines when rounds begin and when the run ends.
enum class ReferenceArrivals {
  // kStatic if the first job arrives within the first second and the last within the first round.
  // Otherwise kGenerated if the trace is in the order of arrival and the window leaves out jobs at
  // its end, as for a steady state. Otherwise kReplay.
  kAuto,
  // All jobs exist at the start. Rounds begin at 1 s. The run ends with a round without jobs.
  kStatic,
  // A recorded trace. Rounds begin at the first multiple of their length that is not before the
  // arrival of the first line. The run ends with a round without jobs, even if more jobs would
  // arrive later.
  kReplay,
  // A generator's jobs, one after the other. Rounds begin at 0 and continue without jobs.
  kGenerated,
};

// Parses "auto", "static", "replay" or "generated". The error lists these.
Result<ReferenceArrivals> ParseReferenceArrivals(std::string_view name);

struct ReferenceOptions {
  int64_t servers = 16;
  ResourceVector server{Gpus(8), Cores(24), GB(500)};  // size of each server
  ReferencePolicy policy = ReferencePolicy::kFifo;
  ReferenceMechanism mechanism = ReferenceMechanism::kTune;
  // whether "place" chooses servers by the fewest free GPUs instead of by number
  bool consolidate = false;
  Seconds round{300};
  // The run ends when as many jobs of the window have finished as it has ids. Without a window, it
  // ends when all have finished.
  std::optional<JobWindow> window;
  ReferenceArrivals arrivals = ReferenceArrivals::kAuto;
};

struct ReferenceRun {
  std::vector<JobTimes> jobs;     // in the order of the trace
  std::vector<Seconds> attained;  // time in rounds of each job
  int64_t rounds = 0;
  // The allocated fraction of the whole cluster, from 0 to 1, as the mean over all rounds.
  double mean_gpus = 0, mean_cpu = 0, mean_memory = 0;
};

// Returns kInvalid for inconsistent options, for jobs that the authors' program rejects or that
// would never end, and, with the reason, where their program breaks off.
Result<ReferenceRun> SimulateReference(std::span<const TraceJob> trace, const ModelFacts& facts,
                                       const ReferenceOptions& options);

}  // namespace synergy
