#pragma once

// Synergy-Opt (OSDI'22, section 4.3): an upper bound, and a plan near it.
//
// First, Opt treats the cluster as one big machine. An integer program gives every runnable job one
// of its DivisionChoices. The total normalised throughput is maximal, and no job is slower than
// with its fair share. Jobs with the same profile are interchangeable. The program's variables are
// how many jobs of a profile get each choice, so the program stays small in a large cluster.
//
// Then the jobs get servers. Running jobs keep theirs; the others are placed, largest first, on the
// best server by best_fit.h. If no server has enough GPUs for a job, the job is placed on as few
// servers as possible. If the choices of a server's jobs do not fit together, or leave something
// unused, the server is divided again (re_division.h). The paper uses a second linear program here,
// whose shares are fractions of a GPU. Ours would need an integer variable for each job and server,
// because a job's CPU must be on the servers of its GPUs. Plan::gap states the cost of the
// placement, compared with the first program's bound.
//
// Opt also makes both plans of Tune, the published one and ours, and uses the best of the three, so
// that no round is worse than with Tune. If the program finds nothing in time, the published plan
// is the result.
//
// Threading: the same as Allocator.

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
  // Limits of the search for the best choices. With a time limit alone, results could depend on the
  // machine.
  std::chrono::milliseconds time{1000};  // wall-clock time
  int64_t nodes = 2000;
  double relative_gap = 1e-4;
  // Step of CPU amounts on one server; for jobs that need several servers, it is multiplied by
  // their number.
  MilliCpu cpu_step = Cores(1);
};

// The jobs' amounts if the cluster were one machine.
struct OneMachine {
  std::vector<DivisionChoice> chosen;  // by position in `runnable`
  double value = 0;                    // the sum of GPUs x throughput / the fair share's throughput
  double bound = 0;                    // no other choices have a higher value
};

// Returns nullopt if the search found nothing in time, or if there is no solution. With servers of
// different proportions, there may be none: no job may be slower than with its fair share of the
// typical server, which is the one with the most GPUs.
std::optional<OneMachine> ChooseOnOneMachine(std::span<const Server> servers,
                                             std::span<const Job> jobs,
                                             std::span<const JobIndex> runnable,
                                             const OptOptions& options);

std::unique_ptr<Allocator> MakeOpt(const OptOptions& options = {});

}  // namespace synergy
