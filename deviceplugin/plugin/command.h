#pragma once

// Runs another program for what it prints.
//
// Threading: any; the caller waits.

#include <chrono>
#include <string>
#include <vector>

#include "core/result.h"

namespace synergy::deviceplugin {

// What `command` writes to its standard output; its standard error is ours. The program is looked
// for in $PATH. kNotFound where there is none; kUnavailable when it fails, writes more than 4 MiB
// or takes longer than `longest`, when it is killed.
Result<std::string> RunCommand(const std::vector<std::string>& command,
                               std::chrono::milliseconds longest);

}  // namespace synergy::deviceplugin
