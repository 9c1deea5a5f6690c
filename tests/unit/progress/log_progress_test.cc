#include "progress/log_progress.h"

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

TrainingProgress Read(std::string_view text) {
  LogProgress log;
  log.Feed(text);
  log.End();
  return log.Current();
}

std::string Recorded(const std::string& file) {
  std::ifstream in(SYNERGY_TEST_DATA "/progress/" + file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// A line of the kubelet's.
std::string At(int second, std::string_view text) {
  return fmt::format("2026-11-22T07:{:02}:{:02}Z stdout F {}\n", second / 60, second % 60, text);
}

std::string Bar(std::string_view description, int64_t done, int64_t total) {
  return fmt::format("{}{:3}%|     | {}/{} [00:00<?, ?it/s]", description, 100 * done / total, done,
                     total);
}

TEST(LogProgress, NothingRecognisedIsNothing) {
  const TrainingProgress read = Read("hello\n" + At(1, "{'epoch': 3}") + "Epoch 3/10\n");
  EXPECT_TRUE(read.format.empty());
  EXPECT_FALSE(read.iteration || read.total || read.epoch || read.rate || read.overall_rate ||
               read.loss);
}

// Its bar of evaluation has no description.
TEST(LogProgress, HuggingFaceAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("huggingface.log"));
  EXPECT_EQ(read.format, "huggingface");
  EXPECT_EQ(read.iteration, 60);
  EXPECT_EQ(read.total, 60);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 60);
  // The bar's own average, slowed by evaluations.
  EXPECT_NEAR(read.rate.value_or(0), 47, 8);
}

TEST(LogProgress, BarsInsideABarOfEpochsAsTheyWereRecorded) {
  const TrainingProgress read = Read(Recorded("tqdm_nested.log"));
  EXPECT_EQ(read.format, "tqdm");
  EXPECT_EQ(read.iteration, 20);
  EXPECT_EQ(read.total, 20);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 60);
}

TEST(LogProgress, HuggingFaceThatPredictsAfterItsTrainingAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("huggingface_predict.log"));
  EXPECT_EQ(read.format, "huggingface");
  EXPECT_EQ(read.iteration, 80);
  EXPECT_EQ(read.total, 80);
  EXPECT_EQ(read.epoch, 4);
  EXPECT_EQ(read.counted, 80);
  EXPECT_TRUE(read.evaluating);
}

// The same bar comes within the training and after it: no new training.
TEST(LogProgress, EvaluationsThatDoNotSaySoAsTheyWereRecorded) {
  const TrainingProgress read = Read(Recorded("tqdm_evaluations.log"));
  EXPECT_EQ(read.format, "tqdm");
  EXPECT_EQ(read.iteration, 60);
  EXPECT_EQ(read.total, 60);
  EXPECT_EQ(read.counted, 60);
}

TEST(LogProgress, BarsOfRichAsTheyWereRecorded) {
  const TrainingProgress tqdm = Read(Recorded("tqdm_rich.log"));
  EXPECT_EQ(tqdm.format, "tqdm");
  EXPECT_EQ(tqdm.iteration, 20);
  EXPECT_EQ(tqdm.total, 20);
  EXPECT_EQ(tqdm.epoch, 1);
  EXPECT_NEAR(tqdm.rate.value_or(0), 48, 3);
  const TrainingProgress lightning = Read(Recorded("lightning_rich.log"));
  EXPECT_EQ(lightning.format, "lightning");
  EXPECT_EQ(lightning.iteration, 40);
  EXPECT_EQ(lightning.total, 40);
  EXPECT_EQ(lightning.epoch, 2);
  EXPECT_TRUE(lightning.evaluating);
}

TEST(LogProgress, UltralyticsAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("ultralytics.log"));
  EXPECT_EQ(read.format, "tqdm");
  EXPECT_EQ(read.iteration, 16);
  EXPECT_EQ(read.total, 16);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 47);  // since the first bar that has a speed
}

