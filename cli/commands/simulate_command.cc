#include "cli/commands/simulate_command.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/moved_commands.h"
#include "cli/commands/reported_runs.h"
#include "cli/simulate/option_groups.h"
#include "cli/simulate/plan/plan_run.h"
#include "cli/simulate/product_options.h"
#include "cli/simulate/simulation.h"

namespace synergy::cli {
namespace {

constexpr const char* kSimulateHelp =
    R"(Run traces of training jobs on a simulated cluster, by the product's own decisions.

examples:
  synergy simulate --generate rate=9/h,jobs=2000 --profiles profiles.json --mechanism synergy,synergy-strict
  synergy simulate --trace trace.csv --profiles profiles.json --servers 4 --output json
  synergy simulate --generate gpus=philly,jobs=3000 --profiles profiles.json --load 0.6,0.8,1 --plot out.svg
  synergy simulate --trace trace.csv --profiles profiles.json --mechanism synergy,synergy-strict --html page.html
  synergy simulate --plan --trace sacct.txt --servers 32 --cpus 96 --memory 1Ti --price 2.5
  synergy simulate --from-cluster --save-cluster cluster.json --trace tomorrow.csv --remaining 2h)";

// Other mechanisms are research, which synergy-lab has.
Result<> CheckMechanisms(const SimulateArguments& arguments) {
  ProductOptions product;
  std::vector<std::string_view> names;
  for (const MechanismName& name : ProductMechanisms()) names.push_back(name.name);
  for (const MechanismName& name : BaselineMechanisms()) names.push_back(name.name);
  std::vector<std::string> mechanisms = arguments.mechanisms;
  mechanisms.push_back(arguments.baseline);
  for (const std::string& mechanism : mechanisms) {
    if (SetMechanism(mechanism, product)) continue;
    return WrongOption("--mechanism", fmt::format("no mechanism '{}': one of {}; the papers' "
                                                  "mechanisms in rounds: synergy-lab rounds",
                                                  mechanism, fmt::join(names, ", ")));
  }
  return {};
}

}  // namespace

CLI::App* AddSimulate(CLI::App& app, SimulateArguments& arguments) {
  CLI::App* simulate = app.add_subcommand("simulate", kSimulateHelp);
  AddMovedOptions(*simulate);
  AddSimulateOptions(*simulate, arguments);
  AddProductOptions(*simulate, arguments);
  return simulate;
}

Result<> RunSimulate(const SimulateArguments& arguments) {
  if (auto known = CheckMechanisms(arguments); !known) return known;
  auto options = CheckArguments(arguments);
  if (!options) return Fail(options.error());
  if (auto checked = CheckProductArguments(arguments, *options); !checked) return checked;
  if (arguments.plan) return RunPlan(arguments, *options);
  const Simulator product{
      .most_gpus = {},
      .start = [&](const PresentCluster* cluster) { return StartOf(arguments, *options, cluster); },
      .run =
          [&](const ModelFacts& facts, const PresentCluster* cluster,
              const std::vector<TraceWorkload>& workloads, const ReportProgress& report) {
            return RunAll(arguments, *options, facts, cluster, workloads, report);
          }};
  return RunAndReport(arguments, *options, product);
}

}  // namespace synergy::cli
