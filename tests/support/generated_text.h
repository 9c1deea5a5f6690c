#pragma once

// Text in files of the project that a test makes from the product's tables: the test fails while
// the file differs, and writes it with SYNERGY_UPDATE=1. SYNERGY_ROOT is the project's folder.
//
// Threading: from one thread.

#include <string>

namespace synergy::testing {

// Expects `expected` between the line with `begin` and the next line with `end`.
void ExpectGenerated(const std::string& file, const std::string& begin, const std::string& end,
                     const std::string& expected);

}  // namespace synergy::testing
