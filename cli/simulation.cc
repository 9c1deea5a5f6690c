#include "cli/simulation.h"

#include <array>
#include <ctime>
#include <fstream>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "allocation/mechanisms.h"
#include "config/text_file.h"
#include "json/philly_trace.h"
#include "policy/policy.h"
#include "sim/reference/reference_simulator.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Result<std::array<int, 3>> SplitOf(const SimulateArguments& arguments) {
  const auto options = ParseWorkloadOptions("split=" + arguments.split);
  if (!options) return Fail(ErrorCode::kInvalid, "--split: " + options.error().message);
  return options->split;
}

// Philly's jobs have no models: they get them in turn, with work for the time that they ran.
Result<std::vector<TraceJob>> FromPhilly(std::string_view text, const SimulateArguments& arguments,
                                         const ModelFacts& facts) {
  const auto trace = json::ParsePhillyTrace(text);
  if (!trace) return Fail(trace.error());
  const auto split = SplitOf(arguments);
  if (!split) return Fail(split.error());
  const Gpus most(arguments.servers * arguments.gpus);
  ModelSequence models(*split);
  std::vector<TraceJob> jobs;
  for (const json::PhillyJob& job : trace->jobs) {
    if (job.gpus > most) continue;
    const std::string model(models.Next());
    const ModelFact* fact = facts.Find(model, Gpus(1));
    if (fact == nullptr) return Fail(ErrorCode::kInvalid, "the profiles lack the model " + model);
    const double iterations = std::max(1.0, job.duration / fact->iteration_time);
    jobs.push_back({.id = static_cast<int64_t>(jobs.size()),
                    .model = model,
                    .arrival = job.submitted,
                    .total_iterations = static_cast<int64_t>(iterations),
                    .gpus = job.gpus,
                    .iteration_time = fact->iteration_time,
                    .duration = job.duration});
  }
  return jobs;
}

// Profiles of whole jobs, by model and GPU count, from the facts about one GPU.
class ProfileTable {
 public:
  explicit ProfileTable(const ModelFacts& facts) : facts_(facts) {}

  Result<const JobProfile*> Find(const std::string& model, Gpus gpus) {
    const auto found = profiles_.find({model, gpus.count()});
    if (found != profiles_.end()) return &found->second;
    const ModelFact* fact = facts_.Find(model, Gpus(1));
    if (fact == nullptr) {
      return Fail(ErrorCode::kInvalid, fmt::format("the profiles have no model \"{}\"", model));
    }
    auto profile = ProfileOf(*fact);
    if (profile && gpus > Gpus(1)) profile = Scaled(*profile, gpus);
    if (!profile) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("the profile of {}: {}", model, profile.error().message));
    }
    return &profiles_.emplace(std::pair(model, gpus.count()), std::move(*profile)).first->second;
  }

  // At the fair share: the trace's, or else that of the facts.
  Seconds IterationTime(const TraceJob& job) const {
    if (job.iteration_time > Seconds(0)) return job.iteration_time;
    const ModelFact* fact = facts_.Find(job.model, Gpus(1));
    return fact == nullptr ? Seconds(0) : fact->iteration_time;
  }

 private:
  const ModelFacts& facts_;
  std::map<std::pair<std::string, int64_t>, JobProfile> profiles_;  // addresses stay
};

