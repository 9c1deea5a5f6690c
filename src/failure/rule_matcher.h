#pragma once

// Finds the first rule of the table that matches a line.
//
// For each expression, RE2 derives substrings ("atoms"); every line that matches contains some of
// them. Few lines contain any, so few expressions are tried: the cost per line hardly depends on
// the number of rules.
//
// Threading: any thread. Time is linear in the line's length (RE2).

#include <cstddef>
#include <string_view>

#include "failure/rules.h"

namespace synergy {

struct RuleMatch {
  const LogRule* rule = nullptr;  // a literal from the table; null: none matches
  size_t place = 0;               // position in the line
};

// `exception`: the line belongs to an exception, so rules with places other than Where::kLine also
// count.
RuleMatch MatchRule(std::string_view line, bool exception);

}  // namespace synergy
