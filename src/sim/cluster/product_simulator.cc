#include "sim/cluster/product_simulator.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "sim/cluster/product/product_checks.h"
#include "sim/cluster/product/product_simulation.h"

namespace synergy {
namespace {

constexpr std::array<MechanismName, 2> kMechanisms = {
    {{"synergy", "the product, event by event, shared CPU: idle CPU goes to other jobs"},
     {"synergy-strict", "the product, event by event, CPU limits = allocations"}}};
constexpr std::array<MechanismName, 3> kBaselines = {
    {{"proportional", "requests in proportion to GPUs, CPU limits = requests, fullest node first"},
     {"burstable-spread", "requests in proportion, no CPU limits, emptiest node first"},
     {"burstable-packed", "requests in proportion, no CPU limits, fullest node first"}}};

struct Mechanism {
  Enforcement enforcement = Enforcement::kShared;
  std::optional<NodeOrder> baseline;
};
// The two lists, one after the other.
constexpr std::array<Mechanism, kMechanisms.size() + kBaselines.size()> kHow = {
    {{Enforcement::kShared, std::nullopt},
     {Enforcement::kStrict, std::nullopt},
     {Enforcement::kStrict, NodeOrder::kMostAllocated},
     {Enforcement::kShared, NodeOrder::kLeastAllocated},
     {Enforcement::kShared, NodeOrder::kMostAllocated}}};

}  // namespace

StartingCluster ClusterOf(size_t servers, const ResourceVector& server, size_t per_rack) {
  StartingCluster cluster;
  for (size_t number = 1; number <= servers; ++number) {
    Node node;
    node.name = ServerName(number - 1);
    if (per_rack > 0) {
      node.labels = {
          {std::string(kSimulatedRackLabel), fmt::format("rack-{}", (number - 1) / per_rack + 1)}};
    }
    node.allocatable.main = server;
    node.gpu_kinds.installed = server.gpus;
    node.pods_allowed = std::max<int64_t>(110, server.gpus.count());
    cluster.nodes.push_back(std::move(node));
  }
  return cluster;
}

void SetProduct(std::string_view product, std::span<Node> nodes) {
  for (Node& node : nodes) {
    const auto label =
        std::lower_bound(node.labels.begin(), node.labels.end(), kGpuProductLabel,
                         [](const auto& entry, std::string_view key) { return entry.first < key; });
    node.labels.emplace(label, kGpuProductLabel, product);
    node.gpu_kinds.products = {std::string(product)};
  }
}

std::span<const MechanismName> ProductMechanisms() { return kMechanisms; }

std::span<const MechanismName> BaselineMechanisms() { return kBaselines; }

bool SetMechanism(std::string_view name, ProductOptions& options) {
  size_t index = 0;
  for (const auto& names : {ProductMechanisms(), BaselineMechanisms()}) {
    for (const MechanismName& known : names) {
      const Mechanism& how = kHow[index++];
      if (known.name != name) continue;
      options.enforcement = how.enforcement;
      options.baseline = how.baseline;
      return true;
    }
  }
  return false;
}

Result<SimulationRun> SimulateProduct(const StartingCluster& cluster,
                                      std::span<const ProductJob> jobs,
                                      const ModelProfiles& profiles, const ProductOptions& options,
                                      const Progress& progress, ProductObserver* observer) {
  if (auto possible = CheckSimulation(cluster, jobs, options); !possible)
    return Fail(possible.error());
  return ProductSimulation(cluster, jobs, profiles, options, progress, observer).Run();
}

}  // namespace synergy
