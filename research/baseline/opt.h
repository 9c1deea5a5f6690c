#pragma once

// Synergy-Opt (OSDI'22, section 4.3): an upper bound, and a plan near it.
//
// First, the cluster counts as one big machine, and an integer program gives every runnable job one
// of its DivisionChoices so that the total normalised throughput is maximal and no job is below its
// fair share's. Jobs with the same profile are interchangeable: the program's variables are how
// many of a profile get which choice, so it stays small in a large cluster.
//
// Then the jobs get servers: running ones keep theirs, the others are placed, largest first, on the
// best server by best_fit.h; a job that finds no server with its GPUs is placed on the fewest
// servers. If the choices of a server's jobs do not fit together there, or leave something over,
// the server is divided again (re_division.h). The paper has a second linear program here, whose
// shares are fractions of a GPU; ours would need an integer variable per job and server, and a
// job's CPU cannot be on another server than its GPUs. Plan::gap states the cost of the placement,
// against the first program's bound.
//
// Tune's plans are also made, as published and ours, and the best of the three is used, so that no
// round is worse than either. The published one is the result if the program finds nothing in time.
//
// Threading: as Allocator.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "research/baseline/allocator.h"
#include "research/baseline/divider.h"

namespace synergy {

struct OptOptions {
  // The limits of the search for the best choices. With the time limit alone, results could depend
  // on the machine.
  std::chrono::milliseconds time{1000};  // wall-clock time
  int64_t nodes = 2000;
  double relative_gap = 1e-4;
  // CPU steps on one server; for jobs that need several servers, times their number.
  MilliCpu cpu_step = Cores(1);
};

// The jobs' amounts if the cluster were one machine.
struct OneMachine {
  std::vector<DivisionChoice> chosen;  // by position in `runnable`
  double value = 0;                    // the total of GPUs x throughput / the fair share's
  double bound = 0;                    // no other choices have a greater value
};

// Returns nullopt if the search found nothing in time, or if there is no solution: servers of
// unlike proportions may leave some job below its fair share of the typical one (that with the most
// GPUs).
std::optional<OneMachine> ChooseOnOneMachine(std::span<const Server> servers,
                                             std::span<const Job> jobs,
                                             std::span<const JobIndex> runnable,
                                             const OptOptions& options);

std::unique_ptr<Allocator> MakeOpt(const OptOptions& options = {});

}  // namespace synergy
