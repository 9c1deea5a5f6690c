#include "research/lab/lab_command.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/simulate/option_groups.h"
#include "gavel/policies/policies.h"
#include "policy/policy.h"
#include "research/baseline/mechanisms.h"
#include "research/lab/lab_runs.h"
#include "research/optimus/elastic_simulator.h"

namespace synergy::cli {
namespace {

constexpr const char* kReferenceHelp =
    R"(Runs a trace as the simulator of Synergy's authors does, quirks included: mechanisms fair, greedy, tune.

example:
  synergy-lab reference --trace ae.csv --profiles profiles.json --mechanism tune --window 4000:5000)";

constexpr const char* kTiresiasHelp =
    R"(Runs a trace of the simulator of Tiresias' authors as that does.

example:
  synergy-lab tiresias --trace 60_job.csv --cluster n2g4 --schedule dlas-gpu-2,fifo --jobs-csv jobs.csv)";

constexpr const char* kGavelHelp =
    R"(Runs a trace of the simulator of Gavel's authors, or what --generate makes as they do, as that does.

examples:
  synergy-lab gavel --trace jobs.trace --types v100=12,p100=12,k80=12 --policy fifo_perf,max_min_fairness_perf
  synergy-lab gavel solve --policy max_min_fairness_perf --input jobs.json)";

constexpr const char* kRoundsHelp =
    R"(Runs traces of training jobs in rounds, by the papers' mechanisms and policies; beside them, by events, the product.

examples:
  synergy-lab rounds --generate rate=9/h,jobs=2000 --profiles profiles.json --mechanism proportional,tune,synergy
  synergy-lab rounds --trace trace.csv --profiles profiles.json --servers 4 --policy fifo,srtf --mechanism tune,synergy-rounds --output json
  synergy-lab rounds --generate rate=15/h,jobs=2000 --profiles profiles.json --types v100=64,p100=64,k80=64 --policy gavel-las,gavel-las-agnostic --mechanism proportional,synergy-rounds
  synergy-lab rounds --generate gpus=philly,rate=10/h,jobs=500 --elastic --types v100=64 --round 10m --policy optimus,srtf,equal
  synergy-lab rounds --trace trace.csv --profiles profiles.json --mechanism proportional,synergy --html page.html)";

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
  text += "\n  with --types; each also with -agnostic, for which all types are as one:";
  for (const TypePolicyName& policy : TypePolicyNames()) {
    text += fmt::format("\n    {:<21} {}", policy.name, policy.meaning);
  }
  text += "\n  with --elastic:";
  for (const ElasticPolicyName& policy : ElasticPolicyNames()) {
    text += fmt::format("\n    {:<21} {}", policy.name, policy.meaning);
  }
  return text;
}

// Adds options of Tiresias' orders, and of its authors' simulator.
void AddQueueOptions(CLI::App& command, LabArguments& arguments) {
  command
      .add_option("--schedule", arguments.schedules,
                  "dlas-gpu, dlas-gpu-N (promote knob N), dlas-gpu-gittins, fifo, shortest, "
                  "shortest-gpu, sjf; several for a comparison")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--scheme", arguments.scheme,
                  "count (GPUs are counted) or yarn (one switch, whole nodes); the dlas schedules "
                  "always count")
      ->check(CLI::IsMember({"count", "yarn"}))
      ->capture_default_str();
  command
      .add_option(
          "--queue-limits", arguments.queue_limits,
          "of 2d-las, 2d-gittins and the dlas schedules: the GPU-seconds at which a job goes "
          "from one queue to the next, ascending")
      ->delimiter(',')
      ->capture_default_str();
  command
      .add_option("--promote", arguments.promote,
                  "of 2d-las and 2d-gittins: a job that has waited this many times as long as it "
                  "has run goes back to the first queue; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      .add_option("--lease", arguments.lease,
                  "how long a job that was given GPUs keeps them before it has to be chosen "
                  "again; then it goes on in its place or makes room (a round)")
      ->expected(0, 1);
  command.add_option("--size-history", arguments.size_history,
                     "of 2d-gittins and dlas-gpu-gittins: CSV with the column duration, the sizes "
                     "of past jobs in GPU-seconds (2d-gittins without it: the trace's own jobs)");
}

