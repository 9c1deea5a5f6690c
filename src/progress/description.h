#pragma once

// What programs write around a count: "Epoch 5 | loss 0.31 | test acc 0.93". Private to this
// folder.
//
// Threading: pure. Time is linear in the text's length.

#include <cstdint>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// What is counted, by its description; none counts as training. Only words that name what is done
// say so: names of pods and files do not, nor do names of values ("test acc 0.93", "map=0.4").
LineKind KindOf(std::string_view description);

// Whether a value that only training tells is in `text`: "loss: 0.5", "lr=nan", "12.5 it/s"; a
// validation's does not count.
bool TellsOfTraining(std::string_view text);

// A name for lines that belong together, whatever numbers their description has.
uint64_t SourceOf(std::string_view format, std::string_view description, int64_t total);

}  // namespace synergy
