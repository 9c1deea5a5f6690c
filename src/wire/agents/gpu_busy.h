#pragma once

// The file in which synergy-device-plugin tells synergy-node-agent how long the GPUs of containers
// have been busy, in JSON.
//
// Threading: pure. Strings are UTF-8.

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::wire {

// The longest that is read: a node has some hundred containers with GPUs at most.
inline constexpr size_t kLongestNodeBusy = size_t{256} << 10;

std::string WriteNodeBusy(const NodeBusy& busy);
// kInvalid, with the path to what is wrong. What a newer version has added is passed over.
Result<NodeBusy> ReadNodeBusy(std::string_view text);

}  // namespace synergy::wire
