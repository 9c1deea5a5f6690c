#include "cli/simulate/simulation.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "baseline/mechanisms.h"
#include "cli/simulate/philly_trace.h"
#include "config/text_file.h"
#include "core/clock.h"
#include "core/rounding.h"
#include "policy/policy.h"
#include "sim/cluster/product_simulator.h"
#include "sim/reference/reference_simulator.h"
#include "sim/types/gavel_rounds.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

// After which Gandiva measures how soon a job was of use (OSDI'18).
constexpr double kFirstIterations = 100;

// That a job may have.
Gpus MostGpus(const SimulateArguments& arguments, const SimulateOptions& options,
              const PresentCluster* cluster) {
  if (cluster != nullptr) return cluster->gpus();
  if (!options.types) return Gpus(arguments.servers * arguments.gpus);
  Gpus most;
  const TypedServers& servers = options.types->servers;
  for (size_t type = 0; type < servers.types.size(); ++type) {
    most = std::max(most, servers.GpusOf(type));
  }
  return most;
}

Result<std::array<int, 3>> SplitOf(const SimulateArguments& arguments) {
  const auto options = ParseWorkloadOptions("split=" + arguments.split);
  if (!options) return Fail(ErrorCode::kInvalid, "--split: " + options.error().message);
  return options->split;
}

// Philly's jobs have no models: they get them in turn, with work for the time that they ran.
Result<TraceWorkload> FromPhilly(const std::string& name, std::string_view text,
                                 const SimulateArguments& arguments, const ModelFacts& facts,
                                 Gpus most) {
  const auto trace = ParsePhillyTrace(text);
  if (!trace) return Fail(trace.error());
  const auto split = SplitOf(arguments);
  if (!split) return Fail(split.error());
  ModelSequence models(*split);
  TraceWorkload workload{.name = name, .left_out = trace->left_out};
  for (const PhillyJob& job : trace->jobs) {
    if (job.gpus > most) {
      ++workload.left_out;
      continue;
    }
    const std::string model(models.Next());
    const ModelFact* fact = facts.Find(model, Gpus(1));
    if (fact == nullptr) return Fail(ErrorCode::kInvalid, "the profiles lack the model " + model);
    const double iterations = std::max(1.0, job.duration / fact->iteration_time);
    workload.jobs.push_back({.id = static_cast<int64_t>(workload.jobs.size()),
                             .model = model,
                             .arrival = job.submitted,
                             .total_iterations = static_cast<int64_t>(iterations),
                             .gpus = job.gpus,
                             .iteration_time = fact->iteration_time,
                             .duration = job.duration});
  }
  return workload;
}

Result<TraceWorkload> FromCsv(const std::string& name, std::string_view text) {
  auto jobs = ParseTrace(text, name);
  if (!jobs) return Fail(jobs.error());
  return TraceWorkload{.name = name, .jobs = std::move(*jobs)};
}

// Profiles of whole jobs, by model and GPU count, from the facts about one GPU.
class ProfileTable {
 public:
  // `types`: whose profiles go before `facts`, or null.
  ProfileTable(const ModelFacts& facts, const PresentCluster* cluster, const TypeProfiles* types)
      : facts_(facts), cluster_(cluster), types_(types) {}

  Result<const JobProfile*> Find(const std::string& model, Gpus gpus) {
    const auto found = profiles_.find({model, gpus.count()});
    if (found != profiles_.end()) return &found->second;
    auto profile = Measured(model);
    if (profile && profile->gpus() != gpus) profile = Scaled(*profile, gpus);
    if (!profile) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("the profile of {}: {}", model, profile.error().message));
    }
    return &profiles_.emplace(std::pair(model, gpus.count()), std::move(*profile)).first->second;
  }

  // As it was measured: what the cluster has goes first, as in admission.
  Result<JobProfile> Measured(const std::string& model) const {
    const ProfileObject* object = cluster_ == nullptr ? nullptr : cluster_->FindProfile(model);
    if (object != nullptr && object->profile) return *object->profile;
    if (object != nullptr) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("TrainingProfile {}: {}", object->Key(), object->problems.front()));
    }
    const JobProfile* on_type = types_ == nullptr ? nullptr : types_->Measured(model);
    if (on_type != nullptr) return *on_type;
    if (const ModelFact* fact = facts_.Find(model, Gpus(1))) return ProfileOf(*fact);
    return Fail(ErrorCode::kInvalid,
                cluster_ == nullptr
                    ? "the file of --profiles has none"
                    : fmt::format("neither namespace {} nor the file of --profiles has one",
                                  cluster_->pod_namespace));
  }

  // At the fair share: the trace's, or else that of the facts.
  Seconds IterationTime(const TraceJob& job) const {
    if (job.iteration_time > Seconds(0)) return job.iteration_time;
    const ModelFact* fact = facts_.Find(job.model, Gpus(1));
    return fact == nullptr ? Seconds(0) : fact->iteration_time;
  }

 private:
  const ModelFacts& facts_;
  const PresentCluster* const cluster_;
  const TypeProfiles* const types_;
  std::map<std::pair<std::string, int64_t>, JobProfile> profiles_;  // addresses stay
};

