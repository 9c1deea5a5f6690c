#pragma once

// A ClusterJournal as text: each change is one line of JSON. Times are whole nanoseconds, CPU is in
// thousandths of a core, and memory in bytes, all exact; empty, zero and false values are omitted.
//
// Threading: pure. Strings are UTF-8, like everything from the API server.

#include <string>
#include <string_view>

#include "cluster/state/cluster_journal.h"
#include "core/result.h"

namespace synergy::wire {

// Writes no newline.
std::string WriteJournalLine(const ClusterChange& change);

// Returns kInvalid, with the path to the error, for anything that WriteJournalLine() does not
// write. Ignores unknown members.
Result<ClusterChange> ReadJournalLine(std::string_view line);

}  // namespace synergy::wire
