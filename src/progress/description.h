#pragma once

// Classifies the text that programs print around a count: "Epoch 5 | loss 0.31 | test acc 0.93".
// Private to this folder.
//
// Threading: pure. Time is linear in the text's length.

#include <cstdint>
#include <string_view>

#include "progress/progress_line.h"

namespace synergy {

// Returns the activity that a description counts: training, unless a word names another one.
// Ignores names of pods, files and values ("test acc 0.93", "map=0.4").
LineKind KindOf(std::string_view description);

// Return whether a word names a training, or an epoch. They ignore names of processes in front.
bool NamesTraining(std::string_view description);
bool NamesEpoch(std::string_view description);
// Returns whether "batches" is the only word for an activity other than training. Lines of
// trainings may also contain it.
bool CountsBatches(std::string_view description);

// Returns whether `text` contains a value that only a training prints: "loss: 0.5", "lr=nan", "12.5
// it/s"; values of a validation do not count.
bool ReportsTraining(std::string_view text);

// Returns an id that is equal for lines of one source, whatever the numbers in their description.
uint64_t SourceOf(std::string_view format, std::string_view description, int64_t total);

}  // namespace synergy
