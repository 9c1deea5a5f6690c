#include <algorithm>
#include <string_view>

#include "wire/base/resource_list.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kQuotaPrefix = "requests.";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

bool IsDnsLabel(std::string_view label) {
  return !label.empty() && IsLowerOrDigit(label.front()) && IsLowerOrDigit(label.back()) &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view name) {
  for (;;) {
    const size_t dot = name.find('.');
    if (!IsDnsLabel(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

// The part of validation.IsQualifiedName after the slash.
bool IsQualifiedNamePart(std::string_view name) {
  constexpr size_t kLongest = 63;
  return !name.empty() && name.size() <= kLongest && IsAlphanumeric(name.front()) &&
         IsAlphanumeric(name.back()) && std::all_of(name.begin(), name.end(), [](char c) {
           return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

// v1helper.IsExtendedResourceName for names without "kubernetes.io/".
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

}  // namespace synergy::wire
