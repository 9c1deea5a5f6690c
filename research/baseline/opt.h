#pragma once

// Synergy-Opt (OSDI'22, section 4.3): what is to be had at most.
//
// First, the cluster is taken for one big machine, and an integer program gives every runnable job
// one of its DivisionChoices so that the total normalised throughput is the most, nobody below its
// fair share's. Jobs with the same profile are alike there: the program's variables are how many of
// a profile get which choice, so it stays small in a large cluster.
//
// Then the jobs get servers: running ones keep theirs, the rest go, largest first, to the best
// server by best_fit.h; one that finds its GPUs nowhere together goes to the fewest servers. Where
// the choices of a server's jobs do not fit together there, or leave something over, it is divided
// again (re_division.h). The paper has a second linear program here, whose shares are fractions of
// a GPU; ours would need an integer variable per job and server, and a job's CPU cannot be on
// another server than its GPUs. What the placement costs is in Plan::gap, which is measured against
// the first program's bound.
//
// Tune's plans are made as well, as published and ours, and the best of the three is taken, so that
// in no round this is worse than either. The published one is what is left when the program finds
// nothing in time.
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
  // What ends the search for the best choices. With the time limit alone, results could depend on
  // the machine.
  std::chrono::milliseconds time{1000};  // by the wall clock
  int64_t nodes = 2000;
  double relative_gap = 1e-4;
  // CPU steps on one server; jobs that need several servers have as many times that.
  MilliCpu cpu_step = Cores(1);
};

// What the jobs would get if the cluster were one machine.
struct OneMachine {
  std::vector<DivisionChoice> chosen;  // by position in `runnable`
  double value = 0;                    // the total of GPUs x throughput / the fair share's
  double bound = 0;                    // no other choices are worth more
};

// None where the search gave nothing in time, or where there is no solution: servers of unlike
// proportions may leave some job below its fair share of the typical one (that with the most GPUs).
std::optional<OneMachine> ChooseOnOneMachine(std::span<const Server> servers,
                                             std::span<const Job> jobs,
                                             std::span<const JobIndex> runnable,
                                             const OptOptions& options);

std::unique_ptr<Allocator> MakeOpt(const OptOptions& options = {});

}  // namespace synergy
