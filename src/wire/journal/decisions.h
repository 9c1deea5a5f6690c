#pragma once

// A DecisionJournal as text, like journal.h: each decision is one line of JSON.
//
// This file is separate because journals of clusters, decisions and queues are read independently.
//
// Threading: pure. Strings are UTF-8, like everything from the API server.

#include <string>
#include <string_view>

#include "core/result.h"
#include "engine/decisions.h"

namespace synergy::wire {

// Returns "Filter", "TunerDecided", ...
std::string_view NameOf(const Decision& decision);

// Writes no newline. Two lines are equal if and only if the decisions are.
std::string WriteDecisionLine(const Decision& decision);

// Returns kInvalid, with the path to the error, for anything that WriteDecisionLine() does not
// write. Ignores unknown members.
Result<Decision> ReadDecisionLine(std::string_view line);

}  // namespace synergy::wire
