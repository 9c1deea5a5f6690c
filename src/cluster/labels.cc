#include "cluster/labels.h"

#include <algorithm>

namespace synergy {

std::optional<std::string_view> FindLabel(const Labels& labels, std::string_view key) {
  const auto it = std::lower_bound(
      labels.begin(), labels.end(), key,
      [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  if (it == labels.end() || it->first != key) return std::nullopt;
  return it->second;
}

}  // namespace synergy
