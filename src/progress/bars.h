#pragma once

// Bars as tqdm draws them, and what is built on it: PyTorch Lightning, Hugging Face. Private to
// this folder.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Absent: there is no bar in `text`.
std::optional<ProgressLine> ReadBar(std::string_view text);

}  // namespace synergy
