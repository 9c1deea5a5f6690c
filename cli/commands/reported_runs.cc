#include "cli/commands/reported_runs.h"

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/page/page.h"
#include "cli/simulate/model_facts_file.h"
#include "cli/simulate/report.h"
#include "config/text_file.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

Result<> Plot(const std::vector<RunResult>& runs, const std::string& file) {
  // gnuplot reads the script from its standard input, so only gnuplot's quoting applies to the
  // file's name.
  if (file.find_first_of("'\n") != std::string::npos) {
    return Fail(ErrorCode::kInvalid, "--plot: the file's name must not contain quotes or newlines");
  }
  FILE* gnuplot = popen("gnuplot", "w");
  const std::string script = ToGnuplot(runs, file);
  const bool written =
      gnuplot != nullptr && std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  if (gnuplot == nullptr || pclose(gnuplot) != 0 || !written) {
    return Fail(ErrorCode::kUnavailable, "--plot: gnuplot failed: check that it is installed");
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

// Returns nullopt if the simulation starts with empty servers.
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

// A cluster has its own profiles. The built-in profiles only fill its gaps, so they may be missing
// if they do not fit the cluster's servers.
Result<ModelFacts> LoadFacts(const SimulateArguments& arguments, const SimulateOptions& options) {
  if (!arguments.profiles.empty()) return LoadModelFacts(arguments.profiles, options.server);
  auto facts = PaperModelFacts(options.server);
  if (!facts && options.starts_from_cluster) return ModelFacts();
  return facts;
}

// Shows the progress of a run on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet) : shows_(!quiet && isatty(STDERR_FILENO) == 1) {}

  void Print(const RunResult& run, size_t finished, size_t all) {
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

// Writes the files and the standard output.
Result<> Report(const SimulateArguments& arguments, const std::vector<RunResult>& runs) {
  auto written = WriteFiles(arguments, runs);
  if (!written) return written;
  fmt::print("{}", arguments.output == "json"  ? ToJson(runs)
                   : arguments.output == "csv" ? ToCsv(runs)
                                               : ToTable(runs));
  return {};
}

}  // namespace

Result<> RunAndReport(const SimulateArguments& arguments, SimulateOptions& options,
                      const Simulator& simulator) {
  const auto loaded = LoadCluster(arguments, options);
  if (!loaded) return Fail(loaded.error());
  const PresentCluster* const cluster = *loaded ? &**loaded : nullptr;
  if (arguments.traces.empty() && arguments.workloads.empty() && !arguments.history)
    return {};  // only --save-cluster
  if (cluster != nullptr) {
    const auto fair_share = cluster->FairShare();
    if (!fair_share) return Fail(fair_share.error());
    options.server = *fair_share;
    if (const size_t shared = cluster->SharedNodes(); shared > 0)
      fmt::print(stderr, "Note: jobs get no slices of GPUs, which {} nodes offer\n", shared);
  }
  auto facts = LoadFacts(arguments, options);
  if (!facts) return Fail(facts.error());
  PrintManifests(arguments, *facts);
  if (cluster != nullptr) {
    for (const ProfileObject& profile : cluster->profiles) {
      if (profile.profile_namespace == cluster->pod_namespace) facts->SetObject(profile);
    }
  }
  NoteExtrapolation(arguments, options, *facts);
  const StartingCluster start = simulator.start(cluster);
  Gpus all;
  for (const Node& node : start.nodes) all += node.allocatable.main.gpus;
  const auto workloads = LoadWorkloads(arguments, *facts, simulator.most_gpus.value_or(all));
  if (!workloads) return Fail(workloads.error());
  for (const TraceWorkload& workload : *workloads) {
    if (!workload.reading.empty()) fmt::print(stderr, "{}: {}\n", workload.name, workload.reading);
    if (auto checked = CheckServers(arguments, options, *facts, workload); !checked) return checked;
  }
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) {
      return Fail(ErrorCode::kInvalid, "--save: needs exactly one workload");
    }
    const auto saved = WriteFile(arguments.save, ToTraceCsv(workloads->front().jobs));
    if (!saved) return saved;
  }
  ProgressLine progress(arguments.quiet);
  const auto runs = simulator.run(*facts, cluster, *workloads,
                                  [&](const RunResult& run, size_t finished, size_t all_jobs) {
                                    progress.Print(run, finished, all_jobs);
                                  });
  progress.Clear();
  if (!runs) return Fail(runs.error());
  if (auto measured = CheckMeasured(*runs); !measured) return measured;
  fmt::print(stderr, "{}", LeftOutWarnings(*runs));
  if (!arguments.html.empty()) {
    const auto written = WriteFile(arguments.html, SimulationPage(start, *runs));
    if (!written) return written;
  }
  return Report(arguments, *runs);
}

Result<> RunAndReport(
    const SimulateArguments& arguments,
    const std::function<Result<std::vector<RunResult>>(const ReportProgress& report)>& run) {
  ProgressLine progress(arguments.quiet);
  const auto runs = run(
      [&](const RunResult& of, size_t finished, size_t all) { progress.Print(of, finished, all); });
  progress.Clear();
  if (!runs) return Fail(runs.error());
  return Report(arguments, *runs);
}

}  // namespace synergy::cli
