#pragma once

// Reads a container's log from a file, plain or gzip-compressed; "-" is standard input.
//
// This file is separate because two commands, progress and failure, read logs.
//
// Threading: one caller at a time.

#include <functional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::cli {

// Calls `on_piece` with the file's bytes, in order. Failures: the file cannot be read. A compressed
// file that ends too early is read as far as possible.
Result<> ReadLogFile(const std::string& file,
                     const std::function<void(std::string_view)>& on_piece);

}  // namespace synergy::cli
