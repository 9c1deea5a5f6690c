#include "gavel/type_rounds.h"

#include <algorithm>
#include <map>
#include <utility>

namespace synergy {
namespace {

constexpr double kRoundsBetweenSolves = 6.4;

}  // namespace

TypeRounds::TypeRounds(TypePolicy policy, std::vector<std::string> types, const Options& options)
    : policy_(policy),
      types_(std::move(types)),
      options_(options),
      rounds_(std::vector<double>(types_.size(), 0),
              {.round = options.round,
               .between_solves = policy.whole_types ? 0 : options.round * kRoundsBetweenSolves,
               .fifo = policy.fifo}) {}

Result<TypeRounds> TypeRounds::Create(std::string_view policy, std::vector<std::string> types,
                                      const Options& options) {
  const auto parsed = ParseTypePolicy(policy);
  if (!parsed) return Fail(parsed.error());
  return TypeRounds(*parsed, std::move(types), options);
}

std::vector<TypedJob> TypeRounds::MovedUp(std::span<const TypedJob> jobs,
                                          const std::vector<double>& gpus) const {
  std::vector<TypedJob> moved(jobs.begin(), jobs.end());
  std::vector<double> free = gpus;
  for (const TypedJob& job : moved) {
    if (job.on) free[*job.on] -= job.gpus;
  }
  for (TypedJob& job : moved) {
    if (!job.on || job.stays) continue;
    size_t best = *job.on;
    for (size_t type = 0; type < types_.size(); ++type) {
      const bool faster = job.throughput[type] > job.throughput[best];
      if (faster && free[type] >= job.gpus && Pays(job, type)) best = type;
    }
    free[*job.on] += job.gpus;
    free[best] -= job.gpus;
    job.on = best;
  }
  return moved;
}

std::vector<double> TypeRounds::Usable(const TypedJob& job, const std::vector<double>& gpus) const {
  std::vector<double> usable(types_.size(), 0);
  for (size_t type = 0; type < types_.size(); ++type) {
    const bool here = job.on == type;
    if ((job.stays || (policy_.fifo && job.on)) && !here) continue;
    if (gpus[type] >= job.gpus || (job.stays && here)) usable[type] = job.throughput[type];
  }
  return usable;
}

void TypeRounds::Update(std::span<const TypedJob> jobs, const std::vector<double>& gpus) {
  rounds_.SetGpus(gpus);
  std::set<std::string> present;
  for (const TypedJob& job : jobs) {
    present.insert(job.name);
    std::vector<double> usable = Usable(job, gpus);
    // An agnostic policy sees only whether a job runs on a type.
    for (double& each : usable) {
      if (!policy_.aware) each = each > 0 ? 1 : 0;
    }
    if (known_.insert(job.name).second) {
      rounds_.Add(job.name, job.gpus, std::move(usable));
    } else {
      rounds_.SetThroughput(job.name, std::move(usable));
    }
  }
  for (auto known = known_.begin(); known != known_.end();) {
    if (present.contains(*known)) {
      ++known;
      continue;
    }
    rounds_.Remove(*known);
    known = known_.erase(known);
  }
  std::erase_if(picks_, [&](const GavelPick& pick) { return !present.contains(pick.job); });
}

Result<> TypeRounds::Solve(std::span<const TypedJob> jobs, const std::vector<double>& gpus,
                           const std::vector<double>& prices, double now) {
  std::vector<size_t> types;
  for (size_t type = 0; type < types_.size(); ++type) {
    if (gpus[type] > 0) types.push_back(type);
  }
  GavelProblem problem;
  for (const size_t type : types) {
    problem.types.push_back(types_[type]);
    problem.gpus.push_back(gpus[type]);
    if (!prices.empty()) problem.costs.push_back(prices[type]);
  }
  bool deadlines = false;
  for (const TypedJob& job : jobs) {
    const std::vector<double> usable = Usable(job, gpus);
    GavelJob asked;
    for (const size_t type : types) asked.throughput.push_back(usable[type]);
    // Skips jobs that run on no type.
    if (std::none_of(asked.throughput.begin(), asked.throughput.end(),
                     [](double each) { return each > 0; }))
      continue;
    asked.name = job.name;
    asked.gpus = job.gpus;
    asked.steps_left = job.steps_left;
    asked.waited = job.waited;
    if (!policy_.with_deadlines.empty()) asked.deadline = job.deadline;
    deadlines |= asked.deadline.has_value();
    problem.jobs.push_back(std::move(asked));
  }
  std::vector<RoundMechanism::Shares> allocation;
  std::set<std::string> missed;
  if (!problem.jobs.empty()) {
    const std::string_view program = deadlines ? policy_.with_deadlines : policy_.program;
    if (!gavel_ || program != program_ || types != solved_types_) {
      auto made = options_.make(program);
      if (!made) return Fail(made.error());
      gavel_ = *std::move(made);
      program_ = program;
      solved_types_ = types;
    }
    const auto answer = gavel_->Allocate(problem);
    if (!answer) return Fail(answer.error());
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      std::vector<double> shares(types_.size(), 0);
      for (size_t at = 0; at < types.size(); ++at) shares[types[at]] = answer->shares.jobs[job][at];
      allocation.push_back({problem.jobs[job].name, std::move(shares), {}});
    }
    for (const size_t job : answer->missed) missed.insert(problem.jobs[job].name);
  }
  rounds_.Solved(now, allocation);
  solved_.clear();
  for (const RoundMechanism::Shares& each : allocation) solved_.insert(each.job);
  missed_ = std::move(missed);
  return {};
}

