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

// What a bar counts, by its description; none counts as training.
LineKind KindOf(std::string_view description);

// A name for lines that belong together.
uint64_t SourceOf(std::string_view format, std::string_view description, int64_t total);

}  // namespace synergy
