#include "engine/gangs/held_places.h"

#include <algorithm>
#include <cstddef>

namespace synergy {

void HeldPlacesByJob::Add(const Pod& pod, const std::string& gang) {
  const bool of_gang = !gang.empty();
  const std::string name = of_gang ? gang : pod.Key();
  HeldPlaces& places = jobs_[{of_gang, name}];
  places.name = name;
  places.of_gang = of_gang;
  places.priority = std::max(places.priority, pod.priority);
  places.uids.push_back(pod.uid);
}

std::vector<HeldPlaces> HeldPlacesByJob::Below(int32_t priority) const {
  std::vector<HeldPlaces> below;
  for (const auto& [name, places] : jobs_) {
    if (places.priority < priority) below.push_back(places);
  }
  std::stable_sort(below.begin(), below.end(), [](const HeldPlaces& a, const HeldPlaces& b) {
    return a.priority < b.priority;
  });
  return below;
}

std::vector<HeldPlaces> FewestThatYield(
    const std::vector<HeldPlaces>& held,
    const std::function<bool(const std::vector<HeldPlaces>&)>& fits) {
  std::vector<HeldPlaces> yielding;
  for (const HeldPlaces& places : held) {
    yielding.push_back(places);
    if (!fits(yielding)) continue;
    // Keep places that are not needed, highest priority first.
    for (size_t i = yielding.size(); i-- > 0;) {
      std::vector<HeldPlaces> fewer = yielding;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fewer.empty() && fits(fewer)) yielding = std::move(fewer);
    }
    return yielding;
  }
  return {};
}

}  // namespace synergy