// Adds options of GPU types.
void AddTypeOptions(CLI::App& command, LabArguments& arguments) {
  command
      .add_option("--types", arguments.types,
                  "the GPU types and how many GPUs there are of each, as v100=32,p100=32,k80=32: "
                  "for the gavel policies in rounds in whole servers with --gpus each; for "
                  "synergy-lab gavel one GPU a server; with --elastic one type")
      ->delimiter(',')
      ->excludes("--servers");
  command.add_option("--prices", arguments.prices, "dollars per GPU and hour, of policies by cost")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--throughputs", arguments.throughputs,
                     "CSV with model, gpus and a column of iterations per second for each type "
                     "(what Gavel's authors measured)");
  command.add_option("--type-profiles", arguments.type_profiles,
                     "of the gavel policies: profiles with gpuProduct, YAML or JSON, which go "
                     "before those of --profiles");
  command.add_option("--solves", arguments.solves,
                     "write what the policy was asked and answered to this file, as synergy-lab "
                     "gavel solve reads it");
}

void AddReferenceOptions(CLI::App& command, LabArguments& arguments) {
  command.add_option("--placement", arguments.placement, "where jobs go")
      ->check(CLI::IsMember({"first-fit", "consolidate"}))
      ->capture_default_str();
  command
      .add_option(
          "--arrivals", arguments.arrivals,
          "where rounds begin and the run ends:"
          "\n    generated          at 0; when all jobs have finished"
          "\n    replay             at the first whole round at or after the first arrival; at the"
          "\n                       first moment without a job, whatever arrives later"
          "\n    static             at 1 s; as replay"
          "\n    auto               generated for --generate; a trace is taken for static where all"
          "\n                       arrive in the first round, for generated where --window leaves"
          "\n                       out its end, and else for replay")
      ->check(CLI::IsMember({"auto", "static", "replay", "generated"}))
      ->capture_default_str();
}

// Every command accepts all options and ignores those that do not apply to it; help shows these.
constexpr std::string_view kReferenceOptions[] = {
    "--help",      "--trace",    "--generate", "--save",      "--split",  "--load",   "--window",
    "--servers",   "--profiles", "--gpus",     "--cpus",      "--memory", "--policy", "--round",
    "--mechanism", "--output",   "--jobs-csv", "--placement", "--plot",   "--quiet",  "--arrivals"};
constexpr std::string_view kTiresiasOptions[] = {
    "--help",   "--trace",    "--window", "--cluster", "--schedule",     "--scheme",
    "--output", "--jobs-csv", "--plot",   "--quiet",   "--queue-limits", "--size-history"};
constexpr std::string_view kGavelOptions[] = {
    "--help",   "--trace",  "--generate", "--save", "--window", "--types",       "--prices",
    "--policy", "--output", "--jobs-csv", "--plot", "--quiet",  "--throughputs", "--solves"};
constexpr std::string_view kNotOfRounds[] = {"--schedule", "--scheme", "--placement", "--arrivals",
                                             "--solves"};

