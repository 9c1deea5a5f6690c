#include "extender/gangs/place_ages.h"

#include <algorithm>
#include <utility>

namespace synergy::extender {

void PlaceAges::Look(const std::vector<HeldPlace>& held, Instant now) {
  const std::lock_guard lock(mutex_);
  auto before = std::exchange(since_, {});
  for (const HeldPlace& place : held) {
    const std::pair key(place.uid, place.kind);
    const auto known = before.find(key);
    since_.emplace(key, known == before.end() ? now : known->second);
  }
}

PlaceAges::Held PlaceAges::Of(HeldPlace::Kind kind, Instant now) const {
  const std::lock_guard lock(mutex_);
  Held held;
  for (const auto& [key, since] : since_) {
    if (key.second != kind) continue;
    ++held.places;
    held.oldest = std::max(held.oldest, now - since);
  }
  return held;
}

}  // namespace synergy::extender
