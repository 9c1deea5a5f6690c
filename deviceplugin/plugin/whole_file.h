#pragma once

// A file that is replaced as a whole: whoever reads it finds all of the former text, or all of the
// new one.
//
// Threading: any; one writer of a file.

#include <string>
#include <string_view>

#include "core/result.h"

namespace synergy::deviceplugin {

// Makes its folder, too. kUnavailable, naming the file, where it cannot be written.
Result<> WriteWholeFile(const std::string& file, std::string_view text);

}  // namespace synergy::deviceplugin
