#include "cluster/state/replacements.h"

#include <algorithm>

namespace synergy {

std::vector<Reservation> Replacements::All() const {
  std::vector<Reservation> all;
  all.reserve(places_.size());
  for (const auto& [uid, entry] : places_) all.push_back(entry.place);
  return all;
}

std::vector<Reservation> Replacements::Of(const std::string& gang) const {
  std::vector<Reservation> of_gang = All();
  std::erase_if(of_gang, [&](const Reservation& place) { return place.gang != gang; });
  return of_gang;
}

void Replacements::Put(Reservation place) {
  Drop(place.pod->uid);
  const NodeIndex node = nodes_.Count(place.pod);
  const std::string uid = place.pod->uid;
  places_.emplace(uid, Entry{std::move(place), node});
  version_.Advance();
}

void Replacements::Settle(const std::string& uid) {
  const auto found = places_.find(uid);
  if (found != places_.end()) found->second.place.settled = true;
}

void Replacements::Drop(const std::string& uid) {
  const auto found = places_.find(uid);
  if (found == places_.end()) return;
  nodes_.Uncount(*found->second.place.pod, found->second.node);
  places_.erase(found);
  version_.Advance();
}

void Replacements::DropUntil(Instant now) {
  for (const Reservation& place : All()) {
    if (place.until <= now) Drop(place.pod->uid);
  }
}

std::vector<Reservation> Replacements::Limit(const std::string& gang, size_t most,
                                             const std::vector<std::string>& nodes) {
  std::vector<Reservation> left = Of(gang);
  std::stable_sort(left.begin(), left.end(),
                   [](const Reservation& a, const Reservation& b) { return a.until < b.until; });
  // Move one place on each of `nodes` to the front.
  auto chosen = left.begin();
  for (const std::string& node : nodes) {
    const auto there = std::find_if(
        chosen, left.end(), [&](const Reservation& place) { return place.pod->node == node; });
    if (there != left.end()) std::rotate(chosen++, there, there + 1);
  }
  left.resize(left.size() > most ? left.size() - most : 0);
  for (const Reservation& place : left) Drop(place.pod->uid);
  return left;
}

}  // namespace synergy
