#pragma once

// Recognises lines in which a training reports that it is writing, or has written, a checkpoint.
// docs/internals/progress.md lists samples. A line may also contain progress, because a logger's
// text may follow a bar.
//
// Threading: pure; any number of threads. Cost: as in patterns.h.

#include <string_view>

namespace synergy {

// Returns false for lines about a checkpoint that is read, searched for, deleted, or only
// announced.
bool ReportsCheckpoint(std::string_view text);

}  // namespace synergy
