#include "cli/simulate/plan/plan_run.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/simulate/model_facts_file.h"
#include "cli/simulate/plan/plan.h"
#include "cli/simulate/profiles/profile_limits.h"
#include "cli/simulate/report.h"
#include "cli/simulate/simulation.h"
#include "cli/simulate/workloads.h"

namespace synergy::cli {
namespace {

// With more jobs than kMostJobsForSeeds, drawn models are simulated with only one seed. With more
// than kMostJobsForServers, servers are counted with only one seed.
constexpr size_t kMostJobsForSeeds = 2000;
constexpr size_t kMostJobsForServers = 500;
constexpr uint64_t kSeeds = 5;

Result<ModelFacts> FactsFor(const SimulateArguments& arguments, const ResourceVector& server) {
  return arguments.profiles.empty() ? PaperModelFacts(server)
                                    : LoadModelFacts(arguments.profiles, server);
}

// Reads the workloads with models drawn by this seed. The jobs' work is fixed, and does not depend
// on the simulated servers.
Result<std::vector<TraceWorkload>> WorkloadsOf(SimulateArguments arguments, uint64_t seed,
                                               const ModelFacts& facts) {
  arguments.seed = seed;
  auto workloads = LoadWorkloads(arguments, facts, Gpus(arguments.servers * arguments.gpus));
  if (!workloads) return workloads;
  for (TraceWorkload& workload : *workloads) {
    for (TraceJob& job : workload.jobs) {
      const ModelFact* const fact = facts.Find(job.model, Gpus(1));
      if (job.iteration_time <= Seconds(0) && fact != nullptr)
        job.iteration_time = fact->iteration_time;
    }
  }
  return workloads;
}

class Planner {
 public:
  Planner(const SimulateArguments& arguments, const SimulateOptions& options)
      : arguments_(arguments), options_(options) {}

  Result<std::vector<Plan>> PlanAll() {
    const auto facts = FactsFor(arguments_, options_.server);
    if (!facts) return Fail(facts.error());
    facts_ = *facts;
    PrintManifests(arguments_, facts_);
    NoteExtrapolation(arguments_, options_, facts_);
    const auto main = At(arguments_.seed);
    if (!main) return Fail(main.error());
    for (const TraceWorkload& workload : **main) {
      auto checked = CheckServers(arguments_, options_, facts_, workload);
      if (!checked) return Fail(checked.error());
    }
    std::vector<Plan> plans;
    for (size_t workload = 0; workload < (*main)->size(); ++workload) {
      auto plan = PlanOne((**main)[workload], workload);
      if (!plan) return Fail(plan.error());
      plan->workload = (**main)[workload].name;
      plan->reading = (**main)[workload].reading;
      plans.push_back(*std::move(plan));
    }
    return plans;
  }

 private:
  // Returns the workloads with this seed.
  Result<const std::vector<TraceWorkload>*> At(uint64_t seed) {
    const auto known = workloads_.find(seed);
    if (known != workloads_.end()) return &known->second;
    auto workloads = WorkloadsOf(arguments_, seed, facts_);
    if (!workloads) return Fail(workloads.error());
    if (workloads_.empty()) {
      for (const TraceWorkload& workload : *workloads) {
        if (!workload.reading.empty())
          fmt::print(stderr, "{}: {}\n", workload.name, workload.reading);
      }
    }
    return &workloads_.emplace(seed, *std::move(workloads)).first->second;
  }

  Result<Plan> PlanOne(const TraceWorkload& workload, size_t index) {
    PlanQuestion question{.baseline = arguments_.baseline,
                          .with = arguments_.mechanisms.front(),
                          .servers = arguments_.servers,
                          .gpus = arguments_.gpus,
                          .cpus = arguments_.cpus,
                          .least_cpus_per_gpu = LeastCpusPerGpu(facts_) * arguments_.gpu_speed,
                          .models_drawn = workload.drawn_models > 0,
                          .seeds = {arguments_.seed}};
    for (const TraceJob& job : workload.jobs)
      question.largest_job = std::max(question.largest_job, job.gpus.count());
    if (workload.drawn_models > 0 && workload.jobs.size() <= kMostJobsForSeeds) {
      while (question.seeds.size() < kSeeds) question.seeds.push_back(question.seeds.back() + 1);
      if (workload.jobs.size() <= kMostJobsForServers) question.seeds_of_servers = kSeeds;
    }
    return MakePlan(question, [&](PlanPoint& point) { return Simulate(index, point); });
  }

