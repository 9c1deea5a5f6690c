#pragma once

// The file in which synergy-device-plugin tells how long the GPUs of containers were busy
// (wire/agents/gpu_busy.h).
//
// Threading: any.

#include <string>

#include "core/result.h"
#include "inventory/gpu_busy.h"

namespace synergy::nodeagent {

// kNotFound: there is none. kInvalid: it is no such file, or too large. A pipe or a link is not
// followed, so that nobody waits for it.
Result<NodeBusy> ReadGpuBusyFile(const std::string& file);

}  // namespace synergy::nodeagent
