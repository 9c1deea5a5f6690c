#include "allocation/fair_share.h"

#include <algorithm>
#include <vector>

namespace synergy {
namespace {

// Fraction of what the emptiest node has left.
constexpr double kFilled = 0.5;

// The part of a node's whole share that other pods have left, in the scarcer dimension.
double PartLeft(const ResourceVector& share, const ResourceVector& whole) {
  double part = 1;
  ResourceVector::ForEachDivided([&](auto member) {
    const auto all = static_cast<double>((whole.*member).count());
    part = std::min(part, all > 0 ? static_cast<double>((share.*member).count()) / all : 0);
  });
  return part;
}

bool MayTake(const NodeState& node, const NodeSelection* selection, std::string_view gpu_product) {
  const NodeDetail& detail = *node.detail;
  if (!gpu_product.empty() && !detail.gpu_kinds.MayHave(gpu_product)) return false;
  return selection == nullptr || MayGoTo(*selection, detail.name, detail.labels, detail.taints);
}

}  // namespace

ResourceVector FairShareOf(const ResourceVector& capacity, Gpus installed, Gpus gpus) {
  if (installed <= Gpus(0)) return {};
  ResourceVector share = PartOf(LargerOf(capacity, {}), std::min(gpus, installed), installed);
  share.gpus = gpus;
  return share;
}

Gpus InstalledGpus(const NodeState& node) {
  return std::max(node.allocatable.gpus, node.detail->gpu_kinds.installed);
}

ResourceVector FairShare(const NodeState& node, Gpus gpus, const ResourceVector& headroom) {
  return FairShareOf(node.allocatable - node.of_others - headroom,
                     InstalledGpus(node) - node.of_others.gpus, gpus);
}

std::optional<ResourceVector> LeastFairShare(const ClusterSnapshot& snapshot,
                                             const NodeSelection* selection, Gpus gpus,
                                             std::string_view gpu_product,
                                             const ResourceVector& headroom) {
  struct Candidate {
    ResourceVector share;
    double part_left = 0;
  };
  std::vector<Candidate> candidates;
  double emptiest = 0;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.Schedulable() || InstalledGpus(node) - node.of_others.gpus < gpus) continue;
    const ResourceVector share = FairShare(node, gpus, headroom);
    const double left =
        PartLeft(share, FairShareOf(node.allocatable - headroom, InstalledGpus(node), gpus));
    if (left <= 0 || !MayTake(node, selection, gpu_product)) continue;
    emptiest = std::max(emptiest, left);
    candidates.push_back({share, left});
  }
  std::optional<ResourceVector> least;
  for (const auto& [share, part_left] : candidates) {
    if (part_left >= kFilled * emptiest) least = least ? LesserOf(*least, share) : share;
  }
  return least;
}

}  // namespace synergy
