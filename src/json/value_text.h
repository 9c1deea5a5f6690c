#pragma once

// Writes a parsed value as JSON text, without spaces.
//
// Threading: pure.

#include <string>

#include "json/document.h"

namespace synergy::json {

// Appends nothing for a missing value. Numbers keep their spelling.
void AppendValue(std::string& out, Value value);

}  // namespace synergy::json
