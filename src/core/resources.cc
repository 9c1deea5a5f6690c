#include "core/resources.h"

#include <algorithm>
#include <limits>

namespace synergy {
namespace {

bool NameLess(const ScalarResources::Entry& entry, std::string_view name) {
  return entry.first < name;
}

__extension__ using Wide = __int128;

template <class Integer>
Integer DivideDown(Integer number, int64_t positive) {
  return number / positive - (number % positive < 0 ? 1 : 0);
}

int64_t PartOf(int64_t amount, int64_t part, int64_t whole) {
  // Wide division calls a library function; narrow numbers suffice for all real amounts.
  int64_t product = 0;
  if (!__builtin_mul_overflow(amount, part, &product)) return DivideDown(product, whole);
  const Wide wide = DivideDown(static_cast<Wide>(amount) * part, whole);
  return static_cast<int64_t>(std::clamp<Wide>(wide, std::numeric_limits<int64_t>::min(),
                                               std::numeric_limits<int64_t>::max()));
}

}  // namespace

ResourceVector PartOf(const ResourceVector& amount, Gpus part, Gpus whole) {
  if (whole <= Gpus(0)) return {.gpus = part};
  return ResourceVector::Make(part, [&](auto member) {
    return PartOf((amount.*member).count(), part.count(), whole.count());
  });
}

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
