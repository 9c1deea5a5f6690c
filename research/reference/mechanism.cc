#include "research/reference/mechanism.h"

#include "research/reference/opt.h"
#include "research/reference/tune.h"

namespace synergy::reference {
namespace {

// Gives every job its GPUs' fair share of the servers ("GPU-proportional").
class Fair final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  Result<bool> Place(Job& job) override {
    return TryPlace(job, round().cluster.fair() * job.gpus, /*at_demand=*/false);
  }
};

// Gives a job its full demand, or lets it wait.
class Greedy final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  Result<bool> Place(Job& job) override { return TryPlace(job, job.demand, /*at_demand=*/true); }
};

}  // namespace

Result<> OneByOne::Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) {
  for (Job* const job : ordered) {
    const int free = round_.cluster.free_gpus();
    if (free == 0) break;
    if (free < job->gpus) continue;
    const Result<bool> placed = Place(*job);
    if (!placed) return Fail(placed.error());
    if (*placed) running.push_back(job);
  }
  return {};
}

Result<bool> OneByOne::TryPlace(Job& job, const Amounts& demand, bool at_demand) {
  if (!round_.placement.Find(demand)) return false;
  if (auto taken = round_.cluster.Take(job, round_.placement.parts()); !taken)
    return Fail(taken.error());
  job.ChargeRound(round_.duration, at_demand);
  for (const Part& part : job.parts) round_.cluster.JobsOn(part.server).push_back(&job);
  return true;
}

std::unique_ptr<Mechanism> MakeMechanism(ReferenceMechanism mechanism, const Round& round) {
  switch (mechanism) {
    case ReferenceMechanism::kFair:
      return std::make_unique<Fair>(round);
    case ReferenceMechanism::kGreedy:
      return std::make_unique<Greedy>(round);
    case ReferenceMechanism::kTune:
      return std::make_unique<Tune>(round);
    case ReferenceMechanism::kOpt:
      return std::make_unique<Opt>(round);
  }
  return nullptr;
}

}  // namespace synergy::reference