TEST(LogProgress, AnEvaluationAloneIsNoTraining) {
  std::string text;
  for (int second = 0; second <= 40; ++second) text += At(second, Bar("", second, 40));
  EXPECT_EQ(Read(text).iteration, 40);
  text += At(41, "{'eval_loss': 1.5, 'eval_runtime': 20.0, 'eval_steps_per_second': 2.0}");
  const TrainingProgress read = Read(text);
  EXPECT_TRUE(read.format.empty());
  EXPECT_FALSE(read.iteration || read.rate || read.overall_rate);
}

// NeMo's bar has no rate of its own.
TEST(LogProgress, WithoutTimesAndRatesTheBarsClockTells) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += fmt::format("\rEpoch 0:  10%|#  | {}/1000 [{:02}:{:02}<09:00, v_num=ab, loss=1.5]", i,
                        i / 120, i / 2 % 60);
  }
  const TrainingProgress read = Read(text);
  EXPECT_EQ(read.iteration, 399);
  EXPECT_NEAR(read.rate.value_or(0), 2, 0.05);
  EXPECT_NEAR(read.overall_rate.value_or(0), 2, 0.05);
}

// Three epochs, then an evaluation and a prediction, which print the same without a heading.
TEST(LogProgress, KerasAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("keras.log"));
  EXPECT_EQ(read.format, "keras");
  EXPECT_EQ(read.iteration, 20);
  EXPECT_EQ(read.total, 20);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_TRUE(read.evaluating);
  EXPECT_NEAR(static_cast<double>(read.counted), 60, 2);
}

TEST(LogProgress, KerasWithALineForEachEpochAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("keras_by_epoch.log"));
  EXPECT_EQ(read.iteration, 20);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 40);  // since the first line
  EXPECT_TRUE(read.evaluating);
}

TEST(LogProgress, ABarThatResumesDidNotDoWhatWasDoneBefore) {
  std::string log;
  for (int second = 0; second <= 30; ++second) log += At(second, Bar("", 400 + 5 * second, 1000));
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 550);
  EXPECT_EQ(read.counted, 150);
  EXPECT_DOUBLE_EQ(*read.rate, 5);
  EXPECT_DOUBLE_EQ(*read.overall_rate, 5);
}

