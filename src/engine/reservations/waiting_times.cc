#include "engine/reservations/waiting_times.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace synergy {

void WaitingTimes::Observe(std::span<const OwnedPod> pods, Instant now) {
  std::map<std::string, Waited> present;
  std::set<std::string> running;
  for (const OwnedPod& pod : pods) {
    if (pod.runs) running.insert(pod.owner);
    Waited& waited = present[pod.owner];
    waited.now = waited.uids.empty() ? pod.waited : std::min(waited.now, pod.waited);
    waited.uids.insert(pod.uid);
  }
  for (const std::string& owner : running) {
    present.erase(owner);
    owners_.erase(owner);
  }
  std::vector<std::pair<Instant, std::string>> gone;
  for (auto& [owner, known] : owners_) {
    const auto found = present.find(owner);
    const bool stays = found != present.end() &&
                       std::any_of(known.uids.begin(), known.uids.end(), [&](const auto& uid) {
                         return found->second.uids.contains(uid);
                       });
    if (!stays) known.before += std::exchange(known.now, {});
    if (found != present.end()) continue;
    known.uids.clear();
    gone.emplace_back(known.seen, owner);
  }
  for (auto& [owner, waited] : present) {
    Waited& known = owners_[owner];
    known.uids = std::move(waited.uids);
    known.now = waited.now;
    known.seen = now;
  }
  if (gone.size() <= kMostGone) return;
  // Drop the owners that have been without pods for longest.
  std::sort(gone.begin(), gone.end());
  for (size_t i = 0; i < gone.size() - kMostGone; ++i) owners_.erase(gone[i].second);
}

Duration WaitingTimes::WaitedBefore(const std::string& owner) const {
  const auto known = owners_.find(owner);
  return known == owners_.end() ? Duration::zero() : known->second.before;
}

}  // namespace synergy
