#include "cli/simulate/simulate_options.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "cli/text/amounts.h"
#include "config/text_file.h"
#include "core/rounding.h"
#include "sim/tiresias/tiresias_input.h"

namespace synergy::cli {
namespace {

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
    *known->second = ToDuration(*duration);
    parts.erase(known);
  }
  return latencies;
}

// None where no file is named, or no policy asks for it.
Result<std::optional<std::vector<double>>> ReadSizeHistory(const SimulateArguments& arguments) {
  const auto& policies = arguments.policies;
  if (arguments.size_history.empty() ||
      std::find(policies.begin(), policies.end(), "2d-gittins") == policies.end()) {
    return std::nullopt;
  }
  const auto text = config::ReadTextFile(arguments.size_history);
  if (!text) return Fail(text.error());
  const auto sizes = ParseSizeHistory(*text, arguments.size_history);
  if (!sizes) return Fail(sizes.error());
  return std::vector<double>(sizes->begin(), sizes->end());
}

}  // namespace

tl::unexpected<Error> WrongOption(std::string_view option, std::string_view why) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", option, why));
}

tl::unexpected<Error> WrongOption(std::string_view option, const Error& error) {
  return Fail(error.code, fmt::format("{}: {}", option, error.message));
}

Result<> CheckFiles(const SimulateArguments& arguments) {
  if (arguments.compat.empty() && !arguments.elastic) return {};
  const std::string_view why = arguments.elastic ? "not with --elastic" : "not with --compat";
  if (!arguments.changes.empty()) return WrongOption("--changes", why);
  if (!arguments.html.empty()) return WrongOption("--html", why);
  if (!arguments.type_profiles.empty()) return WrongOption("--type-profiles", why);
  return {};
}

Result<> CheckQueueLimits(std::span<const double> limits) {
  double last = 0;
  for (const double limit : limits) {
    if (!(limit > last) || limit > 1e15) {
      return WrongOption(
          "--queue-limits",
          fmt::format("{} does not fit: write GPU-seconds above 0 and up to 1e15, each "
                      "limit above the one before, such as 3250,7200",
                      limit));
    }
    last = limit;
  }
  if (limits.size() > 64) return WrongOption("--queue-limits", "has to be 64 limits at most");
  return {};
}

Result<std::optional<JobWindow>> WindowOf(const SimulateArguments& arguments) {
  if (arguments.window.empty()) return std::nullopt;
  const auto window = ParseJobWindow(arguments.window);
  if (!window) return WrongOption("--window", window.error());
  return *window;
}

Result<SimulateOptions> CheckArguments(const SimulateArguments& arguments) {
  SimulateOptions options;
  options.starts_from_cluster = arguments.from_cluster || !arguments.cluster.empty();
  if (!arguments.save_cluster.empty() && !arguments.from_cluster) {
    return WrongOption("--save-cluster", "only with --from-cluster");
  }
  const bool only_saves =
      !arguments.save_cluster.empty() && arguments.traces.empty() && arguments.workloads.empty();
  if (arguments.traces.empty() == arguments.workloads.empty() && !only_saves) {
    return Fail(ErrorCode::kInvalid, "give either --trace or --generate");
  }
  if (!arguments.solves.empty()) return WrongOption("--solves", "only with --compat gavel");
  if (arguments.profiles.empty() && arguments.type_profiles.empty() &&
      !options.starts_from_cluster) {
    return WrongOption("--profiles", "a file is needed");
  }
  if (!arguments.remaining.empty()) {
    if (!options.starts_from_cluster) {
      return WrongOption("--remaining", "only with --from-cluster or --cluster");
    }
    const auto remaining = ParseDuration(arguments.remaining);
    if (!remaining) return WrongOption("--remaining", remaining.error());
    options.remaining = *remaining;
  }
  if (!arguments.profiles_after.empty()) {
    if (arguments.live_profiles) return WrongOption("--profiles-after", "not with --live-profiles");
    const auto after = ParseDuration(arguments.profiles_after);
    if (!after) return WrongOption("--profiles-after", after.error());
    options.profiles_after = ToDuration(*after);
  }
  const auto memory = ParseSize(arguments.memory);
  if (!memory) return WrongOption("--memory", memory.error());
  options.server = {Gpus(arguments.gpus), Cores(arguments.cpus), *memory};
  auto types = ReadTypeSetup(arguments, options.server);
  if (!types) return Fail(types.error());
  options.types = *std::move(types);
  const auto round = ParseDuration(arguments.round);
  if (!round) return WrongOption("--round", round.error());
  if (*round < Seconds(1)) return WrongOption("--round", "has to be at least 1s");
  options.round = *round;
  const auto restart_cost = ParseDuration(arguments.restart_cost);
  if (!restart_cost) return WrongOption("--restart-cost", restart_cost.error());
  options.restart_cost = *restart_cost;
  if (!arguments.lease.empty()) {
    const auto lease = ParseDuration(arguments.lease);
    if (!lease) return WrongOption("--lease", lease.error());
    options.lease = *lease;
  }
  options.locality.rack_label = kSimulatedRackLabel;
  for (const auto& [name, text, wait] :
       {std::tuple("--node-wait", &arguments.node_wait, &options.locality.node_wait),
        std::tuple("--rack-wait", &arguments.rack_wait, &options.locality.rack_wait)}) {
    const auto parsed = ParseDuration(*text);
    if (!parsed) return WrongOption(name, parsed.error());
    *wait = ToDuration(*parsed);
  }
  const auto sizes = ReadSizeHistory(arguments);
  if (!sizes) return Fail(sizes.error());
  options.sizes = *sizes;
  const auto latencies = ParseLatencies(arguments.latency);
  if (!latencies) return WrongOption("--latency", latencies.error());
  options.latencies = *latencies;
  const auto window = WindowOf(arguments);
  if (!window) return Fail(window.error());
  options.window = *window;
  options.keeps_changes = !arguments.changes.empty() || !arguments.html.empty();
  options.reference = arguments.compat == "reference";
  if (options.reference && options.starts_from_cluster) {
    return WrongOption("--compat",
                       "the authors' simulator knows no other clusters than empty ones");
  }
  options.consolidate = arguments.placement == "consolidate";
  if (options.consolidate && !options.reference) {
    return WrongOption("--placement",
                       "only with --compat reference; our mechanisms always consolidate");
  }
  const auto arrivals = ParseReferenceArrivals(arguments.arrivals);
  if (!arrivals) return WrongOption("--arrivals", arrivals.error());
  options.arrivals = *arrivals;
  if (options.arrivals == ReferenceArrivals::kAuto) {
    if (!arguments.workloads.empty()) options.arrivals = ReferenceArrivals::kGenerated;
  } else if (!options.reference) {
    return WrongOption(
        "--arrivals",
        "only with --compat reference; our rounds always begin with the first arrival and "
        "end with the last job");
  }
  return options;
}

}  // namespace synergy::cli
