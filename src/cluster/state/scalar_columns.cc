#include "cluster/state/scalar_columns.h"

#include <utility>

namespace synergy {

void ScalarColumns::Update(size_t place, const ScalarResources& allocatable,
                           const ScalarResources& requested) {
  for (const auto& [name, amount] : allocatable.entries()) entries_.try_emplace(name);
  for (auto& [name, entry] : entries_) {
    CowArray<int64_t>& column = entry.column.free_;
    const int64_t free = WrapSubtract(allocatable.Get(name), requested.Get(name));
    if (entry.column.Free(place) == free) continue;
    while (column.size() <= place) column.Append() = 0;
    column.Mutable(place) = free;
    entry.shared = nullptr;
    shared_ = nullptr;
  }
}

std::shared_ptr<const ScalarColumns::Shared> ScalarColumns::Share() {
  if (shared_) return shared_;
  auto shared = std::make_shared<Shared>();
  for (auto& [name, entry] : entries_) {
    if (!entry.shared) {
      auto column = std::make_shared<ScalarColumn>();
      column->free_ = entry.column.free_.Share();
      entry.shared = std::move(column);
    }
    shared->columns_.emplace(name, entry.shared);
  }
  shared_ = std::move(shared);
  return shared_;
}

}  // namespace synergy