Result<std::vector<Job>> ToJobs(const Workload& workload, double load, const Server& server,
                                ProfileTable& profiles) {
  std::vector<Job> jobs;
  jobs.reserve(workload.jobs.size());
  for (const TraceJob& from : workload.jobs) {
    const auto profile = profiles.Find(from.model, from.gpus);
    if (!profile) return Fail(profile.error());
    const ResourceVector fair = FairShareOf(server, Gpus(1));
    Job job;
    job.id = static_cast<uint64_t>(from.id);
    job.gpus = from.gpus;
    job.profile = *profile;
    job.demand = job.profile->Demand(0);
    job.fair_throughput =
        job.profile->ThroughputAt(fair.cpu * from.gpus.count(), fair.memory * from.gpus.count());
    job.arrival = from.arrival / load;
    job.ideal = from.duration > Seconds(0)
                    ? from.duration
                    : profiles.IterationTime(from) * static_cast<double>(from.total_iterations);
    if (job.ideal <= Seconds(0) || job.fair_throughput <= 0) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("{}: job {} has no work to do: its iterations or their time are 0",
                              workload.name, from.id));
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<> RunDefault(const SimulateArguments& arguments, const SimulateOptions& options,
                    const Workload& workload, const TellProgress& tell, ProfileTable& profiles,
                    RunResult& result) {
  const std::vector<Server> servers(static_cast<size_t>(arguments.servers), Server{options.server});
  const auto jobs = ToJobs(workload, result.load, servers.front(), profiles);
  if (!jobs) return Fail(jobs.error());
  auto mechanism = MakeMechanism(result.mechanism);
  if (!mechanism) return Fail(mechanism.error());
  const auto policy = MakePolicy(result.policy);
  if (!policy) return Fail(policy.error());
  const SimulatorOptions simulator{.round = options.round,
                                   .restart_cost = options.restart_cost,
                                   .spread_factor = arguments.spread_factor};
  auto run = Simulate(servers, *jobs, **policy, *mechanism, simulator,
                      [&](size_t finished) { tell(result, finished, jobs->size()); });
  if (!run) return Fail(run.error());
  for (const JobRun& job : run->jobs) {
    result.jobs.push_back({static_cast<int64_t>(job.id), job.arrival, job.start, job.finish});
    result.restarts += job.restarts;
    result.resizes += job.resizes;
  }
  result.rounds = run->rounds;
  result.gpu_utilisation = run->gpu_utilisation;
  result.cpu_utilisation = run->cpu_utilisation;
  result.memory_utilisation = run->memory_utilisation;
  result.worst_gap = run->worst_gap;
  result.fell_back = run->fell_back;
  result.timeline = std::move(run->timeline);
  return {};
}

Result<> RunReference(const SimulateArguments& arguments, const SimulateOptions& options,
                      const Workload& workload, const ModelFacts& facts, RunResult& result) {
  const auto policy = ParseReferencePolicy(result.policy);
  if (!policy) return Fail(policy.error());
  const auto mechanism =
      ParseReferenceMechanism(result.mechanism == "proportional" ? "fair" : result.mechanism);
  if (!mechanism) return Fail(mechanism.error());
  std::vector<TraceJob> jobs = workload.jobs;
  for (TraceJob& job : jobs) job.arrival /= result.load;
  const auto run = SimulateReference(jobs, facts,
                                     {.servers = arguments.servers,
                                      .server = options.server,
                                      .policy = *policy,
                                      .mechanism = *mechanism,
                                      .consolidate = options.consolidate,
                                      .round = options.round,
                                      .window = options.window});
  if (!run) return Fail(run.error());
  result.jobs = run->jobs;
  result.rounds = static_cast<uint64_t>(run->rounds);
  result.gpu_utilisation = run->mean_gpus;
  result.cpu_utilisation = run->mean_cpu;
  result.memory_utilisation = run->mean_memory;
  return {};
}

Result<RunResult> RunOne(const SimulateArguments& arguments, const SimulateOptions& options,
                         const ModelFacts& facts, const Workload& workload,
                         const TellProgress& tell, ProfileTable& profiles, RunResult result) {
  const Instant begin = SystemClock().Now();
  const double cpu = CpuSeconds();
  const auto done = options.reference
                        ? RunReference(arguments, options, workload, facts, result)
                        : RunDefault(arguments, options, workload, tell, profiles, result);
  if (!done) return Fail(done.error());
  result.cpu_seconds = CpuSeconds() - cpu;
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  for (const TraceJob& job : workload.jobs) {
    result.job_gpus.push_back(job.gpus);
    result.job_models.push_back(job.model);
  }
  result.statistics = Summarize(result.jobs, options.window.value_or(JobWindow{}));
  return result;
}

}  // namespace

Result<> WriteFile(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be written", name));
  return {};
}

Result<std::vector<Workload>> LoadWorkloads(const SimulateArguments& arguments,
                                            const ModelFacts& facts) {
  std::vector<Workload> workloads;
  for (const std::string& name : arguments.traces) {
    const auto text = config::ReadTextFile(name);
    if (!text) return Fail(text.error());
    const bool is_json = name.ends_with(".json");
    auto jobs = is_json ? FromPhilly(*text, arguments, facts) : ParseTrace(*text, name);
    if (!jobs && is_json) return Fail(jobs.error().code, name + ": " + jobs.error().message);
    if (!jobs) return Fail(jobs.error());
    workloads.push_back({name, std::move(*jobs)});
  }
  for (const std::string& text : arguments.workloads) {
    const auto options = ParseWorkloadOptions(text);
    if (!options) return Fail(ErrorCode::kInvalid, "--generate: " + options.error().message);
    auto jobs = GenerateWorkload(*options, facts);
    if (!jobs) return Fail(jobs.error());
    workloads.push_back({text, std::move(*jobs)});
  }
  return workloads;
}

Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const std::vector<Workload>& workloads,
                                      const TellProgress& tell) {
  ProfileTable profiles(facts);
  std::vector<RunResult> results;
  for (const Workload& workload : workloads) {
    for (const double load : arguments.loads) {
      for (const std::string& policy : arguments.policies) {
        for (const std::string& mechanism : arguments.mechanisms) {
          RunResult run{
              .workload = workload.name, .load = load, .policy = policy, .mechanism = mechanism};
          auto result = RunOne(arguments, options, facts, workload, tell, profiles, std::move(run));
          if (!result) {
            return Fail(result.error().code, fmt::format("{}, {}, {}: {}", workload.name, policy,
                                                         mechanism, result.error().message));
          }
          results.push_back(std::move(*result));
        }
      }
    }
  }
  return results;
}

}  // namespace synergy::cli
