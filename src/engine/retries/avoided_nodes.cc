#include "engine/retries/avoided_nodes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace synergy {

bool AvoidedNodes::Add(AvoidedNode entry) {
  const Key key{std::move(entry.of_namespace), std::move(entry.workload), std::move(entry.node)};
  const auto [place, is_new] = until_.emplace(key, entry.until);
  if (!is_new)
    return entry.until > std::exchange(place->second, std::max(place->second, entry.until));
  if (until_.size() <= kMost) return true;
  GiveUpOne();
  return until_.contains(key);
}

void AvoidedNodes::DropLapsed(WallTime now) {
  std::erase_if(until_, [now](const auto& entry) { return entry.second <= now; });
}

std::vector<std::string> AvoidedNodes::Of(const std::string& of_namespace,
                                          const std::string& workload, WallTime now) const {
  std::vector<std::string> nodes;
  for (auto entry = until_.lower_bound(Key{of_namespace, workload, ""}); entry != until_.end();
       ++entry) {
    const auto& [its_namespace, its_workload, node] = entry->first;
    if (its_namespace != of_namespace || its_workload != workload) break;
    if (entry->second > now) nodes.push_back(node);
  }
  return nodes;
}

std::vector<AvoidedNode> AvoidedNodes::All() const {
  std::vector<AvoidedNode> all;
  all.reserve(until_.size());
  for (const auto& [key, until] : until_) {
    const auto& [of_namespace, workload, node] = key;
    all.push_back({of_namespace, workload, node, until});
  }
  return all;
}

void AvoidedNodes::GiveUpOne() {
  std::map<std::string_view, size_t> counts;
  for (const auto& [key, until] : until_) ++counts[std::get<0>(key)];
  const std::string_view largest =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->first;
  auto first = until_.end();
  for (auto entry = until_.begin(); entry != until_.end(); ++entry) {
    if (std::get<0>(entry->first) != largest) continue;
    if (first == until_.end() || entry->second < first->second) first = entry;
  }
  until_.erase(first);
}

}  // namespace synergy
