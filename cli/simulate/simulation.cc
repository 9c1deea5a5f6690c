#include "cli/simulate/simulation.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "allocation/fair_share.h"
#include "core/rounding.h"

namespace synergy::cli {
namespace {

// Sets the jobs' work to the work that they did when they were recorded. `server`: a server of the
// recording. `profiles`: the profiles on its GPUs.
Result<> WorkAsRecorded(const ResourceVector& server, const TraceWorkload& workload,
                        JobProfiles& profiles, std::vector<Job>& jobs) {
  const ResourceVector fair = FairShareOf(server, server.gpus, Gpus(1));
  for (size_t at = 0; at < jobs.size(); ++at) {
    Job& job = jobs[at];
    const auto profile = profiles.Find(workload.jobs[at].model, job.gpus);
    if (!profile) return Fail(profile.error());
    job.fair_throughput =
        (*profile)->ThroughputAt(fair.cpu * job.gpus.count(), fair.memory * job.gpus.count());
    if (job.fair_throughput <= 0) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("--recorded: {} makes no progress with the fair share there",
                              workload.jobs[at].model));
    }
  }
  return {};
}

Result<> RunProduct(const SimulateArguments& arguments, const SimulateOptions& options,
                    const PresentCluster* cluster, const TraceWorkload& workload,
                    const ReportProgress& report, JobProfiles& recorded, JobProfiles& profiles,
                    RunResult& result) {
  auto jobs = ToJobs(workload, result.load, options.server, profiles);
  if (!jobs) return Fail(jobs.error());
  if (options.recorded || arguments.gpu_speed != 1) {
    const auto done =
        WorkAsRecorded(options.recorded.value_or(options.server), workload, recorded, *jobs);
    if (!done) return done;
  }
  const Progress progress = [&](size_t finished) { report(result, finished, jobs->size()); };
  auto run = RunByEvents(arguments, options, workload, *jobs, profiles, cluster, result, progress);
  if (!run) return Fail(run.error());
  Take(*std::move(run), *jobs, options, result);
  result.has_starting_pods = cluster != nullptr && !cluster->start.pods.empty();
  return {};
}

Result<RunResult> RunOne(const TraceWorkload& workload, const JobWindow& window,
                         const SimulateWorkload& simulate, RunResult run) {
  for (const TraceJob& job : workload.jobs) {
    run.job_gpus.push_back(job.gpus);
    run.job_models.push_back(job.model);
  }
  run.not_run = workload.left_out;
  run.reading = workload.reading;
  return TimedRun(std::move(run), window,
                  [&](RunResult& result) { return simulate(workload, result); });
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

Result<> WriteFile(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be written", name));
  return {};
}

StartingCluster StartOf(const SimulateArguments& arguments, const SimulateOptions& options,
                        const PresentCluster* cluster) {
  if (cluster != nullptr) return cluster->start;
  if (!options.gpu_types.empty()) {
    size_t servers = 0;
    for (const auto& type : options.gpu_types) servers += type.servers;
    StartingCluster start =
        ClusterOf(servers, options.server, static_cast<size_t>(arguments.rack_servers));
    std::span<Node> rest = start.nodes;
    for (const auto& type : options.gpu_types) {
      SetProduct(type.product, rest.first(type.servers));
      rest = rest.subspan(type.servers);
    }
    return start;
  }
  return ClusterOf(static_cast<size_t>(arguments.servers), options.server,
                   static_cast<size_t>(arguments.rack_servers));
}

bool IsOf(std::span<const MechanismName> names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [name](const MechanismName& known) { return known.name == name; });
}

Result<SimulationRun> RunByEvents(const SimulateArguments& arguments,
                                  const SimulateOptions& options, const TraceWorkload& workload,
                                  std::span<const Job> jobs, const JobProfiles& table,
                                  const PresentCluster* cluster, const RunResult& result,
                                  const Progress& progress) {
  const bool in_queue = options.queue && (options.always_queues || result.policy != "fifo");
  if (result.policy != "fifo" && !in_queue) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("mechanism {0} is the product, which without a queue only supports policy "
                    "fifo; for {1}: --mechanism {2}, or synergy simulate",
                    result.mechanism, result.policy,
                    result.mechanism == "synergy" ? "synergy-rounds" : "synergy-rounds-strict"));
  }
  ModelProfiles profiles;
  if (cluster != nullptr) {
    for (const ProfileObject& object : cluster->profiles) profiles.Add(object);
  }
  const std::string& pod_namespace =
      cluster == nullptr ? ProductOptions().pod_namespace : cluster->pod_namespace;
  std::vector<ProductJob> product_jobs;
  for (size_t at = 0; at < jobs.size(); ++at) {
    const Job& job = jobs[at];
    const std::string& model = workload.jobs[at].model;
    if (const ProfileObject* object = table.FindObject(model);
        object != nullptr && !profiles.Known(pod_namespace, model)) {
      ProfileObject in_namespace = *object;
      in_namespace.profile_namespace = pod_namespace;
      profiles.Add(std::move(in_namespace));
    }
    if (!profiles.Known(pod_namespace, model)) {
      auto one_gpu = table.Measured(model);
      if (!one_gpu) return Fail(one_gpu.error());
      profiles.Set(model, std::make_shared<const JobProfile>(*std::move(one_gpu)));
    }
    product_jobs.push_back({job.id, model, job.gpus, job.arrival, job.ideal, job.fair_throughput,
                            job.first_part, static_cast<double>(workload.jobs[at].total_iterations),
                            workload.jobs[at].priority});
  }
  ProductOptions product;
  if (!SetMechanism(result.mechanism, product))
    return Fail(ErrorCode::kInvalid, fmt::format("no mechanism '{}'", result.mechanism));
  if (in_queue) {
    product.queue = options.queue;
    RoundSettings& rounds = product.queue->rounds;
    if (auto read = ReadPolicy(result.policy, rounds); !read) return Fail(read.error());
    for (const Job& job : jobs)
      rounds.sizes.push_back(job.ideal.count() * static_cast<double>(job.gpus.count()));
  }
  product.faults = options.faults;
  product.cpu_pods = options.cpu_pods;
  product.failures = options.failures;
  if (in_queue && product.queue->rounds.elastic) product.elastic = options.elastic;
  product.reservations = options.reservations;
  product.whole_nodes = options.whole_nodes;
  product.gpu_speeds = options.gpu_speeds;
  product.sharing = options.sharing;
  product.moves = options.moves;
  product.storage = options.storage;
  product.latencies = options.latencies;
  product.tuner.scheduler_name = arguments.access.scheduler_name;
  product.tuner.round = ToDuration(options.round);
  product.restart_cost = ToDuration(options.restart_cost);
  product.spread_factor = arguments.spread_factor;
  product.rack_spread_factor = arguments.rack_spread_factor;
  if (arguments.pod_gpus > 0) product.pod_gpus = Gpus(arguments.pod_gpus);
  product.locality = options.locality;
  product.pod_namespace = pod_namespace;
  product.remaining = options.remaining;
  product.live_profiles = arguments.live_profiles;
  product.profiles_after = options.profiles_after;
  product.cold_epochs = arguments.cold_epochs;
  product.keep_changes = options.keeps_changes;
  return SimulateProduct(StartOf(arguments, options, cluster), product_jobs, profiles, product,
                         progress);
}

