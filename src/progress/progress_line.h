#pragma once

// The progress that one line of a log contains.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"

namespace synergy {

enum class LineKind {
  kTraining,
  kEvaluation,  // validation, test or prediction: work, but not training
  kOther,       // another count: a download, a data set being prepared
  kEnd,         // the training reports its end
};

struct ProgressLine {
  std::string_view format;  // a literal: "tqdm", "keras"
  LineKind kind = LineKind::kTraining;
  // Equal for lines of one bar or one print statement; different for other bars.
  uint64_t source = 0;
  // As printed; absent if the line does not contain it.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> rate;       // iterations per second
  std::optional<Duration> elapsed;  // since the start of the bar
  std::optional<double> loss;
};

}  // namespace synergy
