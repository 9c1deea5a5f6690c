// synergy: the command line, also installed as kubectl-synergy.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "allocation/mechanisms.h"
#include "cli/report.h"
#include "cli/simulate_options.h"
#include "cli/simulation.h"
#include "config/model_facts_file.h"
#include "core/version.h"
#include "policy/policy.h"
#include "sim/workload.h"

namespace {

using synergy::Error;
using synergy::Result;
using synergy::cli::SimulateArguments;

constexpr int kUsageError = 2;

constexpr const char* kSimulateHelp =
    R"(Runs traces of training jobs on a cluster that exists in memory only.

examples:
  synergy simulate --generate rate=9/h,jobs=2000 --profiles profiles.json --mechanism proportional,tune,synergy
  synergy simulate --trace trace.csv --profiles profiles.json --servers 4 --policy fifo,srtf --output json
  synergy simulate --trace ae.csv --profiles profiles.json --mechanism tune --compat reference --window 4000:5000
  synergy simulate --generate gpus=philly,jobs=3000 --profiles profiles.json --load 0.6,0.8,1 --mechanism burstable-spread,synergy --plot out.svg)";

void PrintVersion(const std::string& output) {
  if (output == "json") {
    fmt::print("{{\"version\":\"{}\",\"commit\":\"{}\"}}\n", synergy::Version(), synergy::Commit());
  } else {
    fmt::print("synergy {} ({})\n", synergy::Version(), synergy::Commit());
  }
}

std::string Names(std::span<const synergy::MechanismName> names) {
  std::string text;
  for (const synergy::MechanismName& name : names) {
    text += fmt::format("\n    {:<18} {}", name.name, name.meaning);
  }
  return text;
}

void AddSimulate(CLI::App& app, SimulateArguments& arguments) {
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
      ->add_option(
          "--mechanism", arguments.mechanisms,
          "who gets what, where; several for a comparison:" + Names(synergy::MechanismNames()))
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
}

Result<> Plot(const std::vector<synergy::cli::RunResult>& runs, const std::string& file) {
  // gnuplot takes the script from its standard input; the file's name is quoted for gnuplot alone.
  if (file.find_first_of("'\n") != std::string::npos) {
    return synergy::Fail(synergy::ErrorCode::kInvalid, "--plot: no quotes in the file's name");
  }
  FILE* gnuplot = popen("gnuplot", "w");
  const std::string script = synergy::cli::ToGnuplot(runs, file);
  const bool written =
      gnuplot != nullptr && std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  if (gnuplot == nullptr || pclose(gnuplot) != 0 || !written) {
    return synergy::Fail(synergy::ErrorCode::kUnavailable,
                         "--plot: gnuplot failed: is it installed?");
  }
  return {};
}

Result<> WriteFiles(const SimulateArguments& arguments,
                    const std::vector<synergy::cli::RunResult>& runs) {
  if (!arguments.jobs_csv.empty()) {
    const auto written = synergy::cli::WriteFile(arguments.jobs_csv, synergy::cli::ToJobsCsv(runs));
    if (!written) return written;
  }
  if (!arguments.timeline.empty()) {
    const auto written =
        synergy::cli::WriteFile(arguments.timeline, synergy::cli::ToTimelineCsv(runs));
    if (!written) return written;
  }
  return arguments.plot.empty() ? Result<>() : Plot(runs, arguments.plot);
}

Result<> RunSimulate(const SimulateArguments& arguments) {
  const auto options = synergy::cli::CheckArguments(arguments);
  if (!options) return synergy::Fail(options.error());
  const auto facts = synergy::config::LoadModelFacts(arguments.profiles, options->server);
  if (!facts) return synergy::Fail(facts.error());
  const auto workloads = synergy::cli::LoadWorkloads(arguments, *facts);
  if (!workloads) return synergy::Fail(workloads.error());
  if (!arguments.save.empty()) {
    if (workloads->size() != 1) {
      return synergy::Fail(synergy::ErrorCode::kInvalid, "--save: there has to be one workload");
    }
    const auto saved =
        synergy::cli::WriteFile(arguments.save, synergy::ToTraceCsv(workloads->front().jobs));
    if (!saved) return saved;
  }
  const bool show = !arguments.quiet && isatty(STDERR_FILENO) == 1;
  size_t shown = 0;
  const auto runs = synergy::cli::RunAll(
      arguments, *options, *facts, *workloads,
      [&](const synergy::cli::RunResult& run, size_t finished, size_t all) {
        if (!show || (finished - shown < 100 && finished != all && finished >= shown)) return;
        shown = finished;
        fmt::print(stderr, "\r\033[K{} {} {}: {} of {} jobs", run.workload, run.policy,
                   run.mechanism, finished, all);
      });
  if (show) fmt::print(stderr, "\r\033[K");
  if (!runs) return synergy::Fail(runs.error());
  const auto written = WriteFiles(arguments, *runs);
  if (!written) return written;
  fmt::print("{}", arguments.output == "json"  ? synergy::cli::ToJson(*runs)
                   : arguments.output == "csv" ? synergy::cli::ToCsv(*runs)
                                               : synergy::cli::ToTable(*runs));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Synergy for Kubernetes: resource-sensitive scheduling of DNN training");
  app.require_subcommand(1);
  std::string output = "text";
  CLI::App* version = app.add_subcommand("version", "Print the version and the commit");
  version->add_option("-o,--output", output, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  SimulateArguments arguments;
  AddSimulate(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  if (version->parsed()) {
    PrintVersion(output);
    return EXIT_SUCCESS;
  }
  const auto done = RunSimulate(arguments);
  if (done) return EXIT_SUCCESS;
  fmt::print(stderr, "synergy simulate: {}\n", done.error().message);
  return done.error().code == synergy::ErrorCode::kInvalid ? kUsageError : EXIT_FAILURE;
}
