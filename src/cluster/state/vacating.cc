// The part of PodRecords for members that a gang has lost (vacant_places.h).

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/state/pod_records.h"

namespace synergy {

void PodRecords::Vacate(const Pod& gone, const Gang& gang) {
  if (vacated_hold_ <= Duration{} || gang.size <= 0 || !gone.UsesGpus()) return;
  auto counted = std::make_shared<Pod>(gone);
  counted->gang = nullptr;
  counted->fungible = nullptr;
  const bool for_ever = now_ > Instant::max() - vacated_hold_;
  vacant_.Put({.pod = std::move(counted),
               .gang = gang.name,
               .until = for_ever ? Instant::max() : now_ + vacated_hold_});
  LimitVacant(gang);
}

std::vector<VacantPlace> PodRecords::FillVacant(const std::vector<GangPlace>& places) {
  if (vacant_.empty() || places.empty()) return {};
  const std::shared_ptr<const Pod> first = records_.at(places.front().uid).seen;
  if (!first->gang) return {};
  std::vector<std::string> nodes;
  for (const GangPlace& place : places) {
    if (records_.at(place.uid).seen->UsesGpus()) nodes.push_back(place.node);
  }
  return LimitVacant(*first->gang, nodes);
}

std::vector<VacantPlace> PodRecords::LimitVacant(const Gang& gang,
                                                 const std::vector<std::string>& filled) {
  if (vacant_.empty()) return {};
  size_t there = filled.size();
  bool any_runs = false;
  if (const auto uids = gangs_.find(gang.name); uids != gangs_.end()) {
    for (const std::string& uid : uids->second) {
      const Record& record = records_.at(uid);
      if (record.seen->deleting) continue;
      const bool has_gpus = record.seen->UsesGpus();
      any_runs |= has_gpus && record.standing == Standing::kBound;
      // A member without GPUs counts as placed once it exists.
      const bool is_placed = record.standing == Standing::kBound ||
                             record.standing == Standing::kAssumed ||
                             record.standing == Standing::kHeld;
      if (is_placed || !has_gpus) ++there;
    }
  }
  const auto size = static_cast<size_t>(gang.size);
  return vacant_.Limit(gang.name, any_runs && there < size ? size - there : 0, filled);
}

}  // namespace synergy
