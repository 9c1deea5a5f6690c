#include "controller/cluster/cluster_view.h"

#include <vector>

#include "cluster/state/cluster_snapshot.h"

namespace synergy::controller {
namespace {

// Returns the product if all GPUs that a pod may get are of one product; nullopt if there are
// several, or no GPUs.
std::optional<std::string> OnlyProduct(const ClusterSnapshot& cluster,
                                       const NodeSelection& selection) {
  std::optional<std::string> only;
  for (NodeIndex index = 0; index < cluster.size(); ++index) {
    const NodeState& node = cluster.node(index);
    if (!node.exists || node.allocatable.gpus <= Gpus(0)) continue;
    const NodeDetail& detail = *node.detail;
    if (!MayGoTo(selection, detail.name, detail.labels, detail.taints)) continue;
    const std::vector<std::string>& products = detail.gpu_kinds.products;
    if (products.size() > 1) return std::nullopt;
    std::string product = products.empty() ? std::string() : products.front();
    if (only && *only != product) return std::nullopt;
    only = std::move(product);
  }
  return only;
}

}  // namespace

MeasuredFound ClusterView::FindMeasured(const std::string& profile_namespace,
                                        const WorkloadSought& workload, Gpus gpus,
                                        int32_t gang_size, const std::string& gpu_product,
                                        const NodeSelection& selection) const {
  const auto exact = profiles_.Measured(profile_namespace, workload.exact, gpus, gang_size);
  if (auto known = OfProduct(exact, gpu_product, selection)) return {.profile = std::move(known)};
  for (const LooserIdentity identity : kLooserIdentities) {
    const auto hints =
        profiles_.Hints(profile_namespace, workload.alike.Of(identity), gpus, gang_size);
    if (auto known = OfProduct(hints, gpu_product, selection))
      return {.profile = std::move(known), .by_looser = identity};
  }
  return {};
}

std::shared_ptr<const KnownProfile> ClusterView::OfProduct(
    const std::vector<std::shared_ptr<const KnownProfile>>& measured,
    const std::string& gpu_product, const NodeSelection& selection) const {
  if (gpu_product.empty() && measured.size() == 1) return measured.front();
  if (measured.empty()) return nullptr;
  // Determined only if needed, because this visits every node.
  const std::optional<std::string> product =
      gpu_product.empty() ? OnlyProduct(*state_.Snapshot(), selection) : gpu_product;
  for (const auto& known : measured) {
    if (known->object.measured->gpu_product == product) return known;
  }
  return nullptr;
}

}  // namespace synergy::controller
