#include "nodeagent/guarded/write_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "cluster/gpu_turn.h"

namespace synergy::nodeagent {
namespace {

Result<std::string> SameAsBefore(std::string_view content, std::string_view) {
  return std::string(content);
}

bool IsSame(std::string_view content, std::string_view text) { return content == text; }

// The texts of a freezer.
struct V2Freezer {
  static constexpr std::string_view kFrozen = "1";
  static constexpr std::string_view kThawed = "0";
};
struct V1Freezer {
  static constexpr std::string_view kFrozen = "FROZEN";
  static constexpr std::string_view kThawed = "THAWED";
};

template <class Freezer>
Result<std::string> Thawed(std::string_view content, std::string_view text) {
  if (text != Freezer::kFrozen)
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" does not suspend processes", text));
  if (content != Freezer::kThawed)
    return Fail(ErrorCode::kConflict, "another process has suspended the group");
  return std::string(Freezer::kThawed);
}

// Returns WriteKind::holds for a freezer. A group that is about to be suspended counts as
// suspended.
template <class Freezer>
bool IsFrozenOrThawed(std::string_view content, std::string_view text) {
  return (content == Freezer::kThawed) == (text == Freezer::kThawed);
}

// A limit on what a group reads from a device: "8:16 rbps=1000000".
struct ReadLimit {
  static constexpr std::string_view kKey = " rbps=";
  static constexpr std::string_view kNone = "max";

  std::string_view device;
  std::string_view rate;
};

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Parses the limit at the beginning of a line of io.max.
std::optional<ReadLimit> ParseReadLimit(std::string_view line) {
  const size_t at = line.find(ReadLimit::kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const ReadLimit limit{line.substr(0, at), line.substr(at + ReadLimit::kKey.size())};
  const size_t colon = limit.device.find(':');
  if (colon == std::string_view::npos || !IsNumber(limit.device.substr(0, colon)) ||
      !IsNumber(limit.device.substr(colon + 1))) {
    return std::nullopt;
  }
  return ReadLimit{limit.device, limit.rate.substr(0, limit.rate.find(' '))};
}

// Returns the limit of that device in the content of io.max.
std::string_view RateIn(std::string_view content, std::string_view device) {
  while (!content.empty()) {
    const std::string_view line = content.substr(0, content.find('\n'));
    content.remove_prefix(std::min(line.size() + 1, content.size()));
    const auto limit = ParseReadLimit(line);
    if (limit && limit->device == device) return limit->rate;
  }
  return ReadLimit::kNone;
}

Result<std::string> FormerReadLimit(std::string_view content, std::string_view text) {
  const auto limit = ParseReadLimit(text);
  if (!limit || !IsNumber(limit->rate) ||
      text != fmt::format("{}{}{}", limit->device, ReadLimit::kKey, limit->rate))
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" is no limit on reads", text));
  const std::string_view former = RateIn(content, limit->device);
  if (former != ReadLimit::kNone)
    return Fail(ErrorCode::kConflict, "another process limits the group's reads");
  return fmt::format("{}{}{}", limit->device, ReadLimit::kKey, former);
}

bool IsReadLimitOf(std::string_view content, std::string_view text) {
  const auto limit = ParseReadLimit(text);
  return limit && RateIn(content, limit->device) == limit->rate;
}

constexpr std::array kKinds = {
    WriteKind{"cpu.max", false, kLongestWrite, SameAsBefore, IsSame},
    WriteKind{"cpu.cfs_quota_us", false, kLongestWrite, SameAsBefore, IsSame},
    WriteKind{"cgroup.freeze", true, kMostSuspended, Thawed<V2Freezer>,
              IsFrozenOrThawed<V2Freezer>},
    WriteKind{"freezer.state", true, kMostSuspended, Thawed<V1Freezer>,
              IsFrozenOrThawed<V1Freezer>},
    WriteKind{"io.max", false, kLongestWrite, FormerReadLimit, IsReadLimitOf},
};

}  // namespace

const WriteKind* WriteKindOf(std::string_view file) {
  // If there is no slash, npos + 1 is 0.
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                        [&](const WriteKind& one) { return one.file == name; });
  return kind == kKinds.end() ? nullptr : kind;
}

}  // namespace synergy::nodeagent
