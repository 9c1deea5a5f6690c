#pragma once

// A parsed value as JSON text again, without spaces.
//
// Threading: pure.

#include <string>

#include "json/document.h"

namespace synergy::json {

// Nothing is appended for a missing value. Numbers keep their spelling.
void AppendValue(std::string& out, Value value);

}  // namespace synergy::json
