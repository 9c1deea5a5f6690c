#include "core/resources.h"

#include <algorithm>

namespace synergy {
namespace {

bool NameLess(const ScalarResources::Entry& entry, std::string_view name) {
  return entry.first < name;
}

}  // namespace

int64_t ScalarResources::Get(std::string_view name) const {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess);
  return it != entries_.end() && it->first == name ? it->second : 0;
}

int64_t& ScalarResources::Slot(std::string_view name) {
  auto it = std::lower_bound(entries_.begin(), entries_.end(), name, NameLess);
  if (it == entries_.end() || it->first != name) it = entries_.emplace(it, std::string(name), 0);
  return it->second;
}

void ScalarResources::Set(std::string_view name, int64_t amount) { Slot(name) = amount; }

void ScalarResources::Add(const ScalarResources& other) {
  for (const auto& [name, amount] : other.entries_) {
    int64_t& mine = Slot(name);
    mine = WrapAdd(mine, amount);
  }
}

void ScalarResources::Subtract(const ScalarResources& other) {
  for (const auto& [name, amount] : other.entries_) {
    int64_t& mine = Slot(name);
    mine = WrapSubtract(mine, amount);
  }
  std::erase_if(entries_, [](const Entry& entry) { return entry.second == 0; });
}

void ScalarResources::Max(const ScalarResources& other) {
  for (const auto& [name, amount] : other.entries_) {
    int64_t& mine = Slot(name);
    mine = std::max(mine, amount);
  }
}

}  // namespace synergy
