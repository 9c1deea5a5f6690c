#pragma once

// Reads the file in which synergy-device-plugin reports how long the GPUs of containers were busy
// (wire/agents/gpu_busy.h).
//
// This file is separate because the file is the interface to another program, the device plugin.
//
// Threading: any thread.

#include <string>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::nodeagent {

// Returns kNotFound if there is no file, and kInvalid if it is malformed or too large. Pipes and
// links are not opened, so that the read cannot block.
Result<NodeBusy> ReadGpuBusyFile(const std::string& file);

}  // namespace synergy::nodeagent
