#include "research/lab/gpu_types.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "config/profile_file.h"
#include "gavel/type_policies.h"
#include "research/lab/gavel_workloads.h"
#include "research/lab/lab_options.h"

namespace synergy::cli {
namespace {

Result<TypedServers> ServersOf(GpuTypes types, const ResourceVector& server) {
  TypedServers servers{
      .types = std::move(types.names), .counts = {}, .server = server, .costs = types.costs};
  for (size_t type = 0; type < servers.types.size(); ++type) {
    const auto gpus = static_cast<int64_t>(types.gpus[type]);
    if (gpus % server.gpus.count() != 0) {
      return WrongOption("--types",
                         fmt::format("{}={} is not a whole number of servers with {} GPUs: set "
                                     "--gpus, which applies to all servers, or another number",
                                     servers.types[type], gpus, server.gpus.count()));
    }
    servers.counts.push_back(static_cast<size_t>(gpus / server.gpus.count()));
  }
  return servers;
}

Result<> CheckTypePolicies(const LabArguments& arguments) {
  for (const std::string& name : arguments.policies) {
    const auto policy = ParseTypePolicy(name);
    if (!policy) return WrongOption("--policy", "with --types: " + policy.error().message);
  }
  if (arguments.kind == LabKind::kReference) {
    return WrongOption("--types", "not of synergy-lab reference");
  }
  if (arguments.from_cluster || !arguments.cluster.empty()) {
    return WrongOption("--types", "not with --from-cluster or --cluster, whose servers are known");
  }
  if (!arguments.lease.empty()) {
    return WrongOption("--lease", "not with --types: each round decides on all GPUs");
  }
  return {};
}

}  // namespace

Result<GpuTypes> ReadGpuTypes(const LabArguments& arguments, const GavelThroughputs& throughputs) {
  const auto gpus = ParseByType("--types", arguments.types, "v100=12,p100=12,k80=12");
  if (!gpus) return Fail(gpus.error());
  const auto prices = ParseByType("--prices", arguments.prices, "v100=0.74,p100=0.43");
  if (!prices) return Fail(prices.error());
  std::vector<std::string> names;
  for (const auto& [type, count] : *gpus) {
    if (count != std::floor(count))
      return WrongOption("--types", fmt::format("{}: whole GPUs", type));
    names.push_back(type);
  }
  auto sorted = throughputs.FastestFirst(std::move(names));
  if (!sorted) return WrongOption("--types", sorted.error().message);
  GpuTypes types{.names = *std::move(sorted), .gpus = {}, .costs = {}};
  for (const std::string& type : types.names) {
    types.gpus.push_back(gpus->at(type));
    if (prices->count(type) > 0) types.costs.push_back(prices->at(type));
  }
  // Prices are useful only if every type has one.
  if (types.costs.size() != types.names.size()) types.costs.clear();
  return types;
}

Result<std::optional<TypeSetup>> ReadTypeSetup(const LabArguments& arguments,
                                               const ResourceVector& server) {
  if (arguments.types.empty()) {
    for (const std::string& policy : arguments.policies) {
      if (!IsTypePolicy(policy)) continue;
      return WrongOption(
          "--types",
          fmt::format(
              "{} needs GPU types: set them and their numbers of GPUs, as v100=32,p100=32,k80=32",
              policy));
    }
    constexpr std::string_view kWhere = "only with --types";
    if (!arguments.throughputs.empty()) return WrongOption("--throughputs", kWhere);
    if (!arguments.type_profiles.empty()) return WrongOption("--type-profiles", kWhere);
    return std::nullopt;
  }
  const auto checked = CheckTypePolicies(arguments);
  if (!checked) return Fail(checked.error());
  auto throughputs = LoadThroughputs(arguments.throughputs);
  if (!throughputs) return Fail(throughputs.error());
  auto types = ReadGpuTypes(arguments, *throughputs);
  if (!types) return Fail(types.error());
  const bool by_cost =
      std::any_of(arguments.policies.begin(), arguments.policies.end(),
                  [](const std::string& name) { return ParseTypePolicy(name)->by_cost; });
  if (by_cost && types->costs.empty()) {
    return WrongOption("--prices", "gavel-cost needs a price for each of --types, as v100=0.74");
  }
  TypeProfiles profiles(types->names, *std::move(throughputs));
  if (!arguments.type_profiles.empty()) {
    auto file = config::LoadProfiles(arguments.type_profiles);
    if (!file) return Fail(file.error());
    for (auto& [training, profile] : file->entries) {
      profiles.Add(training.model, training.gpu_product, std::move(profile));
    }
  }
  auto servers = ServersOf(*std::move(types), server);
  if (!servers) return Fail(servers.error());
  return TypeSetup{*std::move(servers), std::move(profiles)};
}

}  // namespace synergy::cli
