#pragma once

// Lines that people print by hand, or as JSON: "step 100/1000 loss 2.3", "Iteration: 100",
// {"global_step": 100, "max_steps": 1000, "loss": 2.3}. Private to this folder.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Part of an expression: a line that has none of it is no counted one.
constexpr std::string_view kCountedWords =
    R"([sS]teps?['"]?[ =:#/[(]|[iI]ter(?:ation)?s?['"]?[ =:#/[(])";

// Absent: `text` has no count, or tells nothing that only a training tells, as a request or an
// image that is built ("Step 3/12 : RUN make").
std::optional<ProgressLine> ReadCounted(std::string_view text);

}  // namespace synergy