Result<std::vector<Job>> ToJobs(const TraceWorkload& workload, double load, const Server& server,
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
    job.first_part =
        job.ideal * std::min(1.0, kFirstIterations / static_cast<double>(std::max(
                                                         from.total_iterations, int64_t{1})));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

void Take(SimulationRun run, RunResult& result) {
  for (const JobRun& job : run.jobs) {
    const auto once = [](Seconds at) { return at < Seconds(0) ? std::nullopt : std::optional(at); };
    result.jobs.push_back({static_cast<int64_t>(job.id), job.arrival, once(job.start),
                           once(job.finish), once(job.first_part)});
    result.restarts += job.restarts;
    result.resizes += job.resizes;
  }
  result.job_places = std::move(run.places);
  result.rounds = run.rounds;
  result.gpu_utilisation = run.gpu_utilisation;
  result.cpu_utilisation = run.cpu_utilisation;
  result.memory_utilisation = run.memory_utilisation;
  result.kept_idle = run.kept_idle;
  result.worst_gap = run.worst_gap;
  result.fell_back = run.fell_back;
  result.timeline = std::move(run.timeline);
  result.changes = std::move(run.changes);
}

bool IsOf(std::span<const MechanismName> names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [name](const MechanismName& known) { return known.name == name; });
}

SimulatorOptions InRounds(const SimulateArguments& arguments, const SimulateOptions& options) {
  return {.round = options.round,
          .restart_cost = options.restart_cost,
          .lease = options.lease,
          .spread_factor = arguments.spread_factor,
          .keep_changes = options.keeps_changes};
}

// In GPU-seconds.
std::vector<double> PastSizes(const SimulateOptions& options, std::span<const Job> jobs) {
  if (options.sizes) return *options.sizes;
  std::vector<double> sizes;
  for (const Job& job : jobs) {
    sizes.push_back(job.ideal.count() * static_cast<double>(job.gpus.count()));
  }
  return sizes;
}

Result<SimulationRun> RunInRounds(const SimulateArguments& arguments,
                                  const SimulateOptions& options, std::span<const Job> jobs,
                                  const RunResult& result, const Progress& progress) {
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

// On GPUs of several types.
Result<SimulationRun> RunOnTypes(const SimulateArguments& arguments, const SimulateOptions& options,
                                 const TraceWorkload& workload, std::span<const Job> jobs,
                                 const ProfileTable& table, const RunResult& result,
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

Result<SimulationRun> RunByEvents(const SimulateArguments& arguments,
                                  const SimulateOptions& options, const TraceWorkload& workload,
                                  std::span<const Job> jobs, const ProfileTable& table,
                                  const PresentCluster* cluster, const RunResult& result,
                                  const Progress& progress) {
  if (result.policy != "fifo") {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("mechanism {0} is the product, and kube-scheduler takes who came first: "
                    "policy fifo only; for {1}: --mechanism {2}",
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
    if (!profiles.Known(pod_namespace, model)) {
      auto one_gpu = table.Measured(model);
      if (!one_gpu) return Fail(one_gpu.error());
      profiles.Set(model, std::make_shared<const JobProfile>(*std::move(one_gpu)));
    }
    product_jobs.push_back(
        {job.id, model, job.gpus, job.arrival, job.ideal, job.fair_throughput, job.first_part});
  }
  ProductOptions product;
  product.enforcement = result.mechanism == "synergy" ? Enforcement::kShared : Enforcement::kStrict;
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

Result<> RunDefault(const SimulateArguments& arguments, const SimulateOptions& options,
                    const PresentCluster* cluster, const TraceWorkload& workload,
                    const TellProgress& tell, ProfileTable& profiles, RunResult& result) {
  const auto jobs = ToJobs(workload, result.load, Server{options.server}, profiles);
  if (!jobs) return Fail(jobs.error());
  const bool by_events = IsOf(ProductMechanisms(), result.mechanism);
  if (!by_events && !IsOf(MechanismNames(), result.mechanism)) {
    std::vector<std::string_view> names;
    for (const MechanismName& known : ProductMechanisms()) names.push_back(known.name);
    for (const MechanismName& known : MechanismNames()) names.push_back(known.name);
    return Fail(ErrorCode::kInvalid, fmt::format("no mechanism '{}': one of {}", result.mechanism,
                                                 fmt::join(names, ", ")));
  }
  if (!by_events && cluster != nullptr) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("mechanism {} begins with empty servers; --from-cluster and --cluster "
                            "are for: synergy, synergy-strict",
                            result.mechanism));
  }
  for (const Job& job : *jobs) {
    result.job_fair_shares.push_back(FairShareOf(Server{options.server}, job.gpus));
    result.job_demands.push_back(job.demand);
  }
  const Progress progress = [&](size_t finished) { tell(result, finished, jobs->size()); };
  auto run =
      by_events
          ? RunByEvents(arguments, options, workload, *jobs, profiles, cluster, result, progress)
      : options.types ? RunOnTypes(arguments, options, workload, *jobs, profiles, result, progress)
                      : RunInRounds(arguments, options, *jobs, result, progress);
  if (!run) return Fail(run.error());
  Take(*std::move(run), result);
  return {};
}

Result<> RunReference(const SimulateArguments& arguments, const SimulateOptions& options,
                      const TraceWorkload& workload, const ModelFacts& facts, RunResult& result) {
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
                                      .window = options.window,
                                      .arrivals = options.arrivals});
  if (!run) return Fail(run.error());
  result.jobs = run->jobs;
  result.rounds = static_cast<uint64_t>(run->rounds);
  result.gpu_utilisation = run->mean_gpus;
  result.cpu_utilisation = run->mean_cpu;
  result.memory_utilisation = run->mean_memory;
  return {};
}

