#pragma once

// Text in the project's files that tests generate from the product's tables. A test fails while its
// file differs; with SYNERGY_UPDATE=1 it writes the file. SYNERGY_ROOT is the project's folder.
//
// Threading: from one thread.

#include <string>

namespace synergy::testing {

// Expects the text `expected` between the line with `begin` and the next line with `end`.
void ExpectGenerated(const std::string& file, const std::string& begin, const std::string& end,
                     const std::string& expected);

}  // namespace synergy::testing
