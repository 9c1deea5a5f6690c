#include "cli/commands/simulate_command.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cluster/cluster_connection.h"
#include "cli/commands/moved_commands.h"
#include "cli/commands/reported_runs.h"
#include "cli/simulate/history/cluster_history.h"
#include "cli/simulate/option_groups.h"
#include "cli/simulate/plan/plan_run.h"
#include "cli/simulate/product_options.h"
#include "cli/simulate/simulation.h"
#include "cli/text/amounts.h"
#include "core/clock.h"

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
  synergy simulate --plan --from-cluster --since 7d
  synergy simulate --from-cluster --save-cluster cluster.json --trace tomorrow.csv --remaining 2h)";

// Rejects research mechanisms, which only synergy-lab has.
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

// Replaces --from-cluster --since with the trace and the servers that they represent.
Result<> UseHistory(SimulateArguments& arguments) {
  const auto since = ParseDuration(arguments.since);
  if (!since) return WrongOption("--since", since.error());
  if (!arguments.traces.empty() || !arguments.workloads.empty())
    return WrongOption("--since", "is a trace itself: leave out --trace and --generate");
  if (!arguments.save_cluster.empty() || !arguments.remaining.empty()) {
    return WrongOption("--since",
                       "the servers are empty at the start: leave out --save-cluster and "
                       "--remaining");
  }
  const auto connection = Connect(arguments.access);
  if (!connection) return Fail(connection.error());
  const Seconds now(SystemClock().WallNow().time_since_epoch());
  auto history = ReadHistory(*connection->client, connection->reader, {now, *since});
  if (!history) return Fail(history.error());
  for (const std::string& note : history->notes) fmt::print(stderr, "Note: {}\n", note);
  const ResourceVector& server = history->server;
  arguments.servers = history->servers;
  arguments.gpus = server.gpus.count();
  arguments.cpus = std::max<int64_t>(1, server.cpu.count() / 1000);
  arguments.memory = fmt::format("{}Ki", server.memory.count() / 1024);
  arguments.history = std::move(history->trace);
  arguments.from_cluster = false;
  return {};
}

}  // namespace

CLI::App* AddSimulate(CLI::App& app, SimulateArguments& arguments) {
  CLI::App* simulate = app.add_subcommand("simulate", kSimulateHelp);
  AddMovedOptions(*simulate);
  AddSimulateOptions(*simulate, arguments);
  AddProductOptions(*simulate, arguments);
  RejectEmptyValues(*simulate);
  return simulate;
}

Result<> RunSimulate(const SimulateArguments& written) {
  if (auto known = CheckMechanisms(written); !known) return known;
  SimulateArguments arguments = written;
  if (!arguments.since.empty()) {
    if (auto used = UseHistory(arguments); !used) return used;
  }
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
