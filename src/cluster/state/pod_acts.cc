#include "cluster/state/pod_acts.h"

#include <algorithm>

namespace synergy {

void PodActs::Note(const std::string& uid, std::string_view act, WallTime at) {
  const std::lock_guard lock(mutex_);
  latest_.insert_or_assign({uid, std::string(act)}, at);
  if (latest_.size() <= kMost) return;
  latest_.erase(std::min_element(latest_.begin(), latest_.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; }));
}

std::vector<PodAct> PodActs::Of(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  std::vector<PodAct> acts;
  for (auto entry = latest_.lower_bound({uid, {}});
       entry != latest_.end() && entry->first.first == uid; ++entry)
    acts.push_back({entry->first.second, entry->second});
  return acts;
}

}  // namespace synergy
