#pragma once

// Text as a terminal shows it.
//
// Threading: pure.

#include <string>
#include <string_view>
#include <vector>

namespace synergy::cli {

// Texts of objects as a terminal may be shown them: whoever writes an annotation, an event or a log
// could have it move the cursor, rename the window or fill the clipboard. `text` with control
// characters (C0 but for line ends and tabs, DEL, C1) as \u001b, which JSON and YAML read back as
// what was there, and U+FFFD for what is no UTF-8.
std::string Printable(std::string_view text);

// Rows of text as columns that stand below each other, two spaces between them: a line per row;
// `indent` spaces before each. Rows may have fewer columns than the widest. Line ends in a cell
// become spaces.
std::string FormatTable(std::vector<std::vector<std::string>> rows, size_t indent = 0);

}  // namespace synergy::cli
