#include "cli/simulate/simulate_options.h"

#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "cli/simulate/settings.h"
#include "cli/text/amounts.h"
#include "core/rounding.h"

namespace synergy::cli {
namespace {

Result<Latencies> ParseLatencies(const std::string& text) {
  Latencies latencies;
  const auto read = ReadSettings(text, '=', "schedule=10ms,bind=50ms,tune=60ms,start=1s,resize=1s",
                                 {{"schedule", ReadDuration(latencies.schedule)},
                                  {"bind", ReadDuration(latencies.bind)},
                                  {"tune", ReadDuration(latencies.tune)},
                                  {"start", ReadDuration(latencies.start)},
                                  {"resize", ReadDuration(latencies.resize)}});
  if (!read) return Fail(read.error());
  return latencies;
}

// Reads a server's shape; `otherwise` supplies the amounts that the text omits.
Result<ResourceVector> ParseShape(const std::string& text, const ResourceVector& otherwise) {
  double gpus = static_cast<double>(otherwise.gpus.count());
  double cpus = static_cast<double>(otherwise.cpu.count()) / 1e3;
  Bytes memory = otherwise.memory;
  const auto read = ReadSettings(text, '=', "gpus=8,cpus=96,memory=1Ti",
                                 {{"gpus", ReadNumber(gpus, 1, 1024)},
                                  {"cpus", ReadNumber(cpus, 1, 65536)},
                                  {"memory", [&memory](std::string_view size) -> Result<> {
                                     const auto bytes = ParseSize(size);
                                     if (!bytes) return Fail(bytes.error());
                                     memory = *bytes;
                                     return {};
                                   }}});
  if (!read) return Fail(read.error());
  return ResourceVector{Gpus(static_cast<int64_t>(gpus)), MilliCpu(ToNearest(cpus * 1e3)), memory};
}

}  // namespace

tl::unexpected<Error> WrongOption(std::string_view option, std::string_view why) {
  return Fail(ErrorCode::kInvalid, fmt::format("{}: {}", option, why));
}

tl::unexpected<Error> WrongOption(std::string_view option, const Error& error) {
  return Fail(error.code, fmt::format("{}: {}", option, error.message));
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
  const int sources = static_cast<int>(!arguments.traces.empty()) +
                      static_cast<int>(!arguments.workloads.empty()) +
                      static_cast<int>(arguments.history.has_value());
  const bool only_saves = !arguments.save_cluster.empty() && sources == 0;
  if (!arguments.traces.empty() && !arguments.workloads.empty())
    return WrongOption("--generate", "not with --trace: set one of the two, not both");
  if (sources != 1 && !only_saves)
    return Fail(ErrorCode::kInvalid, "set --trace or --generate, or --from-cluster --since");
  if (options.starts_from_cluster && !arguments.history && arguments.rack_servers != 0)
    return WrongOption("--rack-servers", "not with the nodes of a cluster, whose racks are known");
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
  if (!arguments.recorded.empty()) {
    auto recorded = ParseShape(arguments.recorded, options.server);
    if (!recorded) return WrongOption("--recorded", recorded.error());
    options.recorded = *recorded;
  }
  const auto round = ParseDuration(arguments.round);
  if (!round) return WrongOption("--round", round.error());
  if (*round < Seconds(1)) return WrongOption("--round", "must be at least 1s");
  options.round = *round;
  const auto restart_cost = ParseDuration(arguments.restart_cost);
  if (!restart_cost) return WrongOption("--restart-cost", restart_cost.error());
  options.restart_cost = *restart_cost;
  options.locality.rack_label = kSimulatedRackLabel;
  for (const auto& [name, text, wait] :
       {std::tuple("--node-wait", &arguments.node_wait, &options.locality.node_wait),
        std::tuple("--rack-wait", &arguments.rack_wait, &options.locality.rack_wait)}) {
    const auto parsed = ParseDuration(*text);
    if (!parsed) return WrongOption(name, parsed.error());
    *wait = ToDuration(*parsed);
  }
  const auto latencies = ParseLatencies(arguments.latency);
  if (!latencies) return WrongOption("--latency", latencies.error());
  options.latencies = *latencies;
  const auto window = WindowOf(arguments);
  if (!window) return Fail(window.error());
  options.window = *window;
  options.keeps_changes = !arguments.changes.empty() || !arguments.html.empty();
  return options;
}

}  // namespace synergy::cli
