#pragma once

// A DecisionJournal as text, like journal.h: one decision, one line of JSON.
//
// Threading: pure. Strings are UTF-8, like everything from the API server.

#include <string>
#include <string_view>

#include "core/result.h"
#include "engine/decisions.h"

namespace synergy::wire {

// "Filter", "TunerDecided", ...
std::string_view NameOf(const Decision& decision);

// Writes no newline. Lines are equal exactly if the decisions are.
std::string WriteDecisionLine(const Decision& decision);

// kInvalid, with the path to what is wrong, for anything that WriteDecisionLine() does not write.
// Ignores unknown members.
Result<Decision> ReadDecisionLine(std::string_view line);

}  // namespace synergy::wire
