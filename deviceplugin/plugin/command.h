#pragma once

// Runs another program and captures its output.
//
// Threading: any thread; blocks the caller.

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace synergy::deviceplugin {

// Returns the standard output of `command`, which shares this process's standard error. The program
// is looked up in $PATH. Returns kNotFound if there is none, and kUnavailable if it fails, writes
// more than 4 MiB, or takes longer than `longest` (it is then killed).
Result<std::string> RunCommand(const std::vector<std::string>& command,
                               std::chrono::milliseconds longest);

}  // namespace synergy::deviceplugin
