#pragma once

// Reads lines that count without a word for it, and lines of whole epochs: "[1, 2000] loss: 3.0",
// "loss: 1.8 [44864/60000]", "(2500) loss: 0.87", "Epoch 17: train_loss=0.78". Part of src/progress
// only.
//
// Threading: pure. Cost: a line without any of the words is scanned once.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Returns nullopt if `text` has no such number, or nothing that only a training prints.
std::optional<ProgressLine> ReadLoose(std::string_view text);

}  // namespace synergy