bool IsAmong(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void ShowOnly(CLI::App& command, std::span<const std::string_view> names) {
  for (CLI::Option* option : command.get_options()) {
    if (!IsAmong(names, option->get_name())) option->group("");
  }
}

void AddOptions(CLI::App& command, LabArguments& arguments) {
  AddSimulateOptions(command, arguments);
  command.get_option("--round")->description("length of a round, the tuner's included");
  command.get_option("--policy")
      ->description("who goes first; several for a comparison:" + Policies())
      ->group("Scheduling");
  command.get_option("--mechanism")
      ->description("who gets what, where; several for a comparison; by events, policy fifo only:" +
                    Names(ProductMechanisms()) + "\n  in rounds:" + Names(MechanismNames()));
  command.option_defaults()->group("Research");
  AddQueueOptions(command, arguments);
  AddTypeOptions(command, arguments);
  AddReferenceOptions(command, arguments);
  switch (arguments.kind) {
    case LabKind::kReference:
      command.get_option("--policy")->description("fifo, srtf, las, ftf; several for a comparison");
      command.get_option("--mechanism")
          ->description("fair, greedy, tune; several for a comparison");
      ShowOnly(command, kReferenceOptions);
      break;
    case LabKind::kTiresias:
      command.get_option("--trace")->description("CSV with job_id, num_gpu, submit_time, duration");
      command.get_option("--cluster")
          ->description("nXgY: X nodes of Y GPUs")
          ->option_text("TEXT")
          ->group("Research");
      ShowOnly(command, kTiresiasOptions);
      break;
    case LabKind::kGavel:
      command.get_option("--trace")->description("a trace of Gavel's authors");
      command.get_option("--policy")->description("as synergy-lab gavel solve has them");
      command.get_option("--types")
          ->description("the GPU types and how many GPUs there are of each, as v100=12,p100=12")
          ->option_text("TEXT ...");
      ShowOnly(command, kGavelOptions);
      break;
    case LabKind::kRounds:
      command.add_flag("--elastic", arguments.elastic,
                       "jobs run with more or fewer workers, each a GPU of the one type of "
                       "--types; traces as of synergy-lab gavel, or made");
      for (const std::string_view name : kNotOfRounds) {
        command.get_option(std::string(name))->group("");
      }
      break;
  }
}

Result<> RunLab(const LabArguments& arguments) {
  auto limits = CheckQueueLimits(arguments.queue_limits);
  if (!limits) return limits;
  auto files = CheckFiles(arguments);
  if (!files) return files;
  const auto run = [&](const TellProgress& tell) {
    return arguments.kind == LabKind::kTiresias ? RunAllTiresias(arguments)
           : arguments.kind == LabKind::kGavel  ? RunAllGavel(arguments, tell)
                                                : RunAllElastic(arguments, tell);
  };
  if (arguments.kind == LabKind::kTiresias || arguments.kind == LabKind::kGavel ||
      arguments.elastic) {
    return RunAndReport(arguments, run);
  }
  auto options = CheckLabArguments(arguments);
  if (!options) return Fail(options.error());
  return RunAndReport(arguments, *options,
                      arguments.kind == LabKind::kReference ? ReferenceRuns(arguments, *options)
                                                            : OurRounds(arguments, *options));
}

}  // namespace

LabCommands::LabCommands(CLI::App& app) {
  struct Kind {
    LabKind kind;
    const char* name;
    const char* help;
  };
  constexpr std::array<Kind, 4> kKinds = {{{LabKind::kReference, "reference", kReferenceHelp},
                                           {LabKind::kTiresias, "tiresias", kTiresiasHelp},
                                           {LabKind::kGavel, "gavel", kGavelHelp},
                                           {LabKind::kRounds, "rounds", kRoundsHelp}}};
  for (size_t at = 0; at < kKinds.size(); ++at) {
    const auto& [kind, name, help] = kKinds.at(at);
    Command& command = commands_.at(at);
    command.app = app.add_subcommand(name, help);
    command.arguments.kind = kind;
    AddOptions(*command.app, command.arguments);
    if (kind == LabKind::kGavel) solve_ = AddGavelSolve(*command.app, gavel_);
  }
}

const LabCommands::Command& LabCommands::Parsed() const {
  return *std::find_if(commands_.begin(), commands_.end(),
                       [](const Command& command) { return command.app->parsed(); });
}

std::string LabCommands::Name() const { return Parsed().app->get_name(); }

Result<> LabCommands::Run() const {
  return solve_->parsed() ? RunGavelSolve(gavel_) : RunLab(Parsed().arguments);
}

}  // namespace synergy::cli
