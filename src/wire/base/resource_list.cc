#include "wire/base/resource_list.h"

#include <algorithm>

#include "wire/base/json_words.h"

namespace synergy::wire {
namespace {

int64_t Cut(int64_t amount, int64_t largest) { return std::clamp(amount, -largest, largest); }

}  // namespace

MilliCpu ToMilliCpu(ExactQuantity amount, int64_t largest) {
  return MilliCpu(Cut(amount.ToMilli(), largest));
}

Bytes ToBytes(ExactQuantity amount, int64_t largest) {
  return Bytes(Cut(amount.ToUnits(), largest));
}

ResourceList ResourceList::Read(FieldReader& fields, Value object) {
  ResourceList list;
  fields.Object(object).ForEachMember(
      [&](std::string_view name, Value amount) { list.Set(name, fields.Amount(amount)); });
  return list;
}

void ResourceList::Add(const ResourceList& other) {
  for (const auto& [name, amount] : other.amounts_) amounts_[name] += amount;
}

void ResourceList::Max(const ResourceList& other) {
  for (const auto& [name, amount] : other.amounts_) {
    ExactQuantity& mine = amounts_.try_emplace(name, amount).first->second;
    mine = std::max(mine, amount);
  }
}

Resources ResourceList::ToResources(std::string_view gpu_resource, int64_t largest) const {
  Resources resources;
  for (const auto& [name, amount] : amounts_) {
    if (name == gpu_resource) {
      resources.main.gpus = Gpus(Cut(amount.ToUnits(), largest));
    } else if (name == "cpu") {
      resources.main.cpu = ToMilliCpu(amount, largest);
    } else if (name == "memory") {
      resources.main.memory = ToBytes(amount, largest);
    } else if (const int64_t units = Cut(amount.ToUnits(), largest);
               units != 0 && (name == "ephemeral-storage" || IsScalarResource(name))) {
      resources.other.Set(name, units);
    }
  }
  return resources;
}

int64_t ResourceList::Units(std::string_view name, int64_t largest) const {
  const auto it = amounts_.find(name);
  return it == amounts_.end() ? 0 : Cut(it->second.ToUnits(), largest);
}

}  // namespace synergy::wire
