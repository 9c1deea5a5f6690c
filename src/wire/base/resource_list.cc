#include "wire/base/resource_list.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "cluster/dns_name.h"
#include "core/text/quantity_text.h"
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

Slices SlicesOf(const ScalarResources& amounts, std::string_view gpu_resource) {
  if (amounts.empty() || gpu_resource.empty()) return {};
  return Slices(amounts.Get(SharedResource(gpu_resource)) +
                amounts.Get(TurnsResource(gpu_resource)));
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

namespace {

constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kQuotaPrefix = "requests.";

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

// Implements the part of validation.IsQualifiedName after the slash.
bool IsQualifiedNamePart(std::string_view name) {
  constexpr size_t kLongest = 63;
  return !name.empty() && name.size() <= kLongest && IsAlphanumeric(name.front()) &&
         IsAlphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

// Implements v1helper.IsExtendedResourceName for names without "kubernetes.io/".
bool IsExtendedResource(std::string_view name) {
  constexpr size_t kLongestPrefix = 253;
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.starts_with(kQuotaPrefix)) return false;
  const std::string_view prefix = name.substr(0, slash);
  return prefix.size() + kQuotaPrefix.size() <= kLongestPrefix && IsDnsSubdomain(prefix) &&
         IsQualifiedNamePart(name.substr(slash + 1));
}

}  // namespace

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || name.starts_with(kHugePagesPrefix);
}

bool IsScalarResource(std::string_view name) {
  return name.starts_with(kHugePagesPrefix) || name.starts_with("attachable-volumes-") ||
         name.find("kubernetes.io/") != std::string_view::npos || IsExtendedResource(name);
}

std::optional<ResourceVector> ReadAmounts(FieldReader& fields, Value object) {
  object = fields.Object(object);
  const Value cpu = object["cpu"];
  const Value memory = object["memory"];
  if (cpu.absent() && memory.absent()) {
    if (!object.missing()) fields.Report(object, "has neither cpu nor memory");
    return std::nullopt;
  }
  const size_t before = fields.count();
  ResourceVector amounts;
  amounts.cpu = std::max(MilliCpu(0), ToMilliCpu(fields.Amount(cpu), kLargestRequest));
  amounts.memory = std::max(Bytes(0), ToBytes(fields.Amount(memory), kLargestRequest));
  if (fields.count() != before) return std::nullopt;
  return amounts;
}

std::optional<ResourceVector> ReadAmountsAnnotation(FieldReader& fields, Value annotation) {
  const std::string_view text = fields.Text(annotation);
  if (annotation.absent() || !annotation.IsString()) return std::nullopt;
  const Result<Document> document = Document::Parse(text);
  if (!document) {
    fields.Report(annotation, document.error().message);
    return std::nullopt;
  }
  FieldReader inner(document->root());
  const std::optional<ResourceVector> amounts = ReadAmounts(inner, document->root());
  fields.Adopt(annotation, inner);
  return amounts;
}

std::string WriteAmounts(const ResourceVector& amounts) {
  return fmt::format(R"({{"cpu":"{}","memory":"{}"}})", ToQuantityText(amounts.cpu),
                     ToQuantityText(amounts.memory));
}

}  // namespace synergy::wire
