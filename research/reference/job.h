#pragma once

// A job of the reference simulator: its demand, its allocation, its progress.
//
// Threading: one owner at a time.

#include <cstdint>
#include <vector>

#include "core/resources.h"
#include "core/result.h"
#include "research/reference/amounts.h"
#include "sim/model_facts.h"
#include "sim/trace.h"

namespace synergy::reference {

// The part of a job on one server.
struct Part {
  uint32_t server = 0;
  Amounts amounts{};
};

struct Job {
  int64_t id = 0;
  uint32_t index = 0;  // position in the run's jobs
  int gpus = 0;
  Amounts demand{};
  const ModelFact* fact = nullptr;  // the fact about its model with one GPU; not owned
  double arrival = 0;               // seconds
  double iteration_time = 0;        // seconds, at the fair share
  int64_t total_iterations = 0;
  double speedup = 1;                // speed with the demand
  int64_t iterations_at_fair = 0;    // per whole round
  int64_t iterations_at_demand = 0;  // per whole round

  bool cut = false;         // whether this round's demand was cut to the fair share
  bool has_waited = false;  // whether it has waited so long that it has precedence from now on
  double last_run = -1;     // end of its last round, in seconds
  double attained = 0;      // length of its rounds so far, in seconds
  int64_t done = 0;         // iterations
  int64_t done_before = 0;  // iterations done before this round
  int64_t charged = 0;      // iterations of a whole round, as charged last
  std::vector<Part> parts;  // empty if the job does not run
  Amounts held{};           // total of all parts

  bool Finished() const { return done >= total_iterations; }
  int64_t Remaining() const { return total_iterations - done; }
  // Returns the speed that policies use.
  double Speed() const { return cut ? 1 : speedup; }

  // Charges the progress of a whole round at its beginning.
  void ChargeRound(double round, bool at_demand);
  // Charges the same progress as in the last round.
  void ChargeRoundAgain(double round);
  // Takes back the round's progress.
  void RefundRound(double round);
};

// Computes the demand as the authors do. An unknown model runs as alexnet. The facts are those of
// one GPU, times the job's GPUs, cut to the amounts of one server. A job with more GPUs than a
// server gets the fair share if it requests too much. The authors' program supports only 1, 2, 4, 8
// and 16 GPUs, and ends on a cut if demand and fair share have the same CPU. Returns kInvalid in
// these cases, and where the program would never end, because no iteration fits into a round.
Result<Job> MakeJob(const TraceJob& job, uint32_t index, const ModelFacts& facts,
                    const Amounts& server, double round);

}  // namespace synergy::reference
