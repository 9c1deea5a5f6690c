#pragma once

// A DecisionJournal as text, in the manner of journal.h: one decision, one line of JSON.
//
// Threading: pure. Strings are UTF-8, as everything that came from the API server is.

#include <string>
#include <string_view>

#include "core/result.h"
#include "engine/decisions.h"

namespace synergy::wire {

// "Filter", "TunerDecided", ...
std::string_view NameOf(const Decision& decision);

// Without an end of line. Equal decisions have equal lines, and others have others.
std::string WriteDecisionLine(const Decision& decision);

// kInvalid, with the path to what is wrong, for anything that WriteDecisionLine() does not write;
// members that it does not know are left out of account.
Result<Decision> ReadDecisionLine(std::string_view line);

}  // namespace synergy::wire
