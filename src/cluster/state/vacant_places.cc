#include "cluster/state/vacant_places.h"

#include <algorithm>

namespace synergy {

std::vector<VacantPlace> VacantPlaces::All() const {
  std::vector<VacantPlace> all;
  all.reserve(places_.size());
  for (const auto& [uid, entry] : places_) all.push_back(entry.place);
  return all;
}

std::vector<VacantPlace> VacantPlaces::Of(const std::string& gang) const {
  std::vector<VacantPlace> of_gang = All();
  std::erase_if(of_gang, [&](const VacantPlace& place) { return place.gang != gang; });
  return of_gang;
}

void VacantPlaces::Put(VacantPlace place) {
  Drop(place.pod->uid);
  const NodeIndex node = nodes_.Count(place.pod);
  const std::string uid = place.pod->uid;
  places_.emplace(uid, Entry{std::move(place), node});
  version_.Advance();
}

void VacantPlaces::Settle(const std::string& uid) {
  const auto found = places_.find(uid);
  if (found != places_.end()) found->second.place.settled = true;
}

void VacantPlaces::Drop(const std::string& uid) {
  const auto found = places_.find(uid);
  if (found == places_.end()) return;
  nodes_.Uncount(*found->second.place.pod, found->second.node);
  places_.erase(found);
  version_.Advance();
}

void VacantPlaces::DropUntil(Instant now) {
  for (const VacantPlace& place : All()) {
    if (place.until <= now) Drop(place.pod->uid);
  }
}

std::vector<VacantPlace> VacantPlaces::Limit(const std::string& gang, size_t most,
                                             const std::vector<std::string>& nodes) {
  std::vector<VacantPlace> left = Of(gang);
  std::stable_sort(left.begin(), left.end(),
                   [](const VacantPlace& a, const VacantPlace& b) { return a.until < b.until; });
  // Moves places on the nodes to the front, one for each node.
  auto chosen = left.begin();
  for (const std::string& node : nodes) {
    const auto there = std::find_if(
        chosen, left.end(), [&](const VacantPlace& place) { return place.pod->node == node; });
    if (there != left.end()) std::rotate(chosen++, there, there + 1);
  }
  left.resize(left.size() > most ? left.size() - most : 0);
  for (const VacantPlace& place : left) Drop(place.pod->uid);
  return left;
}

}  // namespace synergy
