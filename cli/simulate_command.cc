#include "cli/simulate_command.h"

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "allocation/mechanisms.h"
#include "cli/report.h"
#include "cli/simulation.h"
#include "config/model_facts_file.h"
#include "sim/workload.h"

namespace synergy::cli {
namespace {

constexpr const char* kSimulateHelp =
    R"(Runs traces of training jobs on a cluster that exists in memory only.

examples:
  synergy simulate --generate rate=9/h,jobs=2000 --profiles profiles.json --mechanism proportional,tune,synergy
  synergy simulate --trace trace.csv --profiles profiles.json --servers 4 --policy fifo,srtf --output json
  synergy simulate --trace ae.csv --profiles profiles.json --mechanism tune --compat reference --window 4000:5000
  synergy simulate --generate gpus=philly,jobs=3000 --profiles profiles.json --load 0.6,0.8,1 --mechanism burstable-spread,synergy --plot out.svg)";

std::string Names(std::span<const MechanismName> names) {
  std::string text;
  for (const MechanismName& name : names) {
    text += fmt::format("\n    {:<18} {}", name.name, name.meaning);
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
  return arguments.plot.empty() ? Result<>() : Plot(runs, arguments.plot);
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
                   "who goes first: fifo, srtf, las, ftf; several for a comparison")
      ->delimiter(',')
      ->capture_default_str();
  simulate
      ->add_option("--mechanism", arguments.mechanisms,
                   "who gets what, where; several for a comparison:" + Names(MechanismNames()))
      ->delimiter(',')
      ->capture_default_str();
  simulate->add_option("--load", arguments.loads, "factors on the rate of arrival")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  simulate
      ->add_option("--compat", arguments.compat,
                   "reference: as the simulator of Synergy's authors, quirks included; "
                   "mechanisms fair, greedy, tune")
      ->check(CLI::IsMember({"reference"}));
  simulate->add_option("--placement", arguments.placement, "with --compat reference")
      ->check(CLI::IsMember({"first-fit", "consolidate"}))
      ->capture_default_str();
  simulate->add_option("--window", arguments.window,
                       "measure the jobs with these ids only, as 4000:5000");
  simulate->add_option("--round", arguments.round, "length of a round")->capture_default_str();
  simulate
      ->add_option("--restart-cost", arguments.restart_cost,
                   "what a job loses when it starts or moves")
      ->capture_default_str();
  simulate
      ->add_option("--spread-factor", arguments.spread_factor, "speed of a job that spans servers")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  simulate
      ->add_option("--split", arguments.split, "image:language:speech, for traces without models")
      ->capture_default_str();
  simulate->add_option("-o,--output", arguments.output, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  simulate->add_option("--jobs-csv", arguments.jobs_csv, "write every job's times to this file");
  simulate->add_option("--timeline", arguments.timeline,
                       "write what is allocated over time to this file");
  simulate->add_option("--plot", arguments.plot, "draw an SVG (needs gnuplot)");
  simulate->add_flag("-q,--quiet", arguments.quiet, "no progress on the terminal");
  return simulate;
}

Result<> RunSimulate(const SimulateArguments& arguments) {
  const auto options = CheckArguments(arguments);
  if (!options) return Fail(options.error());
  const auto facts = config::LoadModelFacts(arguments.profiles, options->server);
  if (!facts) return Fail(facts.error());
  const auto workloads = LoadWorkloads(arguments, *facts);
  if (!workloads) return Fail(workloads.error());
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) {
      return Fail(ErrorCode::kInvalid, "--save: there has to be one workload");
    }
    const auto saved = WriteFile(arguments.save, ToTraceCsv(workloads->front().jobs));
    if (!saved) return saved;
  }
  const bool show = !arguments.quiet && isatty(STDERR_FILENO) == 1;
  size_t shown = 0;
  const auto runs =
      RunAll(arguments, *options, *facts, *workloads,
             [&](const RunResult& run, size_t finished, size_t all) {
               if (!show || (finished - shown < 100 && finished != all && finished >= shown))
                 return;
               shown = finished;
               fmt::print(stderr, "\r\033[K{} {} {}: {} of {} jobs", run.workload, run.policy,
                          run.mechanism, finished, all);
             });
  if (show) fmt::print(stderr, "\r\033[K");
  if (!runs) return Fail(runs.error());
  auto written = WriteFiles(arguments, *runs);
  if (!written) return written;
  fmt::print("{}", arguments.output == "json"  ? ToJson(*runs)
                   : arguments.output == "csv" ? ToCsv(*runs)
                                               : ToTable(*runs));
  return {};
}

}  // namespace synergy::cli
