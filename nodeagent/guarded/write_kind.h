#pragma once

// Defines the kinds of control-group files that the guardian writes temporarily. The file's name in
// the group's folder identifies its kind.
//
//   cpu.max, cpu.cfs_quota_us   a quota: the file contains what was written
//   cgroup.freeze               v2: "1" suspends the group's processes, "0" resumes them
//   freezer.state               v1: "FROZEN", "THAWED"; it contains FREEZING until the last process
//                               is suspended
//   io.max                      "8:16 rbps=1000000": bytes per second that the group may read from
//                               a device; the file has a line for each device with a limit
//
// Threading: constants and pure functions.

#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::nodeagent {

struct WriteKind {
  std::string_view file;
  bool suspends = false;
  // The longest time for which a text stays in the file, even if more is requested.
  Duration longest{};
  // Returns the text that restores the file's content after `text` is written. Returns kConflict if
  // another process already suspends the group or limits these reads, and kInvalid if the guardian
  // does not write such a text.
  Result<std::string> (*former)(std::string_view content, std::string_view text) = nullptr;
  // Returns whether `text` is in force, judging by the file's content.
  bool (*holds)(std::string_view content, std::string_view text) = nullptr;
};

// The longest time for which a text of any kind stays.
inline constexpr Duration kLongestWrite = std::chrono::minutes(2);

// Returns null for a file that the guardian does not write. `file`: with or without its folder.
const WriteKind* WriteKindOf(std::string_view file);

}  // namespace synergy::nodeagent