// A container runtime writes a bar's updates when it has 16 KiB of them.
TEST(LogProgress, WhatWasReadAtOnceIsOnePoint) {
  std::string text;
  for (int second = 20; second <= 60; second += 20) {
    for (int i = 100; i >= 0; i -= 10) text += At(second, Bar("", 100 * second - i, 100'000));
  }
  const TrainingProgress read = Read(text);
  EXPECT_DOUBLE_EQ(read.overall_rate.value_or(0), 100);
  EXPECT_DOUBLE_EQ(read.rate.value_or(0), 100);
}

TEST(LogProgress, TheCountGoesOnOverEpochs) {
  std::string log;
  for (int second = 0; second < 60; ++second) {
    log += At(second, fmt::format("Epoch: [{}]  [{:>2}/40]  eta: 0:00:12  time: 0.5  data: 0.1",
                                  second / 20, second % 20 * 2));
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 38);
  EXPECT_EQ(read.total, 40);
  EXPECT_EQ(read.epoch, 2);
  EXPECT_EQ(read.counted, 118);
  EXPECT_DOUBLE_EQ(*read.rate, 2);
  EXPECT_DOUBLE_EQ(*read.overall_rate, 2);
}

TEST(LogProgress, ProcessesThatLagBehindCountOnce) {
  std::string log;
  for (int second = 0; second < 59; ++second) {
    for (int rank = 0; rank < 4; ++rank) {
      const int64_t done = std::max(0, 5 * (second - rank));
      log += At(second, fmt::format("[rank{}]: {}", rank, Bar("", done, 1000)));
    }
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 290);
  EXPECT_EQ(read.counted, 290);
  EXPECT_DOUBLE_EQ(*read.rate, 5);
}

// However its lines begin, a bar of the same length is no bar of epochs.
TEST(LogProgress, AnotherProcessThatLagsBehindTellsNoEpoch) {
  std::string text;
  for (int i = 10; i <= 400; i += 10) {
    text += At(i, Bar("", i, 1000)) + At(i, Bar("[rank1]: ", i, 1000));
    text += At(i, Bar("2: ", i - 3, 1000));
  }
  const TrainingProgress read = Read(text);
  EXPECT_EQ(read.iteration, 400);
  EXPECT_FALSE(read.epoch);
  EXPECT_DOUBLE_EQ(read.rate.value_or(0), 1);
}

TEST(LogProgress, ARestartIsGoneOnFrom) {
  std::string log;
  for (int second = 0; second <= 30; ++second) log += At(second, Bar("", 10 * second, 1000));
  log += At(40, "RuntimeError: CUDA error");
  for (int second = 0; second <= 20; ++second) {
    log += At(60 + second, Bar("", 200 + 10 * second, 1000));
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 400);
  EXPECT_EQ(read.counted, 500);
  EXPECT_DOUBLE_EQ(*read.rate, 10);
  EXPECT_DOUBLE_EQ(*read.overall_rate, 500.0 / 80);
}

// Neither bar says what it is.
TEST(LogProgress, OfTwoBarsThatTakeTurnsTheShorterIsNoTraining) {
  std::string log;
  int second = 0;
  for (int epoch = 0; epoch < 4; ++epoch) {
    for (int i = 0; i <= 20; ++i) log += At(second++, Bar("", 5 * i, 100));
    for (int i = 0; i <= 6; ++i) log += At(second++, Bar("", 20 * i, 120 - 60));
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 100);
  EXPECT_EQ(read.total, 100);
  EXPECT_TRUE(read.evaluating);
  EXPECT_DOUBLE_EQ(*read.rate, 5);
}

TEST(LogProgress, WithAPatternOfTheUsersOwnOthersOnlyTellWhatIsEvaluation) {
  const Result<OwnPattern> own = OwnPattern::Parse(R"(batch (?P<iteration>\d+))");
  LogProgress log(ContainerLog::Form::kCri, *own);
  for (int second = 0; second < 30; ++second) {
    log.Feed(At(second < 20 ? second : second + 5, fmt::format("batch {}", 3 * second)));
    log.Feed(At(second < 20 ? second : second + 5, Bar("", second, 1000)));
    if (second == 19) log.Feed(At(21, Bar("Evaluating: ", 1, 9)));
  }
  const TrainingProgress read = log.Current();
  EXPECT_EQ(read.format, "pattern");
  EXPECT_EQ(read.iteration, 87);
  EXPECT_DOUBLE_EQ(*read.rate, 3);
}

TEST(LogProgress, ACheckpointIsToldBesideTheProgress) {
  std::string text;
  for (int second = 0; second < 30; ++second) text += At(second, Bar("", second, 1000));
  EXPECT_FALSE(Read(text).checkpoint);
  text += At(30, Bar("", 30, 1000) + "Saving model checkpoint to out/checkpoint-30");
  const TrainingProgress read = Read(text);
  EXPECT_EQ(read.iteration, 30);
  EXPECT_EQ(read.checkpoint, read.last_training);
  text += At(32, "Saving model checkpoint to out/checkpoint-32") + At(33, "Loading checkpoint x");
  EXPECT_EQ(*Read(text).checkpoint - *read.checkpoint, std::chrono::seconds(2)) << "the newest";
  EXPECT_EQ(Read(text).rate, read.rate) << "and is no progress";

  const Result<OwnPattern> own = OwnPattern::Parse(R"(batch (?P<iteration>\d+))");
  LogProgress log(ContainerLog::Form::kCri, *own);
  log.Feed(At(1, "batch 1") + At(2, "saving checkpoint to out"));
  EXPECT_TRUE(log.Current().checkpoint);
}

TEST(LogProgress, IsSmall) { EXPECT_LE(sizeof(LogProgress), 16U << 10); }

}  // namespace
}  // namespace synergy
