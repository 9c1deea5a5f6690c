#pragma once

// Rows of text as columns that stand below each other, two spaces between them.
//
// Threading: pure.

#include <string>
#include <vector>

namespace synergy::cli {

// A line per row; `indent` spaces before each. Rows may have fewer columns than the widest. Line
// ends in a cell become spaces.
std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t indent = 0);

}  // namespace synergy::cli
