#include "cli/commands/simulate_command.h"

#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "baseline/mechanisms.h"
#include "cli/page/page.h"
#include "cli/simulate/model_facts_file.h"
#include "cli/simulate/report.h"
#include "cli/simulate/simulation.h"
#include "cli/simulate/starting_cluster.h"
#include "config/text_file.h"
#include "gavel/type_policies.h"
#include "policy/policy.h"
#include "sim/optimus/elastic_simulator.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

constexpr const char* kSimulateHelp =
    R"(Runs traces of training jobs on a cluster that exists in memory only.

examples:
  synergy simulate --generate rate=9/h,jobs=2000 --profiles profiles.json --mechanism proportional,tune,synergy
  synergy simulate --trace trace.csv --profiles profiles.json --servers 4 --policy fifo,srtf --mechanism tune,synergy-rounds --output json
  synergy simulate --trace ae.csv --profiles profiles.json --mechanism tune --compat reference --window 4000:5000
  synergy simulate --trace 60_job.csv --compat tiresias --cluster n2g4 --schedule dlas-gpu-2,fifo --jobs-csv jobs.csv
  synergy simulate --trace jobs.trace --compat gavel --types v100=12,p100=12,k80=12 --policy fifo_perf,max_min_fairness_perf
  synergy simulate --generate rate=15/h,jobs=2000 --profiles profiles.json --types v100=64,p100=64,k80=64 --policy gavel-las,gavel-las-agnostic --mechanism proportional,synergy-rounds
  synergy simulate --generate gpus=philly,rate=10/h,jobs=500 --elastic --types v100=64 --round 10m --policy optimus,srtf,equal
  synergy simulate --generate gpus=philly,jobs=3000 --profiles profiles.json --load 0.6,0.8,1 --mechanism burstable-spread,synergy --plot out.svg
  synergy simulate --trace trace.csv --profiles profiles.json --mechanism proportional,synergy --html page.html
  synergy simulate --from-cluster --save-cluster cluster.json --trace tomorrow.csv --remaining 2h)";

std::string Names(std::span<const MechanismName> names) {
  std::string text;
  for (const MechanismName& name : names) {
    text += fmt::format("\n    {:<21} {}", name.name, name.meaning);
  }
  return text;
}

std::string Policies() {
  std::string text;
  for (const PolicyName& policy : PolicyNames()) {
    text += fmt::format("\n    {:<21} {}", policy.name, policy.meaning);
  }
  text += "\n  with --types, in rounds; each also with -agnostic, for which all types are as one:";
  for (const TypePolicyName& policy : TypePolicyNames()) {
    text += fmt::format("\n    {:<21} {}", policy.name, policy.meaning);
  }
  return text;
}

Result<> Plot(const std::vector<RunResult>& runs, const std::string& file) {
  // gnuplot takes the script from its standard input; the file's name is quoted for gnuplot alone.
  if (file.find_first_of("'\n") != std::string::npos) {
    return Fail(ErrorCode::kInvalid, "--plot: no quotes in the file's name");
  }
  FILE* gnuplot = popen("gnuplot", "w");
  const std::string script = ToGnuplot(runs, file);
  const bool written =
      gnuplot != nullptr && std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  if (gnuplot == nullptr || pclose(gnuplot) != 0 || !written) {
    return Fail(ErrorCode::kUnavailable, "--plot: gnuplot failed: is it installed?");
  }
  return {};
}

Result<> WriteFiles(const SimulateArguments& arguments, const std::vector<RunResult>& runs) {
  if (!arguments.jobs_csv.empty()) {
    const auto written = WriteFile(arguments.jobs_csv, ToJobsCsv(runs));
    if (!written) return written;
  }
  if (!arguments.timeline.empty()) {
    const auto written = WriteFile(arguments.timeline, ToTimelineCsv(runs));
    if (!written) return written;
  }
  if (!arguments.changes.empty()) {
    const auto written = WriteFile(arguments.changes, ToChangesCsv(runs));
    if (!written) return written;
  }
  return arguments.plot.empty() ? Result<>() : Plot(runs, arguments.plot);
}

