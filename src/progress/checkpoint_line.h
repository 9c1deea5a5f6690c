#pragma once

// Recognises lines in which a training reports that it writes, or has written, a checkpoint.
// docs/internals/progress.md lists samples. A line may also contain progress: a logger's text
// follows a bar.
//
// Threading: pure; from any number of threads. Cost: as patterns.h.

#include <string_view>

namespace synergy {

// Returns false for lines about a checkpoint that is read, looked for, deleted, or only announced.
bool ReportsCheckpoint(std::string_view text);

}  // namespace synergy
