#include "cli/simulate_options.h"

#include <string_view>

#include <fmt/format.h>

#include "cli/amounts.h"

namespace synergy::cli {
namespace {

tl::unexpected<Error> Wrong(std::string_view option, const Error& error) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", option, error.message));
}

tl::unexpected<Error> Wrong(std::string_view option, std::string_view why) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", option, why));
}

}  // namespace

Result<SimulateOptions> CheckArguments(const SimulateArguments& arguments) {
  SimulateOptions options;
  if (arguments.traces.empty() == arguments.workloads.empty()) {
    return Fail(ErrorCode::kInvalid, "give either --trace or --generate");
  }
  if (arguments.profiles.empty()) return Wrong("--profiles", "a file is needed");
  const auto memory = ParseSize(arguments.memory);
  if (!memory) return Wrong("--memory", memory.error());
  options.server = {Gpus(arguments.gpus), Cores(arguments.cpus), *memory};
  const auto round = ParseDuration(arguments.round);
  if (!round) return Wrong("--round", round.error());
  if (*round < Seconds(1)) return Wrong("--round", "has to be at least 1s");
  options.round = *round;
  const auto restart_cost = ParseDuration(arguments.restart_cost);
  if (!restart_cost) return Wrong("--restart-cost", restart_cost.error());
  options.restart_cost = *restart_cost;
  if (!arguments.window.empty()) {
    const auto window = ParseJobWindow(arguments.window);
    if (!window) return Wrong("--window", window.error());
    options.window = *window;
  }
  options.reference = arguments.compat == "reference";
  options.consolidate = arguments.placement == "consolidate";
  if (options.consolidate && !options.reference) {
    return Wrong("--placement", "only with --compat reference; our mechanisms always consolidate");
  }
  return options;
}

}  // namespace synergy::cli
