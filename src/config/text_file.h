#pragma once

// A file as text.
//
// Threading: any.

#include <string>

#include "core/result.h"

namespace synergy::config {

// kNotFound, naming the file, where it cannot be read.
Result<std::string> ReadTextFile(const std::string& file);

}  // namespace synergy::config
