#pragma once

// Reads progress bars as drawn by tqdm and the frameworks built on it: PyTorch Lightning, Hugging
// Face. Private to this folder.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Returns nullopt if there is no bar in `text`.
std::optional<ProgressLine> ReadBar(std::string_view text);

}  // namespace synergy
