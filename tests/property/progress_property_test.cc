// Compares the rate that is recognised in generated logs with the true one.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "core/random.h"
#include "progress/log_progress.h"
#include "property/made_log.h"

namespace synergy::testing {
namespace {

// Feeds the text in arbitrary pieces.
TrainingProgress Read(std::string_view text, uint64_t seed) {
  LogProgress log;
  Random random(seed);
  while (!text.empty()) {
    const size_t size = 1 + random.Below(20'000);
    log.Feed(text.substr(0, size));
    text.remove_prefix(std::min(size, text.size()));
  }
  log.End();
  return log.Current();
}

MadeTraining AnyTraining() {
  MadeTraining made;
  made.seed = static_cast<uint64_t>(*rc::gen::inRange(1, 1'000'000));
  made.format = static_cast<MadeFormat>(*rc::gen::inRange(0, static_cast<int>(MadeFormat::kCount)));
  made.rate = *rc::gen::element(0.5, 2.0, 7.3, 25.0, 120.0);
  // A minute with few iterations cannot be more precise.
  made.noise = made.rate < 5 ? 0.1 : *rc::gen::element(0.0, 0.1, 0.4);
  made.seconds = *rc::gen::inRange(90, 400);
  made.line_seconds = *rc::gen::element(0.1, 0.5, 2.0);
  made.epoch = static_cast<int64_t>(made.rate * *rc::gen::element(35.0, 50.0, 200.0));
  return made;
}

// Makes updates frequent enough to fill a runtime's buffer several times a minute.
void ReadAtOnce(MadeTraining& made) {
  made.burst = true;
  made.seconds = 400;
  made.line_seconds = 0.1;
}

std::string Describe(const MadeTraining& made, const MadeLog& log, const TrainingProgress& read) {
  std::string text =
      "format " + log.format + ", seed " + std::to_string(made.seed) + ", rate " +
      std::to_string(made.rate) + ", lines every " + std::to_string(made.line_seconds) +
      ", epoch " + std::to_string(made.epoch) + ", seconds " + std::to_string(made.seconds) +
      ", ranks " + std::to_string(made.ranks) + ", stall " + std::to_string(made.stall) +
      ", evaluate " + std::to_string(made.evaluate_every) + ", burst " +
      std::to_string(made.burst) + "; true " + std::to_string(log.rate) + " and " +
      std::to_string(log.overall_rate) + ", read " + std::to_string(read.rate.value_or(-1)) +
      " and " + std::to_string(read.overall_rate.value_or(-1)) + " as " + std::string(read.format);
  return text;
}

bool Near(std::optional<double> read, double truth, double part) {
  return read && std::abs(*read - truth) <= part * truth;
}

void CheckTimed(const MadeTraining& made, double part) {
  const MadeLog log = Make(made);
  const TrainingProgress read = Read(log.text, made.seed);
  RC_LOG() << Describe(made, log, read) << "\n";
  RC_ASSERT(read.format == log.format);
  RC_ASSERT(Near(read.rate, log.rate, part));
  RC_ASSERT(Near(read.overall_rate, log.overall_rate, 0.03));
  if (made.ranks == 1) RC_ASSERT(read.iteration == log.iteration);
}

RC_GTEST_PROP(ProgressProperty, AnUndisturbedTrainingsRateIsMet, ()) {
  CheckTimed(AnyTraining(), 0.04);
}

RC_GTEST_PROP(ProgressProperty, EvaluationsAreLeftOut, ()) {
  MadeTraining made = AnyTraining();
  made.evaluate_every = static_cast<int64_t>(made.rate * *rc::gen::element(30.0, 70.0)) + 1;
  made.evaluation = *rc::gen::inRange(4, 40);
  if (made.rate > 5 && *rc::gen::arbitrary<bool>()) ReadAtOnce(made);
  CheckTimed(made, 0.05);
}

RC_GTEST_PROP(ProgressProperty, StallsAreLeftOut, ()) {
  MadeTraining made = AnyTraining();
  made.stall_every = 40;
  // A stall that lasts only as long as some iterations is not recognised as one.
  made.stall = 3 / made.rate + *rc::gen::inRange(3, 30);
  CheckTimed(made, 0.05);
}

RC_GTEST_PROP(ProgressProperty, SeveralProcessesCountOnce, ()) {
  MadeTraining made = AnyTraining();
  made.ranks = *rc::gen::inRange(2, 9);
  CheckTimed(made, 0.06);
}

RC_GTEST_PROP(ProgressProperty, ARestartChangesNoRate, ()) {
  MadeTraining made = AnyTraining();
  // A bar that restarts with another description is a different bar.
  RC_PRE(made.format != MadeFormat::kTqdmDescribed);
  made.seconds += 60;
  made.restart_at = static_cast<int64_t>(made.rate * *rc::gen::inRange(30, 80));
  const MadeLog log = Make(made);
  const TrainingProgress read = Read(log.text, made.seed);
  RC_LOG() << Describe(made, log, read) << "\n";
  RC_ASSERT(Near(read.rate, log.rate, 0.05));
  RC_ASSERT(Near(read.overall_rate, log.overall_rate, 0.1));
  RC_ASSERT(read.iteration == log.iteration);
}

RC_GTEST_PROP(ProgressProperty, UpdatesThatARuntimeReadsAtOnceAreMet, ()) {
  MadeTraining made = AnyTraining();
  RC_PRE(made.rate > 5);
  ReadAtOnce(made);
  CheckTimed(made, 0.06);
}

RC_GTEST_PROP(ProgressProperty, PlainTextIsTakenAtItsWord, ()) {
  MadeTraining made = AnyTraining();
  made.cri = false;
  RC_PRE(made.format != MadeFormat::kDeepSpeed && made.format != MadeFormat::kSteps &&
         made.format != MadeFormat::kJson);  // this format has no rate
  // this format rounds to milliseconds
  RC_PRE(made.format != MadeFormat::kKeras || made.rate < 50);
  const MadeLog log = Make(made);
  const TrainingProgress read = Read(log.text, made.seed);
  RC_LOG() << Describe(made, log, read) << "\n";
  RC_ASSERT(read.format == log.format);
  RC_ASSERT(Near(read.rate, made.rate, 0.08));
  RC_ASSERT(read.iteration == log.iteration);
}

// Two processes write their bars in arbitrary pieces, which may split a character.
RC_GTEST_PROP(ProgressProperty, TornUpdatesOfTwoProcessesAreRead, ()) {
  constexpr int kTotal = 1000;
  Random random(static_cast<uint64_t>(*rc::gen::inRange(1, 1'000'000)));
  std::array<std::string, 2> written;
  for (int i = 0; i <= kTotal; i += 20) {
    const std::string drawn = "█████████▉ | " + std::to_string(i) + "/1000 [00:40<00:40, 25.00";
    written[0] += "\rEpoch 5:  50%|" + drawn + "it/s]";
    written[1] += "\rMap (num_proc=8):  50%|" + drawn + " examples/s]";
  }
  std::string log;
  std::array<size_t, 2> at{};
  while (at[0] < written[0].size() || at[1] < written[1].size()) {
    const size_t process = random.Below(2);
    const std::string_view rest = std::string_view(written[process]).substr(at[process]);
    const std::string_view piece = rest.substr(0, 1 + random.Below(300));
    log += piece;
    at[process] += piece.size();
  }
  log += "\rEpoch 5: 100%|██████████| 1000/1000 [00:40<00:00, 25.00it/s]\n";
  const TrainingProgress read = Read(log, random.Below(1'000'000));
  RC_ASSERT(read.format == "tqdm");
  RC_ASSERT(read.iteration == kTotal);
  RC_ASSERT(read.total == kTotal);
  RC_ASSERT(read.epoch == 5);
  RC_ASSERT(Near(read.rate, 25, 0.01));
}

}  // namespace
}  // namespace synergy::testing
