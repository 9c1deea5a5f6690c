#pragma once

// Reads lines whose count has no name, and lines that report whole epochs: "[1, 2000] loss: 3.0",
// "loss: 1.8 [44864/60000]", "(2500) loss: 0.87", "Epoch 17: train_loss=0.78". Private to
// src/progress.
//
// Threading: pure. Cost: a line without a word such as "loss" or "epoch" is scanned once.

#include <optional>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Returns nullopt if `text` has no such count, or no value that only a training prints.
std::optional<ProgressLine> ReadLoose(std::string_view text);
// Returns the epoch of `heading` if `text` has the loss of a training below it: "train_loss 0.65",
// "Train metrics: Loss: 2.8".
std::optional<ProgressLine> ReadHeadedEpoch(std::string_view text, const ProgressLine& heading);

}  // namespace synergy
