#include "engine/storage/published_storage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace synergy {
namespace {

bool IsAmount(double amount) { return std::isfinite(amount) && amount > 0; }

// Keeps the `count` profiles that read most.
void KeepLargest(std::map<std::string, ProfileReads>& reads, size_t count) {
  if (reads.size() <= count) return;
  std::vector<std::pair<double, std::string>> by_amount;
  for (const auto& [profile, one] : reads) by_amount.emplace_back(one.most, profile);
  std::ranges::sort(by_amount, std::greater());
  for (size_t i = count; i < by_amount.size(); ++i) reads.erase(by_amount[i].second);
}

ProfileReads ReadsWith(const PodReads& pod, const ResourceVector& demand) {
  const double rate = pod.profile->ThroughputAt(demand.cpu, demand.memory);
  return {demand.gpus, pod.reads.process, pod.reads.data_set, rate * pod.reads.per_iteration};
}

}  // namespace

PlacementStorage ForPlacement(const MeasuredStorage& storage, const ClusterSnapshot& snapshot) {
  PlacementStorage placement;
  for (const auto& [node, disk] : storage.facts().disks) {
    if (placement.bandwidths.size() == PlacementStorage::kMostNodes) break;
    placement.bandwidths.emplace(node, disk.bandwidth);
    const std::optional<NodeIndex> index = snapshot.Find(node);
    if (!index) continue;
    for (const auto& pod : snapshot.node(*index).detail->pods) {
      const std::optional<PodReads> reads =
          pod->fungible ? storage.ReadsOf(*pod) : std::optional<PodReads>();
      if (!reads) continue;
      const ProfileReads one = ReadsWith(*reads, pod->fungible->demand);
      if (!IsAmount(one.most)) continue;
      ProfileReads& known = placement.reads[pod->pod_namespace][pod->fungible->profile];
      if (one.most > known.most) known = one;
    }
  }
  const size_t namespaces = std::max<size_t>(placement.reads.size(), 1);
  const size_t each = std::max<size_t>(PlacementStorage::kMostProfiles / namespaces, 1);
  for (auto& [name, reads] : placement.reads) KeepLargest(reads, each);
  while (placement.reads.size() > PlacementStorage::kMostProfiles)
    placement.reads.erase(std::prev(placement.reads.end()));
  return placement;
}

PlacementNeeds::PlacementNeeds(PlacementStorage storage) : storage_(std::move(storage)) {
  std::erase_if(storage_.bandwidths, [](const auto& one) { return !IsAmount(one.second); });
  for (auto& [name, reads] : storage_.reads)
    std::erase_if(reads, [](const auto& one) { return !IsAmount(one.second.most); });
  for (const auto& [node, bandwidth] : storage_.bandwidths) most_ = std::max(most_, bandwidth);
}

double PlacementNeeds::BandwidthOf(const std::string& node) const {
  const auto found = storage_.bandwidths.find(node);
  return found == storage_.bandwidths.end() ? 0 : found->second;
}

double PlacementNeeds::NeedOf(const Pod& pod) const {
  if (!pod.fungible || pod.IsOfGang()) return 0;
  const auto reads = storage_.reads.find(pod.pod_namespace);
  if (reads == storage_.reads.end()) return 0;
  const auto found = reads->second.find(pod.fungible->profile);
  if (found == reads->second.end()) return 0;
  const auto& [gpus, process, data_set, most] = found->second;
  const ResourceVector amounts = LargerOf(pod.fungible->demand, pod.fungible->requested);
  if (amounts.gpus != gpus) return 0;
  return most * DataReads{.process = process, .data_set = data_set}.Missed(amounts.memory);
}

}  // namespace synergy
