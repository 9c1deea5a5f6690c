#include "profile/measured/workload_identities.h"

#include <algorithm>

namespace synergy {
namespace {

constexpr size_t kDigits = 16;

bool IsIdentity(std::string_view word, std::string_view prefix) {
  return word.size() == prefix.size() + kDigits && word.starts_with(prefix) &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(prefix.size()), word.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

std::string_view ToString(LooserIdentity identity) {
  return identity == LooserIdentity::kArguments ? "arguments" : "owner";
}

std::string_view ToText(LooserIdentity identity) {
  return identity == LooserIdentity::kArguments
             ? "the same image and command with another seed, learning rate, name or address"
             : "the same owner's template";
}

std::optional<LooserIdentity> ParseLooserIdentity(std::string_view text) {
  for (const LooserIdentity identity : kLooserIdentities) {
    if (text == ToString(identity)) return identity;
  }
  return std::nullopt;
}

std::string ToText(const LooserIdentities& identities) {
  std::string text = identities.arguments;
  if (!text.empty() && !identities.owner.empty()) text += ' ';
  return text + identities.owner;
}

LooserIdentities ParseLooserIdentities(std::string_view text) {
  LooserIdentities identities;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (IsIdentity(word, "a-")) identities.arguments = word;
    if (IsIdentity(word, "o-")) identities.owner = word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return identities;
}

}  // namespace synergy
