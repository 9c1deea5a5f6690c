#pragma once

// Logs of generated trainings, with their true figures.

#include <cstdint>
#include <string>

namespace synergy::testing {

enum class MadeFormat {
  kTqdm,
  kTqdmEpochs,     // a bar for each epoch
  kTqdmNested,     // the same inside a bar of epochs
  kTqdmDescribed,  // one bar whose description changes; the seed selects its style
  kHuggingFace,
  kLightning,
  kKeras,
  kDeepSpeed,
  kMegatron,
  kNanoGpt,
  kTimm,
  kTorchvision,
  kSteps,  // printed by the training's own code
  kJson,
  kCount
};

struct MadeTraining {
  uint64_t seed = 1;
  MadeFormat format = MadeFormat::kTqdm;
  double rate = 10;            // iterations per second while it trains
  double noise = 0.1;          // relative noise of an iteration's time
  int64_t epoch = 400;         // iterations
  double seconds = 200;        // duration of the training
  double line_seconds = 0.2;   // seconds between two training lines
  double stall_every = 0;      // seconds of training; 0: never
  double stall = 0;            // seconds
  int64_t evaluate_every = 0;  // iterations; 0: never
  double evaluation = 0;       // seconds
  // the iteration after which it resumes at a slightly earlier one; 0: never
  int64_t restart_at = 0;
  int ranks = 1;       // processes that write the same at almost the same time
  bool cri = true;     // otherwise the log is plain text
  bool burst = false;  // the runtime reads many updates of a bar at the same time
};

struct MadeLog {
  std::string text;
  std::string format;
  double rate = 0;          // iterations per second over the last minute of training
  double overall_rate = 0;  // from the first training line to the last
  int64_t iteration = 0;    // iteration of the last line, as printed
};

MadeLog Make(const MadeTraining& training);

}  // namespace synergy::testing
