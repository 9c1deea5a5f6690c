#pragma once

// Texts of objects as a terminal may be shown them. Whoever writes an annotation, an event or a log
// could have it move the cursor, rename the window or fill the clipboard.
//
// Threading: pure.

#include <string>
#include <string_view>

namespace synergy::cli {

// `text` with control characters (C0 but for line ends and tabs, DEL, C1) as \u001b, which JSON and
// YAML read back as what was there, and U+FFFD for what is no UTF-8.
std::string Printable(std::string_view text);

}  // namespace synergy::cli