  Result<> Simulate(size_t index, PlanPoint& point) {
    SimulateArguments arguments = arguments_;
    arguments.mechanisms = {point.mechanism};
    arguments.policies = {arguments_.policies.front()};
    arguments.loads = {arguments_.loads.front()};
    arguments.servers = point.servers;
    arguments.cpus = point.cpus;
    SimulateOptions options = options_;
    options.server.cpu = Cores(point.cpus);
    if (!options.recorded) options.recorded = options_.server;
    const auto facts = FactsFor(arguments, options.server);
    if (!facts) return Fail(facts.error());
    const auto workloads = At(point.seed);
    if (!workloads) return Fail(workloads.error());
    const auto runs = RunAll(arguments, options, *facts, nullptr, {(**workloads)[index]},
                             [](const RunResult&, size_t, size_t) {});
    if (!runs) return Fail(runs.error());
    Take(runs->front(), options.window.value_or(JobWindow{}), point);
    point.extrapolated = !ExtrapolatedModels(*facts, options.server, arguments.gpu_speed).empty();
    return {};
  }

  static void Take(const RunResult& run, const JobWindow& window, PlanPoint& point) {
    point.jobs = run.statistics.measured;
    point.left_out = run.statistics.unfinished + run.not_run;
    point.left_out_because = LeftOutReasons(run);
    point.mean = run.statistics.mean;
    point.p95 = run.statistics.p95;
    std::vector<JobTimes> waits;
    for (const JobTimes& job : run.jobs) {
      if (!window.Contains(job.id) || !job.started) continue;
      point.gpu_hours += job.gpu_time.count() / 3600;
      if (!job.finished) continue;
      waits.push_back(job);
      *waits.back().finished -= job.ran;
    }
    point.p95_wait = Summarize(waits, window).p95;
  }

  const SimulateArguments& arguments_;
  const SimulateOptions& options_;
  ModelFacts facts_;
  std::map<uint64_t, std::vector<TraceWorkload>> workloads_;
};

// Rejects options that a plan would ignore.
Result<> CheckPlan(const SimulateArguments& arguments, const SimulateOptions& options) {
  for (const auto& [option, file] :
       {std::pair("--html", &arguments.html), std::pair("--jobs-csv", &arguments.jobs_csv),
        std::pair("--timeline", &arguments.timeline), std::pair("--changes", &arguments.changes),
        std::pair("--plot", &arguments.plot), std::pair("--save", &arguments.save)}) {
    if (!file->empty()) {
      return WrongOption(option, "not with --plan, which makes many runs: leave one of them out");
    }
  }
  if (options.starts_from_cluster)
    return WrongOption("--plan", "not from a cluster, because its servers are fixed");
  if (!options.gpu_types.empty()) return WrongOption("--plan", "not with gpu-types");
  if (arguments.mechanisms.size() > 1 || arguments.policies.size() > 1 ||
      arguments.loads.size() > 1) {
    return WrongOption("--plan",
                       "compares one --mechanism with --baseline, under one --policy and "
                       "--load");
  }
  if (arguments.output == "csv") return WrongOption("--plan", "has -o table and json");
  return {};
}

}  // namespace

Result<> RunPlan(const SimulateArguments& arguments, const SimulateOptions& options) {
  if (auto checked = CheckPlan(arguments, options); !checked) return checked;
  const auto plans = Planner(arguments, options).PlanAll();
  if (!plans) return Fail(plans.error());
  const std::optional<double> price =
      arguments.price > 0 ? std::optional(arguments.price) : std::nullopt;
  if (arguments.output == "json") {
    fmt::print("{}", ToPlanJson(*plans, price));
    return {};
  }
  for (const Plan& plan : *plans)
    fmt::print("{}{}", &plan == plans->data() ? "" : "\n", ToPlanTable(plan, price));
  return {};
}

}  // namespace synergy::cli
