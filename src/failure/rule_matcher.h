#pragma once

// Finds the first rule of the table that a line matches.
//
// RE2 derives from each expression the substrings ("atoms") of which a matching line contains some.
// Few lines contain any, so few expressions are tried: the cost of a line hardly depends on the
// number of rules.
//
// Threading: from any thread. Time is linear in the line's length (RE2).

#include <cstddef>
#include <string_view>

#include "failure/rules.h"

namespace synergy {

struct RuleMatch {
  const LogRule* rule = nullptr;  // a literal of the table; null: none matches
  size_t place = 0;               // in the line
};

// `exception`: the line is an exception's, so that rules other than Where::kLine count, too.
RuleMatch MatchRule(std::string_view line, bool exception);

}  // namespace synergy