// None where the simulation starts with empty servers.
Result<std::optional<PresentCluster>> LoadCluster(const SimulateArguments& arguments,
                                                  const SimulateOptions& options) {
  if (!options.starts_from_cluster) return std::nullopt;
  const ClusterArguments& access = arguments.access;
  std::string pod_namespace = access.pod_namespace.empty() ? "default" : access.pod_namespace;
  Result<std::string> text;
  std::vector<std::string> notes;
  if (arguments.from_cluster) {
    const auto connection = Connect(access);
    if (!connection) return Fail(connection.error());
    pod_namespace = connection->pod_namespace;
    text = ReadCluster(*connection->client, notes);
  } else {
    text = config::ReadTextFile(arguments.cluster);
  }
  if (!text) return Fail(text.error());
  for (const std::string& note : notes) fmt::print(stderr, "Note: {}\n", note);
  if (!arguments.save_cluster.empty()) {
    const auto saved = WriteFile(arguments.save_cluster, *text);
    if (!saved) return Fail(saved.error());
  }
  auto cluster = ParseCluster(*text, arguments.from_cluster ? "the cluster" : arguments.cluster,
                              RulesOf(access));
  if (!cluster) return Fail(cluster.error());
  cluster->pod_namespace = std::move(pod_namespace);
  return std::optional(*std::move(cluster));
}

// A cluster's servers are its own.
void AddClusterSources(CLI::App& simulate, SimulateArguments& arguments) {
  CLI::Option* from = simulate.add_flag(
      "--from-cluster", arguments.from_cluster,
      "start from the cluster of the kubeconfig as it is now: its nodes, pods, training profiles; "
      "only for what runs by events");
  CLI::Option* file =
      simulate.add_option("--cluster", arguments.cluster,
                          "start from this file of --save-cluster, or of kubectl get "
                          "nodes,pods,trainingprofiles -A -o json; with --compat tiresias: nXgY, "
                          "X nodes of Y GPUs");
  simulate.add_option("--save-cluster", arguments.save_cluster,
                      "with --from-cluster: keep what was read in this file");
  simulate.add_option("--remaining", arguments.remaining,
                      "the work that the cluster's own GPU pods still have, each, as the time at "
                      "its fair share (they run for ever)");
  AddClusterOptions(simulate, arguments.access);
  from->excludes(file);
  for (const char* made : {"--servers", "--gpus", "--cpus", "--memory"}) {
    simulate.get_option(made)->excludes(from)->excludes(file);
  }
}

