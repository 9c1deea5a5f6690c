#pragma once

// Helpers for the reference simulator's tests: servers with 8 GPUs, 24 CPUs and 500 GB, and three
// of the authors' models.

#include <string>

#include "core/units.h"
#include "research/reference/amounts.h"
#include "research/reference/job.h"
#include "sim/model_facts.h"
#include "sim/trace.h"

namespace synergy::reference {

inline constexpr Amounts kServer{8, 24, 500, 500, 40};
inline constexpr double kRound = 300;  // seconds

inline ModelFact Fact(int64_t cpus, int64_t memory_gb, double iteration_time, double speedup) {
  return {.cpu = Cores(cpus),
          .memory = GB(memory_gb),
          .iteration_time = Seconds(iteration_time),
          .speedup = speedup};
}

// alexnet needs much CPU and memory, res18 much CPU, gnmt little. The numbers give round numbers of
// iterations.
inline ModelFacts Facts() {
  ModelFacts facts;
  facts.Set("alexnet", Gpus(1), Fact(12, 125, 1, 3));
  facts.Set("res18", Gpus(1), Fact(9, 60, 1, 2));
  facts.Set("gnmt", Gpus(1), Fact(1, 20, 1, 1));
  return facts;
}

inline TraceJob OneOf(const std::string& model, int64_t id, int64_t gpus = 1, double arrival = 0,
                      int64_t iterations = 300) {
  return {.id = id,
          .model = model,
          .arrival = Seconds(arrival),
          .total_iterations = iterations,
          .gpus = Gpus(gpus)};
}

inline Job Made(const TraceJob& job) {
  static const ModelFacts facts = Facts();  // static, because jobs point into it
  return *MakeJob(job, static_cast<uint32_t>(job.id), facts, kServer, kRound);
}

}  // namespace synergy::reference
