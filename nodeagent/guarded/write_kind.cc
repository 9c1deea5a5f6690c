#include "nodeagent/guarded/write_kind.h"

#include <algorithm>
#include <array>

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
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" suspends no processes", text));
  if (content != Freezer::kThawed)
    return Fail(ErrorCode::kConflict, "another process has suspended the group");
  return std::string(Freezer::kThawed);
}

// A group that is not thawed is suspended, or is about to be.
template <class Freezer>
bool IsFrozenOrThawed(std::string_view content, std::string_view text) {
  return (content == Freezer::kThawed) == (text == Freezer::kThawed);
}

constexpr std::array kKinds = {
    WriteKind{"cpu.max", false, kLongestWrite, SameAsBefore, IsSame},
    WriteKind{"cpu.cfs_quota_us", false, kLongestWrite, SameAsBefore, IsSame},
    WriteKind{"cgroup.freeze", true, kMostSuspended, Thawed<V2Freezer>,
              IsFrozenOrThawed<V2Freezer>},
    WriteKind{"freezer.state", true, kMostSuspended, Thawed<V1Freezer>,
              IsFrozenOrThawed<V1Freezer>},
};

}  // namespace

const WriteKind* WriteKindOf(std::string_view file) {
  // npos + 1 is 0.
  const std::string_view name = file.substr(file.rfind('/') + 1);
  const auto* const kind = std::find_if(kKinds.begin(), kKinds.end(),
                                        [&](const WriteKind& one) { return one.file == name; });
  return kind == kKinds.end() ? nullptr : kind;
}

}  // namespace synergy::nodeagent
