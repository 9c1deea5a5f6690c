#pragma once

// Parses numbers, and classifies characters, as training programs print them. Private to this
// folder.
//
// Threading: pure. Functions return nullopt if the text is not a finite number.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

// ASCII only, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Parses "0.35", "5.9E+00".
std::optional<double> ReadNumber(std::string_view text);
// Parses "938", "1,200", "1.2k", "76.5M"; nullopt below zero.
std::optional<int64_t> ReadCount(std::string_view text);
// Parses "05:12", "1:05:12", "3m 4s".
std::optional<Duration> ReadElapsed(std::string_view text);
// Returns the number after "loss" in `text`, preferring the training's loss over a validation's.
std::optional<double> FindLoss(std::string_view text);
// Parses "Epoch 3", "epoch: [3/10]", "Epoch=3", "'epoch': 0.5", or "3/10  2.61G" at the beginning.
std::optional<double> FindEpoch(std::string_view text);

}  // namespace synergy
