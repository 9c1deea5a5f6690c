#pragma once

// Reads lines that users print themselves, as text or as JSON: "step 100/1000 loss 2.3",
// "Iteration: 100", "epoch 1 batch 100 loss 2.3", "[100/1000] loss 2.3", {"global_step": 100,
// "max_steps": 1000, "loss": 2.3}. Private to this folder.
//
// Threading: pure.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Alternatives for use in a larger expression; every counted line matches one of them.
constexpr std::string_view kCountedWords =
    R"([sS]teps?['"]?[ =:#/[(]|[iI]ter(?:ation)?s?['"]?[ =:#/[(]|[bB]atch['"]?[ =:#/[(]|num_updates|\b[iI][tT](?: *[:=] *| +)\d|[uU]pdate[ =:#]+\d|\d */ *\d.*[lL]oss)";

// Returns nullopt if `text` has no count, or no value that only a training prints. Lines of
// requests and image builds ("Step 3/12 : RUN make") have no such value.
std::optional<ProgressLine> ReadCounted(std::string_view text);

// Returns whether a line belongs to another activity ({"mode": "val", ...}, a server's line), or
// shows settings (Namespace(...)).
bool IsOtherActivity(std::string_view text);

}  // namespace synergy
