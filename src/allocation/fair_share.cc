#include "allocation/fair_share.h"

#include <algorithm>
#include <vector>

namespace synergy {
namespace {

// A node counts as filled if its remaining fraction is less than this multiple of the emptiest
// node's.
constexpr double kFilled = 0.5;

// Returns the fraction of a node's whole share that other pods have left, in the scarcer dimension.
double PartLeft(const ResourceVector& share, const ResourceVector& whole) {
  double part = 1;
  ResourceVector::ForEachDivided([&](auto member) {
    const auto all = static_cast<double>((whole.*member).count());
    part = std::min(part, all > 0 ? static_cast<double>((share.*member).count()) / all : 0);
  });
  return part;
}

// Counts a node's GPUs in equal parts, so that shares are exact: slices if the node offers any,
// otherwise whole GPUs.
class GpuParts {
 public:
  explicit GpuParts(const NodeState& node)
      : all_(InstalledGpus(node), node.detail->gpu_kinds.slices), of_others_(node.of_others.gpus) {
    if (all_.slices <= Slices(0)) return;
    per_gpu_ = std::max<int64_t>(node.detail->gpu_kinds.slices_per_gpu, 1);
    of_others_.slices = SlicesOfOthers(node);
  }

  Gpus In(const GpuAmount& amount) const {
    return amount.gpus * per_gpu_ + Gpus(amount.slices.count());
  }
  Gpus Installed() const { return In(all_); }
  Gpus LeftByOthers() const { return In(all_) - In(of_others_); }
  bool OthersLeave(const GpuAmount& amount) const {
    const bool has_gpus = amount.gpus <= Gpus(0) || amount.gpus <= all_.gpus - of_others_.gpus;
    return has_gpus && amount.slices <= all_.slices - of_others_.slices;
  }

 private:
  GpuAmount all_;
  GpuAmount of_others_;
  int64_t per_gpu_ = 1;
};

// Returns FairShareOf() with `gpus` counted in parts. `installed`: in parts.
ResourceVector ShareOf(const ResourceVector& capacity, Gpus installed, const GpuAmount& gpus,
                       const GpuParts& parts) {
  ResourceVector share = FairShareOf(capacity, installed, parts.In(gpus));
  if (installed > Gpus(0)) share.gpus = gpus.gpus;
  return share;
}

ResourceVector FairShare(const NodeState& node, const GpuAmount& gpus,
                         const ResourceVector& headroom, const GpuParts& parts) {
  return ShareOf(node.allocatable - node.of_others - headroom, parts.LeftByOthers(), gpus, parts);
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

ResourceVector FairShare(const NodeState& node, const GpuAmount& gpus,
                         const ResourceVector& headroom) {
  return FairShare(node, gpus, headroom, GpuParts(node));
}

std::optional<ResourceVector> LeastFairShare(const ClusterSnapshot& snapshot,
                                             const NodeSelection* selection, const GpuAmount& gpus,
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
    if (!node.Schedulable()) continue;
    const GpuParts parts(node);
    if (!parts.OthersLeave(gpus)) continue;
    const ResourceVector share = FairShare(node, gpus, headroom, parts);
    const double left =
        PartLeft(share, ShareOf(node.allocatable - headroom, parts.Installed(), gpus, parts));
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
