#pragma once

// The identities by which two pods count as the same workload. A measurement of one pod applies to
// pods with the same exact identity. For pods that share only a looser identity, it is a *hint*. A
// hint does not lower such pods below their fair share, and one of their own windows confirms or
// drops it (docs/internals/profiling.md).
//
// Threading: values, pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace synergy {

// Best first.
enum class LooserIdentity : uint8_t {
  kArguments,  // the same image and command, without arguments that do not change the speed
  kOwner,      // made from one template: of a CronJob, a RayJob or an experiment
};
inline constexpr LooserIdentity kLooserIdentities[] = {LooserIdentity::kArguments,
                                                       LooserIdentity::kOwner};

std::string_view ToString(LooserIdentity identity);  // "arguments", "owner"
// Returns text for people: "the same command with other arguments".
std::string_view ToText(LooserIdentity identity);
// Returns nullopt for any other text.
std::optional<LooserIdentity> ParseLooserIdentity(std::string_view text);

// The looser identities of a workload: "a-" or "o-" and 16 hexadecimal digits. An empty text means
// none.
struct LooserIdentities {
  std::string arguments;
  std::string owner;

  const std::string& Of(LooserIdentity identity) const {
    return identity == LooserIdentity::kArguments ? arguments : owner;
  }
  bool empty() const { return arguments.empty() && owner.empty(); }
  bool operator==(const LooserIdentities&) const = default;
};

// Returns the text of an annotation: "a-0123456789abcdef o-0123456789abcdef".
std::string ToText(const LooserIdentities& identities);
// Ignores words that are not identities.
LooserIdentities ParseLooserIdentities(std::string_view text);

}  // namespace synergy