void Take(SimulationRun run, std::span<const Job> jobs, const SimulateOptions& options,
          RunResult& result) {
  for (const Job& job : jobs) {
    result.job_fair_shares.push_back(FairShareOf(options.server, options.server.gpus, job.gpus));
    result.job_demands.push_back(job.demand);
  }
  const JobWindow window = options.window.value_or(JobWindow{});
  Seconds completion{};
  size_t passed = 0;
  for (const JobRun& job : run.jobs) {
    const auto once = [](Seconds at) { return at < Seconds(0) ? std::nullopt : std::optional(at); };
    const JobTimes& times = result.jobs.emplace_back(
        JobTimes{static_cast<int64_t>(job.id), job.arrival, once(job.start), once(job.finish),
                 once(job.first_part), job.ran, job.gpu_time});
    if (!times.started && !times.finished && window.Contains(times.id))
      result.never_placed.push_back(times.id);
    if (times.finished && !job.failed && window.Contains(times.id)) {
      completion += *times.finished - times.submitted;
      ++passed;
    }
    result.restarts += job.restarts;
    result.resizes += job.resizes;
  }
  result.failures = run.failures;
  result.mean_passed = completion / std::max(static_cast<double>(passed), 1.0);
  result.job_places = std::move(run.places);
  result.rounds = run.rounds;
  result.gpu_utilisation = run.gpu_utilisation;
  result.cpu_utilisation = run.cpu_utilisation;
  result.memory_utilisation = run.memory_utilisation;
  result.kept_idle = run.kept_idle;
  result.worst_gap = run.worst_gap;
  result.fell_back = run.fell_back;
  result.has_reservations =
      options.reservations.has_value() && !IsOf(BaselineMechanisms(), result.mechanism);
  result.timeline = std::move(run.timeline);
  result.changes = std::move(run.changes);
  result.sharing = run.sharing;
  result.moves = run.moves;
}

Result<std::vector<RunResult>> RunEveryWorkload(const SimulateArguments& arguments,
                                                const JobWindow& window,
                                                const std::vector<TraceWorkload>& workloads,
                                                const SimulateWorkload& simulate) {
  std::vector<RunResult> results;
  for (const TraceWorkload& workload : workloads) {
    for (const double load : arguments.loads) {
      for (const std::string& policy : arguments.policies) {
        for (const std::string& mechanism : arguments.mechanisms) {
          auto result = RunOne(
              workload, window, simulate,
              {.workload = workload.name, .load = load, .policy = policy, .mechanism = mechanism});
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

Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const PresentCluster* cluster,
                                      const std::vector<TraceWorkload>& workloads,
                                      const ReportProgress& report) {
  JobProfiles recorded(facts, cluster);
  const ModelFacts faster = OnGpusOfSpeed(facts, arguments.gpu_speed);
  JobProfiles profiles(faster, cluster);
  return RunEveryWorkload(arguments, options.window.value_or(JobWindow{}), workloads,
                          [&](const TraceWorkload& workload, RunResult& result) {
                            return RunProduct(arguments, options, cluster, workload, report,
                                              recorded, profiles, result);
                          });
}

Result<RunResult> TimedRun(RunResult result, const JobWindow& window,
                           const std::function<Result<>(RunResult&)>& simulate) {
  const Instant begin = SystemClock().Now();
  const double cpu = CpuSeconds();
  const auto done = simulate(result);
  if (!done) return Fail(done.error());
  result.cpu_seconds = CpuSeconds() - cpu;
  result.wall_seconds = Seconds(SystemClock().Now() - begin).count();
  result.statistics = Summarize(result.jobs, window);
  return result;
}

}  // namespace synergy::cli
