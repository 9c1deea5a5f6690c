#pragma once

// Reads the file in which synergy-device-plugin reports how long the GPUs of containers were busy
// (wire/agents/gpu_busy.h).
//
// Threading: from any thread.

#include <string>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::nodeagent {

// kNotFound: there is no file. kInvalid: it is malformed or too large. Pipes and links are not
// opened, so that the read cannot block.
Result<NodeBusy> ReadGpuBusyFile(const std::string& file);

}  // namespace synergy::nodeagent