// Of Tiresias' orders, and of its authors' simulator.
void AddQueueOptions(CLI::App& simulate, SimulateArguments& arguments) {
  simulate
      .add_option(
          "--schedule", arguments.schedules,
          "with --compat tiresias: dlas-gpu, dlas-gpu-N (promote knob N), dlas-gpu-gittins, "
          "fifo, shortest, shortest-gpu, sjf; several for a comparison")
      ->delimiter(',')
      ->capture_default_str();
  simulate
      .add_option("--scheme", arguments.scheme,
                  "with --compat tiresias: count (GPUs are counted) or yarn (one switch, whole "
                  "nodes); the dlas schedules always count")
      ->check(CLI::IsMember({"count", "yarn"}))
      ->capture_default_str();
  simulate
      .add_option(
          "--queue-limits", arguments.queue_limits,
          "of 2d-las, 2d-gittins and the dlas schedules: the GPU-seconds at which a job goes "
          "from one queue to the next, ascending")
      ->delimiter(',')
      ->capture_default_str();
  simulate
      .add_option("--promote", arguments.promote,
                  "of 2d-las and 2d-gittins: a job that has waited this many times as long as it "
                  "has run goes back to the first queue; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  simulate
      .add_option("--lease", arguments.lease,
                  "in rounds: how long a job that was given GPUs keeps them before it has to be "
                  "chosen again; then it goes on in its place or makes room (a round)")
      ->expected(0, 1);
  simulate.add_option("--size-history", arguments.size_history,
                      "of 2d-gittins and dlas-gpu-gittins: CSV with the column duration, the sizes "
                      "of past jobs in GPU-seconds (2d-gittins without it: the trace's own jobs)");
}

// Of GPU types.
void AddGavelOptions(CLI::App& simulate, SimulateArguments& arguments) {
  simulate
      .add_option("--types", arguments.types,
                  "the GPU types and how many GPUs there are of each, as v100=32,p100=32,k80=32: "
                  "in whole servers with --gpus each, for the gavel policies in rounds; with "
                  "--compat gavel one GPU a server; with --elastic one type")
      ->delimiter(',')
      ->excludes("--servers");
  simulate
      .add_option("--prices", arguments.prices,
                  "with --types: dollars per GPU and hour, of policies by cost")
      ->delimiter(',')
      ->capture_default_str();
  simulate.add_option(
      "--throughputs", arguments.throughputs,
      "with --types: CSV with model, gpus and a column of iterations per second for each type "
      "(what Gavel's authors measured)");
  simulate.add_option("--type-profiles", arguments.type_profiles,
                      "with --types, of the gavel policies: profiles with gpuProduct, YAML or "
                      "JSON, which go before those of --profiles");
  simulate.add_option("--solves", arguments.solves,
                      "with --compat gavel: write what the policy was asked and answered to this "
                      "file, as synergy gavel solve reads it");
}

// Of jobs that may have more or fewer workers.
void AddElasticOption(CLI::App& simulate, SimulateArguments& arguments) {
  std::string policies;
  for (const ElasticPolicyName& policy : ElasticPolicyNames()) {
    policies += fmt::format("\n    {:<21} {}", policy.name, policy.meaning);
  }
  simulate
      .add_flag(
          "--elastic", arguments.elastic,
          "jobs run with more or fewer workers, each a GPU of the one type of --types; traces "
          "as of --compat gavel, or made; --policy:" +
              policies)
      ->excludes("--compat");
}

// Shows how far a run is, where somebody looks on.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shows_(!quiet && isatty(STDERR_FILENO) == 1) {}

  void Tell(const RunResult& run, size_t finished, size_t all) {
    if (!shows_ || (finished - shown_ < 100 && finished != all && finished >= shown_)) return;
    shown_ = finished;
    fmt::print(stderr, "\r\033[K{} {} {}: {} of {} jobs", run.workload, run.policy, run.mechanism,
               finished, all);
  }

  void Clear() const {
    if (shows_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool shows_;
  size_t shown_ = 0;
};

// Files and standard output.
Result<> Report(const SimulateArguments& arguments, const std::vector<RunResult>& runs) {
  auto written = WriteFiles(arguments, runs);
  if (!written) return written;
  fmt::print("{}", arguments.output == "json"  ? ToJson(runs)
                   : arguments.output == "csv" ? ToCsv(runs)
                                               : ToTable(runs));
  return {};
}

// Of jobs of several pods.
void AddLocality(CLI::App& simulate, SimulateArguments& arguments) {
  simulate
      .add_option("--rack-spread-factor", arguments.rack_spread_factor,
                  "likewise of one that spans racks")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  simulate
      .add_option(
          "--rack-servers", arguments.rack_servers,
          "synergy, synergy-strict: how many servers share a rack; 0: nobody knows of racks")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  simulate
      .add_option("--pod-gpus", arguments.pod_gpus,
                  "synergy, synergy-strict: the most GPUs of a pod; a job with more is a gang of "
                  "several; 0: as many as a server has")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  simulate
      .add_option("--node-wait", arguments.node_wait,
                  "synergy, synergy-strict: how long a gang waits for room on one server (the "
                  "extender's locality.nodeWait)")
      ->capture_default_str();
  simulate
      .add_option("--rack-wait", arguments.rack_wait,
                  "... and then in one rack (locality.rackWait)")
      ->capture_default_str();
}

}  // namespace

CLI::App* AddSimulate(CLI::App& app, SimulateArguments& arguments) {
  CLI::App* simulate = app.add_subcommand("simulate", kSimulateHelp);
  simulate
      ->add_option("--trace", arguments.traces,
                   "CSV with job_id, model, arrival_s, total_iterations, gpus; or Philly's JSON")
      ->delimiter(',');
  simulate
      ->add_option("--generate", arguments.workloads,
                   "make a workload: rate=9/h,split=20:70:10,gpus=philly,jobs=7000,seed=42; "
                   "may be given several times")
      ->take_all();
  simulate->add_option("--save", arguments.save, "write the (one) workload to this file as CSV");
  simulate->add_option("--profiles", arguments.profiles, "the models' profiles, JSON or YAML");
  simulate->add_option("--servers", arguments.servers, "servers in the cluster")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  simulate->add_option("--gpus", arguments.gpus, "GPUs of a server")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  simulate->add_option("--cpus", arguments.cpus, "CPU cores of a server")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  simulate->add_option("--memory", arguments.memory, "memory of a server")->capture_default_str();
  simulate
      ->add_option("--policy", arguments.policies,
                   "who goes first; several for a comparison:" + Policies())
      ->delimiter(',')
      ->capture_default_str();
  simulate
      ->add_option("--mechanism", arguments.mechanisms,
                   "who gets what, where; several for a comparison; by events, policy fifo only:" +
                       Names(ProductMechanisms()) + "\n  in rounds:" + Names(MechanismNames()))
      ->delimiter(',')
      ->capture_default_str();
  simulate->add_option("--load", arguments.loads, "factors on the rate of arrival")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  simulate
      ->add_option(
          "--compat", arguments.compat,
          "reference: as the simulator of Synergy's authors, quirks included; "
          "mechanisms fair, greedy, tune"
          "\n    tiresias           as the simulator of Tiresias' authors, on their traces: "
          "--cluster nXgY,\n                       --schedule, --scheme"
          "\n    gavel              as the simulator of Gavel's authors, on their traces or on what"
          "\n                       --generate makes as they do: --types, --policy as synergy gavel"
          "\n                       solve has them")
      ->check(CLI::IsMember({"reference", "tiresias", "gavel"}));
  AddQueueOptions(*simulate, arguments);
  AddGavelOptions(*simulate, arguments);
  AddElasticOption(*simulate, arguments);
  simulate->add_option("--placement", arguments.placement, "with --compat reference")
      ->check(CLI::IsMember({"first-fit", "consolidate"}))
      ->capture_default_str();
  simulate
      ->add_option(
          "--arrivals", arguments.arrivals,
          "with --compat reference, where rounds begin and the run ends:"
          "\n    generated          at 0; when all jobs have finished"
          "\n    replay             at the first whole round at or after the first arrival; at the"
          "\n                       first moment without a job, whatever arrives later"
          "\n    static             at 1 s; as replay"
          "\n    auto               generated for --generate; a trace is taken for static where all"
          "\n                       arrive in the first round, for generated where --window leaves"
          "\n                       out its end, and else for replay")
      ->check(CLI::IsMember({"auto", "static", "replay", "generated"}))
      ->capture_default_str();
  simulate->add_option("--window", arguments.window,
                       "measure the jobs with these ids only, as 4000:5000");
  simulate->add_option("--round", arguments.round, "length of a round, the tuner's included")
      ->capture_default_str();
  simulate->add_option(
      "--latency", arguments.latency,
      "of a run by events: schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s (the "
      "defaults), or some of these");
  simulate
      ->add_option("--restart-cost", arguments.restart_cost,
                   "what a job loses when it starts or moves")
      ->capture_default_str();
  simulate
      ->add_option("--spread-factor", arguments.spread_factor,
                   "speed of a job that spans servers, where its profile has no spreadSpeed")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  AddLocality(*simulate, arguments);
  simulate->add_flag("--live-profiles", arguments.live_profiles,
                     "synergy, synergy-strict: nobody has profiled the models; they are measured "
                     "while their jobs run");
  simulate->add_option("--profiles-after", arguments.profiles_after,
                       "synergy, synergy-strict: nobody knows the models' profiles until so long "
                       "after the first arrival, then everybody does: what placing blindly costs");
  simulate->add_flag("--cold-epochs", arguments.cold_epochs,
                     "synergy, synergy-strict: until a job has read its data set once it comes "
                     "from storage");
  simulate
      ->add_option("--split", arguments.split, "image:language:speech, for traces without models")
      ->capture_default_str();
  simulate->add_option("-o,--output", arguments.output, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  simulate->add_option("--jobs-csv", arguments.jobs_csv, "write every job's times to this file");
  simulate->add_option("--timeline", arguments.timeline,
                       "write what is allocated over time to this file");
  simulate->add_option("--changes", arguments.changes,
                       "write where every pod went and what it had when to this file");
  simulate->add_option("--html", arguments.html,
                       "write a page to look at to this file: every node and job over time, two "
                       "runs side by side");
  simulate->add_option("--plot", arguments.plot, "draw an SVG (needs gnuplot)");
  simulate->add_flag("-q,--quiet", arguments.quiet, "no progress on the terminal");
  AddClusterSources(*simulate, arguments);
  return simulate;
}

Result<> RunSimulate(const SimulateArguments& arguments) {
  const auto limits = CheckQueueLimits(arguments.queue_limits);
  if (!limits) return limits;
  const auto files = CheckFiles(arguments);
  if (!files) return files;
  if (arguments.compat == "tiresias") {
    const auto runs = RunAllTiresias(arguments);
    if (!runs) return Fail(runs.error());
    return Report(arguments, *runs);
  }
  ProgressLine progress(arguments.quiet);
  const auto tell = [&](const RunResult& run, size_t finished, size_t all) {
    progress.Tell(run, finished, all);
  };
  if (arguments.elastic) {
    const auto runs = RunAllElastic(arguments, tell);
    progress.Clear();
    if (!runs) return Fail(runs.error());
    return Report(arguments, *runs);
  }
  if (arguments.compat == "gavel") {
    const auto runs = RunAllGavel(arguments, tell);
    progress.Clear();
    if (!runs) return Fail(runs.error());
    return Report(arguments, *runs);
  }
  auto options = CheckArguments(arguments);
  if (!options) return Fail(options.error());
  const auto loaded = LoadCluster(arguments, *options);
  if (!loaded) return Fail(loaded.error());
  const PresentCluster* const cluster = *loaded ? &**loaded : nullptr;
  if (arguments.traces.empty() && arguments.workloads.empty()) return {};  // only to be saved
  if (cluster != nullptr) {
    const auto fair_share = cluster->FairShare();
    if (!fair_share) return Fail(fair_share.error());
    options->server = *fair_share;
  }
  const auto facts = arguments.profiles.empty()
                         ? Result<ModelFacts>()
                         : LoadModelFacts(arguments.profiles, options->server);
  if (!facts) return Fail(facts.error());
  const auto workloads = LoadWorkloads(arguments, *options, *facts, cluster);
  if (!workloads) return Fail(workloads.error());
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) {
      return Fail(ErrorCode::kInvalid, "--save: there has to be one workload");
    }
    const auto saved = WriteFile(arguments.save, ToTraceCsv(workloads->front().jobs));
    if (!saved) return saved;
  }
  const auto runs = RunAll(arguments, *options, *facts, cluster, *workloads, tell);
  progress.Clear();
  if (!runs) return Fail(runs.error());
  fmt::print(stderr, "{}", LeftOutWarnings(*runs));
  if (!arguments.html.empty()) {
    const StartingCluster start = StartOf(arguments, *options, cluster);
    const auto written = WriteFile(arguments.html, SimulationPage(start, *runs));
    if (!written) return written;
  }
  return Report(arguments, *runs);
}

}  // namespace synergy::cli
