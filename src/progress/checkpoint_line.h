#pragma once

// Lines by which a training says that it writes a checkpoint, or has written one. docs/progress.md
// lists samples. A line may tell of progress besides: what a logger prints stands behind a bar.
//
// Threading: pure; from any number of threads. Cost: as patterns.h.

#include <string_view>

namespace synergy {

// Not where one is read, looked for, deleted or only announced.
bool TellsOfCheckpoint(std::string_view text);

}  // namespace synergy
