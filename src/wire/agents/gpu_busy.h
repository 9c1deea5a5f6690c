#pragma once

// The JSON file through which synergy-device-plugin reports to synergy-node-agent how long the GPUs
// of containers were busy, and which Xids they had.
//
// Threading: pure. Strings are UTF-8.
//
// This file is separate because the device plugin writes it and has no data about progress.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::wire {

// The longest text to read, in bytes. A node has at most a few hundred containers with GPUs.
inline constexpr size_t kLongestNodeBusy = size_t{256} << 10;

std::string WriteNodeBusy(const NodeBusy& busy);
// Returns kInvalid, with the path to the error. Ignores additions of newer versions.
Result<NodeBusy> ReadNodeBusy(std::string_view text);

}  // namespace synergy::wire
