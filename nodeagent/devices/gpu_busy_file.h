#pragma once

// Reads the file in which synergy-device-plugin reports for how long each container's GPUs were
// busy (wire/agents/gpu_busy.h).
//
// This file is separate because the file is the interface to another program, the device plugin.
//
// Threading: any thread.

#include <string>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::nodeagent {

// Returns kNotFound if there is no file, and kInvalid if it is malformed, too large, or not a plain
// file. Does not open pipes and links, so that the read cannot block.
Result<NodeBusy> ReadGpuBusyFile(const std::string& file);

}  // namespace synergy::nodeagent
