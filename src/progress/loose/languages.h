#pragma once

// Translates the words of other languages for a training's counts and losses: "Epoche 4/15, Schritt
// 10/240, Verlust: 1,4", "第6/20轮 第10/500批 损失: 1.38". Part of src/progress only.
//
// Threading: pure. Cost: a line without any of the words is scanned once.

#include <optional>
#include <string>
#include <string_view>

namespace synergy {

// Returns `text` with English words; nullopt if it contains none of the other languages' words.
std::optional<std::string> InEnglish(std::string_view text);

}  // namespace synergy
