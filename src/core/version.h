#pragma once

// The product's version.
//
// This file is separate because the build writes its values: only its source is compiled again for
// each commit.

#include <string_view>

namespace synergy {

// Return the product's version ("0.1.0") and the commit that it was built from ("unknown" outside a
// git checkout).
std::string_view Version();
std::string_view Commit();

}  // namespace synergy
