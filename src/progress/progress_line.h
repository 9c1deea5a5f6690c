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
  kFailure,     // the program reports that it failed, and may be started again
};

// Evidence that the number is a count of iterations, from strong to weak.
enum class Claim {
  kCount,   // a word or a bar
  kNumber,  // a number beside a loss, if it grows steadily (loose/guess_meter.h)
  kEpoch,   // the epoch, if nothing finer is printed
};

struct ProgressLine {
  std::string_view format;  // a literal: "tqdm", "keras"
  LineKind kind = LineKind::kTraining;
  // Equal for lines of one bar or one print statement; different for other bars.
  uint64_t source = 0;
  // Equal for bars of any length whose description names the same training; 0 if none is named.
  uint64_t name = 0;
  bool epochs = false;  // its description contains the word "epoch"
  // Whether the line alone is no evidence, because a configuration may print the same once.
  bool weak = false;
  Claim claim = Claim::kCount;
  bool unsure_total = false;  // the total counts only if the next line has the same one
  bool requests = false;      // its bar counts requests to a model
  // Whether the line is training only inside a bar of epochs.
  bool inner = false;
  // As printed; absent if the line does not contain it.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> rate;       // iterations per second
  std::optional<Duration> elapsed;  // since the start of the bar
  std::optional<double> loss;
};

}  // namespace synergy