Result<RunResult> RunOne(const SimulateArguments& arguments, const SimulateOptions& options,
                         const ModelFacts& facts, const PresentCluster* cluster,
                         const TraceWorkload& workload, const TellProgress& tell,
                         ProfileTable& profiles, RunResult run) {
  for (const TraceJob& job : workload.jobs) {
    run.job_gpus.push_back(job.gpus);
    run.job_models.push_back(job.model);
  }
  run.not_run = workload.left_out;
  const JobWindow window = options.window.value_or(JobWindow{});
  auto result = TimedRun(std::move(run), window, [&](RunResult& timed) {
    return options.reference
               ? RunReference(arguments, options, workload, facts, timed)
               : RunDefault(arguments, options, cluster, workload, tell, profiles, timed);
  });
  if (!result) return result;
  for (const JobTimes& job : result->jobs) {
    if (!options.reference && !job.started && window.Contains(job.id))
      result->never_placed.push_back(job.id);
  }
  return result;
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
  if (options.types) return ClusterOf(options.types->servers.All().size(), options.server);
  return ClusterOf(static_cast<size_t>(arguments.servers), options.server,
                   static_cast<size_t>(arguments.rack_servers));
}

Result<std::vector<TraceWorkload>> LoadWorkloads(const SimulateArguments& arguments,
                                                 const SimulateOptions& options,
                                                 const ModelFacts& facts,
                                                 const PresentCluster* cluster) {
  const Gpus most = MostGpus(arguments, options, cluster);
  std::vector<TraceWorkload> workloads;
  for (const std::string& name : arguments.traces) {
    const auto text = config::ReadTextFile(name);
    if (!text) return Fail(text.error());
    const bool is_json = name.ends_with(".json");
    auto workload =
        is_json ? FromPhilly(name, *text, arguments, facts, most) : FromCsv(name, *text);
    if (!workload && is_json) {
      return Fail(workload.error().code, name + ": " + workload.error().message);
    }
    if (!workload) return Fail(workload.error());
    workloads.push_back(std::move(*workload));
  }
  for (const std::string& text : arguments.workloads) {
    const auto made = ParseWorkloadOptions(text);
    if (!made) return Fail(ErrorCode::kInvalid, "--generate: " + made.error().message);
    auto jobs = GenerateWorkload(*made, facts);
    if (!jobs) return Fail(jobs.error());
    workloads.push_back({.name = text, .jobs = std::move(*jobs)});
  }
  return workloads;
}

Result<std::vector<RunResult>> RunAll(const SimulateArguments& arguments,
                                      const SimulateOptions& options, const ModelFacts& facts,
                                      const PresentCluster* cluster,
                                      const std::vector<TraceWorkload>& workloads,
                                      const TellProgress& tell) {
  ProfileTable profiles(facts, cluster, options.types ? &options.types->profiles : nullptr);
  std::vector<RunResult> results;
  for (const TraceWorkload& workload : workloads) {
    for (const double load : arguments.loads) {
      for (const std::string& policy : arguments.policies) {
        for (const std::string& mechanism : arguments.mechanisms) {
          RunResult run{
              .workload = workload.name, .load = load, .policy = policy, .mechanism = mechanism};
          auto result =
              RunOne(arguments, options, facts, cluster, workload, tell, profiles, std::move(run));
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
