#include "cli/simulate_options.h"

#include <algorithm>
#include <map>
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

// "schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s", each part at most once.
Result<Latencies> ParseLatencies(const std::string& text) {
  Latencies latencies;
  std::map<std::string_view, Duration*> parts = {{"schedule", &latencies.schedule},
                                                 {"bind", &latencies.bind},
                                                 {"tune", &latencies.tune},
                                                 {"start", &latencies.start},
                                                 {"resize", &latencies.resize}};
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    const size_t equals = std::min(part.find('='), part.size());
    const auto known = parts.find(part.substr(0, equals));
    if (known == parts.end() || equals == part.size()) {
      return Fail(
          ErrorCode::kInvalid,
          fmt::format(
              "\"{}\": write schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s, or some of "
              "these, each once",
              part));
    }
    const auto duration = ParseDuration(part.substr(equals + 1));
    if (!duration) return Fail(duration.error());
    *known->second = std::chrono::duration_cast<Duration>(*duration);
    parts.erase(known);
  }
  return latencies;
}

}  // namespace

Result<SimulateOptions> CheckArguments(const SimulateArguments& arguments) {
  SimulateOptions options;
  options.starts_from_cluster = arguments.from_cluster || !arguments.cluster.empty();
  if (!arguments.save_cluster.empty() && !arguments.from_cluster) {
    return Wrong("--save-cluster", "only with --from-cluster");
  }
  const bool only_saves =
      !arguments.save_cluster.empty() && arguments.traces.empty() && arguments.workloads.empty();
  if (arguments.traces.empty() == arguments.workloads.empty() && !only_saves) {
    return Fail(ErrorCode::kInvalid, "give either --trace or --generate");
  }
  if (arguments.profiles.empty() && !options.starts_from_cluster) {
    return Wrong("--profiles", "a file is needed");
  }
  if (!arguments.remaining.empty()) {
    if (!options.starts_from_cluster) {
      return Wrong("--remaining", "only with --from-cluster or --cluster");
    }
    const auto remaining = ParseDuration(arguments.remaining);
    if (!remaining) return Wrong("--remaining", remaining.error());
    options.remaining = *remaining;
  }
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
  const auto latencies = ParseLatencies(arguments.latency);
  if (!latencies) return Wrong("--latency", latencies.error());
  options.latencies = *latencies;
  if (!arguments.window.empty()) {
    const auto window = ParseJobWindow(arguments.window);
    if (!window) return Wrong("--window", window.error());
    options.window = *window;
  }
  options.reference = arguments.compat == "reference";
  if (options.reference && options.starts_from_cluster) {
    return Wrong("--compat", "the authors' simulator knows no other clusters than empty ones");
  }
  options.consolidate = arguments.placement == "consolidate";
  if (options.consolidate && !options.reference) {
    return Wrong("--placement", "only with --compat reference; our mechanisms always consolidate");
  }
  const auto arrivals = ParseReferenceArrivals(arguments.arrivals);
  if (!arrivals) return Wrong("--arrivals", arrivals.error());
  options.arrivals = *arrivals;
  if (options.arrivals == ReferenceArrivals::kAuto) {
    if (!arguments.workloads.empty()) options.arrivals = ReferenceArrivals::kGenerated;
  } else if (!options.reference) {
    return Wrong("--arrivals",
                 "only with --compat reference; our rounds always begin with the first arrival and "
                 "end with the last job");
  }
  return options;
}

}  // namespace synergy::cli