bool TypeRounds::Pays(const TypedJob& job, size_t to) const {
  if (!policy_.aware) return false;
  const double rest = std::max(options_.round - options_.restart_cost, 0.0);
  return job.throughput[to] * rest > job.throughput[*job.on] * options_.round;
}

std::vector<GavelPick> TypeRounds::Pick(std::span<const TypedJob> jobs,
                                        const std::vector<double>& gpus, bool begins) const {
  std::map<std::string_view, const TypedJob*> by_name;
  std::vector<GavelPick> kept = begins ? std::vector<GavelPick>() : picks_;
  bool any_runs = false;
  for (const TypedJob& job : jobs) {
    by_name.emplace(job.name, &job);
    any_runs |= job.on.has_value();
    if (!job.on || !(job.stays || (!begins && !decided_))) continue;
    std::erase_if(kept, [&](const GavelPick& pick) { return pick.job == job.name; });
    kept.push_back({job.name, *job.on, {}});
  }
  std::vector<GavelPick> picks = rounds_.Picks(kept);
  if (options_.restart_cost <= 0 || !any_runs || !begins) return picks;
  // A job that keeps its place has no claim to the type that it would have moved to, so the next
  // jobs get a chance there: type by type, until no needless move remains.
  while (true) {
    std::vector<double> free = gpus;
    std::vector<const GavelPick*> for_nothing;
    for (const GavelPick& pick : picks) {
      const TypedJob& job = *by_name.at(pick.job);
      if (job.on && *job.on != pick.type && job.throughput[*job.on] > 0 && !Pays(job, pick.type)) {
        for_nothing.push_back(&pick);
      } else {
        free[pick.type] -= job.gpus;
      }
    }
    std::optional<size_t> claimed;
    for (const GavelPick* const pick : for_nothing) {
      const TypedJob& job = *by_name.at(pick->job);
      if (free[*job.on] < job.gpus || (claimed && *claimed != pick->type)) continue;
      claimed = pick->type;
      free[*job.on] -= job.gpus;
      kept.push_back({job.name, *job.on, {}});
    }
    if (!claimed) return picks;
    picks = rounds_.Picks(kept);
  }
}

Result<std::vector<GavelPick>> TypeRounds::Decide(std::span<const TypedJob> jobs,
                                                  const std::vector<double>& gpus,
                                                  const std::vector<double>& prices, bool begins,
                                                  double now) {
  std::vector<TypedJob> moved;
  if (policy_.fifo && begins) jobs = moved = MovedUp(jobs, gpus);
  Update(jobs, gpus);
  // If the policy's last answer includes none of the jobs, none has to wait for the next round.
  const bool is_new = std::none_of(known_.begin(), known_.end(), [this](const std::string& name) {
    return solved_.contains(name);
  });
  if ((begins || is_new || policy_.whole_types) && rounds_.SolveIsDue(now)) {
    const Result<> solved = Solve(jobs, gpus, prices, now);
    if (!solved) return Fail(solved.error());
  }
  picks_ = Pick(jobs, gpus, begins);
  decided_ = true;
  return picks_;
}

void TypeRounds::Charge(const std::string& name, size_t type, double seconds) {
  rounds_.Charge(name, type, seconds);
}

void TypeRounds::Remove(const std::string& name) {
  if (known_.erase(name) > 0) rounds_.Remove(name);
  std::erase_if(picks_, [&](const GavelPick& pick) { return pick.job == name; });
}

}  // namespace synergy
