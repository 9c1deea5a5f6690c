#pragma once

// Runs another program and captures its output.
//
// Threading: from any thread; blocks the caller.

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace synergy::deviceplugin {

// Returns what `command` writes to its standard output; its standard error is ours. The program is
// looked up in $PATH. kNotFound: there is none; kUnavailable: it fails, writes more than 4 MiB, or
// takes longer than `longest` (it is then killed).
Result<std::string> RunCommand(const std::vector<std::string>& command,
                               std::chrono::milliseconds longest);

}  // namespace synergy::deviceplugin
