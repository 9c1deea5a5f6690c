#pragma once

// Formats text for a terminal.
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

namespace synergy::cli {

// Makes the text of an object safe for a terminal: an annotation, an event or a log could otherwise
// move the cursor, rename the window or fill the clipboard. Returns `text` with control characters
// (C0 except line ends and tabs, DEL, C1) escaped in the form \u001b, which JSON and YAML read back
// as the original. U+FFFD replaces invalid UTF-8.
std::string Printable(std::string_view text);

// Formats rows as aligned columns with two spaces between them: a line per row, with `indent`
// spaces before it. Rows may have fewer columns than the widest. Line ends in a cell become spaces.
std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t indent = 0);

}  // namespace synergy::cli
