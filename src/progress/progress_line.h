#pragma once

// What one line of a log says of a training's progress.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

enum class LineKind {
  kTraining,
  kEvaluation,  // validation, test or prediction: work, but no training
  kOther,       // something else that counts: a download, a data set made ready
  kEnd,         // the training says that it has ended
};

struct ProgressLine {
  std::string_view format;  // a name that stays: "tqdm", "keras"
  LineKind kind = LineKind::kTraining;
  // Lines of one bar, or of one print statement, have the same; bars beside it another one.
  uint64_t source = 0;
  // As printed; what the line does not say is absent.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> rate;       // iterations per second
  std::optional<Duration> elapsed;  // since the bar began
  std::optional<double> loss;
};

}  // namespace synergy
