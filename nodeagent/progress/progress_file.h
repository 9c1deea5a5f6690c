#pragma once

// Reads the file in which a training reports its progress as "ITERATION" or "ITERATION/TOTAL". The
// file is in a volume that the webhook added to the pod (annotation synergy.io/progress-file).
//
// The pod may put anything into the volume. So the reader follows no symbolic link at any step, and
// opens only regular files: opening a device or a pipe could have effects or block. At most
// kMostProgressBytes are accepted.
//
// Threading: any thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::nodeagent {

struct FileCount {
  int64_t iteration = 0;
  std::optional<int64_t> total;

  bool operator==(const FileCount&) const = default;
};

inline constexpr size_t kMostProgressBytes = 64;

// Numbers have at most 15 digits; white space around them is ignored. Returns nullopt for other
// text.
std::optional<FileCount> ParseProgressFile(std::string_view text);

// Reads the file of the pod with UID `uid`. `pods_folder`: the kubelet's folder
// ("/var/lib/kubelet/pods"). Returns kNotFound if there is no file yet, or it is empty; kInvalid if
// it is malformed or not a regular file, or the pod has no such volume; kDenied if the file is not
// readable by all users; kUnavailable for other failures of the node.
Result<FileCount> ReadProgressFile(const std::string& pods_folder, const std::string& uid);

}  // namespace synergy::nodeagent
