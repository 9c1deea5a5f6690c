#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/simulate/job_profiles.h"
#include "policy/policy.h"
#include "research/baseline/mechanisms.h"
#include "research/lab/lab_runs.h"
#include "research/rounds/gavel_rounds.h"
#include "research/rounds/simulator.h"

namespace synergy::cli {
namespace {

SimulatorOptions InRounds(const LabArguments& arguments, const LabOptions& options) {
  return {.round = options.round,
          .restart_cost = options.restart_cost,
          .lease = options.lease,
          .spread_factor = arguments.spread_factor,
          .keep_changes = options.keeps_changes};
}

// Returns the sizes of past jobs in GPU-seconds.
std::vector<double> PastSizes(const LabOptions& options, std::span<const Job> jobs) {
  if (options.sizes) return *options.sizes;
  std::vector<double> sizes;
  for (const Job& job : jobs) {
    sizes.push_back(job.ideal.count() * static_cast<double>(job.gpus.count()));
  }
  return sizes;
}

Result<SimulationRun> RunInRounds(const LabArguments& arguments, const LabOptions& options,
                                  std::span<const Job> jobs, const RunResult& result,
                                  const Progress& progress) {
  const std::vector<Server> servers(static_cast<size_t>(arguments.servers), Server{options.server});
  auto mechanism = MakeMechanism(result.mechanism);
  if (!mechanism) return Fail(mechanism.error());
  auto sizes = PastSizes(options, jobs);
  const auto policy = MakePolicy(
      result.policy, {.queues = {.limits = arguments.queue_limits, .promote = arguments.promote},
                      .sizes = SizeHistory(std::move(sizes))});
  if (!policy) return Fail(policy.error());
  return Simulate(servers, jobs, **policy, *mechanism, InRounds(arguments, options), progress);
}

// Runs on GPUs of several types.
Result<SimulationRun> RunOnTypes(const LabArguments& arguments, const LabOptions& options,
                                 const TraceWorkload& workload, std::span<const Job> jobs,
                                 const JobProfiles& table, const RunResult& result,
                                 const Progress& progress) {
  const TypeSetup& types = *options.types;
  std::map<std::pair<std::string, Gpus>, std::vector<std::optional<JobProfile>>> known;
  std::vector<ProfilesOnTypes> on_types;
  for (const TraceJob& job : workload.jobs) {
    auto found = known.find({job.model, job.gpus});
    if (found == known.end()) {
      const auto measured = table.Measured(job.model);
      if (!measured) return Fail(measured.error());
      auto profiles = types.profiles.Of(job.model, job.gpus, *measured);
      if (!profiles) return Fail(profiles.error());
      found = known.emplace(std::pair(job.model, job.gpus), *std::move(profiles)).first;
    }
    ProfilesOnTypes& profiles = on_types.emplace_back();
    for (const auto& profile : found->second) {
      profiles.push_back(profile ? &*profile : nullptr);
    }
  }
  auto rounds = GavelRounds::Create(types.servers, jobs, on_types,
                                    {.policy = result.policy,
                                     .mechanism = result.mechanism,
                                     .round = options.round,
                                     .restart_cost = options.restart_cost});
  if (!rounds) return Fail(rounds.error());
  return SimulateRounds(types.servers.All(), jobs, *rounds, InRounds(arguments, options), progress);
}

Result<> RunByMechanism(const LabArguments& arguments, const LabOptions& options,
                        const PresentCluster* cluster, const TraceWorkload& workload,
                        const ReportProgress& report, JobProfiles& profiles, RunResult& result) {
  const auto jobs = ToJobs(workload, result.load, options.server, profiles);
  if (!jobs) return Fail(jobs.error());
  const bool by_events = IsOf(ProductMechanisms(), result.mechanism);
  if (!by_events && !IsOf(MechanismNames(), result.mechanism)) {
    std::vector<std::string_view> names;
    for (const MechanismName& known : ProductMechanisms()) names.push_back(known.name);
    for (const MechanismName& known : MechanismNames()) names.push_back(known.name);
    return Fail(ErrorCode::kInvalid, fmt::format("unknown mechanism '{}': use one of {}",
                                                 result.mechanism, fmt::join(names, ", ")));
  }
  if (!by_events && cluster != nullptr) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("mechanism {} needs empty servers; --from-cluster and --cluster are "
                            "only for synergy and synergy-strict",
                            result.mechanism));
  }
  const Progress progress = [&](size_t finished) { report(result, finished, jobs->size()); };
  auto run =
      by_events
          ? RunByEvents(arguments, options, workload, *jobs, profiles, cluster, result, progress)
      : options.types ? RunOnTypes(arguments, options, workload, *jobs, profiles, result, progress)
                      : RunInRounds(arguments, options, *jobs, result, progress);
  if (!run) return Fail(run.error());
  Take(*std::move(run), *jobs, options, result);
  return {};
}

}  // namespace

Result<std::vector<RunResult>> RunAllInRounds(const LabArguments& arguments,
                                              const LabOptions& options, const ModelFacts& facts,
                                              const PresentCluster* cluster,
                                              const std::vector<TraceWorkload>& workloads,
                                              const ReportProgress& report) {
  JobProfiles::FindMeasured on_type;
  if (options.types) {
    on_type = [&](const std::string& model) { return options.types->profiles.Measured(model); };
  }
  JobProfiles profiles(facts, cluster, std::move(on_type));
  return RunEveryWorkload(arguments, options.window.value_or(JobWindow{}), workloads,
                          [&](const TraceWorkload& workload, RunResult& result) {
                            return RunByMechanism(arguments, options, cluster, workload, report,
                                                  profiles, result);
                          });
}

Simulator OurRounds(const LabArguments& arguments, const LabOptions& options) {
  std::optional<Gpus> most;
  if (options.types) {
    const TypedServers& servers = options.types->servers;
    most = Gpus(0);
    for (size_t type = 0; type < servers.types.size(); ++type) {
      most = std::max(*most, servers.GpusOf(type));
    }
  }
  return {.most_gpus = most,
          .start =
              [&](const PresentCluster* cluster) {
                return options.types
                           ? ClusterOf(options.types->servers.All().size(), options.server)
                           : StartOf(arguments, options, cluster);
              },
          .run =
              [&](const ModelFacts& facts, const PresentCluster* cluster,
                  const std::vector<TraceWorkload>& workloads, const ReportProgress& report) {
                return RunAllInRounds(arguments, options, facts, cluster, workloads, report);
              }};
}

}  // namespace synergy::cli
