#include "research/reference/job.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace synergy::reference {
namespace {

// The models that the authors' program knows. The first one replaces all others.
constexpr std::string_view kModels[] = {"alexnet",    "res18",     "res50",       "mobilenet",
                                        "shufflenet", "gnmt",      "transformer", "lstm",
                                        "m5",         "deepspeech"};

std::string_view ModelOf(const TraceJob& job) {
  const auto* const found = std::find(std::begin(kModels), std::end(kModels), job.model);
  return found == std::end(kModels) ? kModels[0] : *found;
}

// The amounts that a job requests, and its speed with them.
struct Demand {
  Amounts amounts{};
  double speedup = 1;
};

Result<Demand> DemandOf(const ModelFact& fact, int64_t gpus, const Amounts& server) {
  const auto count = static_cast<double>(gpus);
  const double ideal_cpu = count * ToCores(fact.cpu);
  Demand demand{{count, ideal_cpu, count * ToGb(fact.memory), count * kStoragePerGpu, 0},
                fact.speedup};
  bool is_cut = false;
  for (const size_t resource : {kCpu, kMemory, kStorage}) {
    double& amount = demand.amounts[resource];
    if (amount <= server[resource]) continue;
    amount = server[resource];
    is_cut = true;
    if (count > server[kGpu]) {
      amount = count * (server[resource] / server[kGpu]);
      demand.speedup = 1;
      is_cut = false;
    }
  }
  if (!is_cut) return demand;
  // Interpolates between the fair share and the ideal by CPU alone.
  const double fair_cpu = count * (server[kCpu] / server[kGpu]);
  const double distance = ideal_cpu - fair_cpu;
  if (distance == 0) {
    return Fail(ErrorCode::kInvalid,
                "its demand is more than a server has, but its CPU demand is the fair share; the "
                "authors' program ends here: remove the job, or use another server");
  }
  const double slope = (demand.speedup - 1) / distance;
  demand.speedup = 1 + slope * (demand.amounts[kCpu] - fair_cpu);
  return demand;
}

int64_t IterationsIn(double round, double iteration_time) {
  return static_cast<int64_t>(std::floor(round / iteration_time));
}

}  // namespace

void Job::ChargeRound(double round, bool at_demand) {
  charged = at_demand && !cut ? iterations_at_demand : iterations_at_fair;
  ChargeRoundAgain(round);
}

void Job::ChargeRoundAgain(double round) {
  attained += round;
  done_before = done;
  done = std::min(done + charged, total_iterations);
}

void Job::RefundRound(double round) {
  attained = std::max(attained - round, 0.0);
  done = done_before;
}

Result<Job> MakeJob(const TraceJob& job, uint32_t index, const ModelFacts& facts,
                    const Amounts& server, double round) {
  const auto reject = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalid, fmt::format("job {}: {}", job.id, why));
  };
  const int64_t gpus = job.gpus.count();
  if (gpus != 1 && gpus != 2 && gpus != 4 && gpus != 8 && gpus != 16) {
    return reject(fmt::format(
        "{} GPUs; the authors' program only supports jobs with 1, 2, 4, 8 and 16: use one of these",
        gpus));
  }
  const std::string_view model = ModelOf(job);
  const ModelFact* const fact = facts.Find(model, Gpus(1));
  if (fact == nullptr) {
    return reject(fmt::format("the profiles have no model \"{}\" with one GPU: add it", model));
  }
  const auto demand = DemandOf(*fact, gpus, server);
  if (!demand) return reject(demand.error().message);

  Job made{.id = job.id,
           .index = index,
           .gpus = static_cast<int>(gpus),
           .demand = demand->amounts,
           .fact = fact,
           .arrival = job.arrival.count(),
           .iteration_time = fact->iteration_time.count(),
           .total_iterations = job.total_iterations,
           .speedup = demand->speedup};
  made.iterations_at_fair = IterationsIn(round, made.iteration_time);
  made.iterations_at_demand = IterationsIn(round, made.iteration_time / made.speedup);
  if (made.iterations_at_fair < 1 || made.iterations_at_demand < 1) {
    return reject(
        fmt::format("an iteration of {} s is longer than a round of {} s, and the job would never "
                    "end: use longer rounds",
                    made.iteration_time, round));
  }
  return made;
}

}  // namespace synergy::reference
