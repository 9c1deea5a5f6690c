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

// Returns a line in the kubelet's format.
std::string At(int second, std::string_view text) {
  return fmt::format("2026-11-22T07:{:02}:{:02}Z stdout F {}\n", second / 60, second % 60, text);
}

std::string Bar(std::string_view description, int64_t done, int64_t total) {
  return fmt::format("{}{:3}%|     | {}/{} [00:00<?, ?it/s]", description, 100 * done / total, done,
                     total);
}

// Returns a bar with its own clock, four seconds per iteration.
std::string Clocked(std::string_view description, int64_t done, int64_t total, int64_t second) {
  return fmt::format("\r{}: {:3}%|     | {}/{} [{:02}:{:02}<01:00, 0.25it/s]", description,
                     100 * done / total, done, total, second / 60, second % 60);
}

TEST(LogProgress, NothingRecognisedIsNothing) {
  const TrainingProgress read = Read("hello\n" + At(1, "{'epoch': 3}") + "Epoch 3/10\n");
  EXPECT_TRUE(read.format.empty());
  EXPECT_FALSE(read.iteration || read.total || read.epoch || read.rate || read.overall_rate ||
               read.loss);
}

// The bar of the evaluation has no description.
TEST(LogProgress, HuggingFaceAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("huggingface.log"));
  EXPECT_EQ(read.format, "huggingface");
  EXPECT_EQ(read.iteration, 60);
  EXPECT_EQ(read.total, 60);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 60);
  // This is the bar's own average, which includes evaluations.
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

TEST(LogProgress, ABarOfEpochsThatIsDrawnForEveryBatchAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("tqdm_nested_redrawn.log"));
  EXPECT_EQ(read.iteration, 20);
  EXPECT_EQ(read.total, 20);
  EXPECT_EQ(read.epoch, 2);
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

// The same bar appears within the training and after it. It is not a new training.
TEST(LogProgress, RecognizesRecordedUnlabelledEvaluations) {
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
  EXPECT_EQ(read.counted, 47);  // counted from the first bar that shows a speed
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

TEST(LogProgress, ARateThatNoTrainingHasIsNone) {
  for (const std::string& rate :
       {std::string("9") + std::string(300, '0'), "0." + std::string(318, '0') + "5"}) {
    const TrainingProgress read =
        Read(fmt::format("\r  1%|     | 10/1000 [00:10<01:00, {}it/s]", rate));
    EXPECT_EQ(read.iteration, 10);
    EXPECT_FALSE(read.rate) << *read.rate;
  }
}

// NeMo's bar has no rate of its own.
TEST(LogProgress, UsesTheBarsClockWithoutTimesAndRates) {
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

// Three epochs are followed by an evaluation and a prediction, which print the same without a
// heading.
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
  EXPECT_EQ(read.counted, 40);  // counted from the first line
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

// A container runtime writes a bar's updates only when it has 16 KiB of them.
TEST(LogProgress, LinesReadAtOnceAreOnePoint) {
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

// A bar of the same length is not a bar of epochs, whatever precedes it in its lines.
TEST(LogProgress, LaggingProcessStartsNoEpoch) {
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

constexpr std::string_view kTraceback = "\nTraceback (most recent call last):\n";

std::string Bars(std::string_view description, int64_t last, int64_t total) {
  std::string log;
  for (int64_t i = 0; i <= last; ++i) log += "\r" + Bar(description, i, total);
  return log;
}

// Smaller batches after a failure, or fewer workers.
TEST(LogProgress, ARestartMayHaveABarOfAnotherLength) {
  for (const int64_t total : {500, 1000, 2000}) {
    for (const int64_t done : {20, 310, 450}) {
      for (const std::string_view between : {kTraceback, std::string_view("\n")}) {
        for (const std::string_view name : {"Epoch 0: ", "Training: ", "[rank0]: Epoch 0: ", ""}) {
          // An unnamed bar may be an evaluation, unless the program failed.
          if (name.empty() && between == "\n") continue;
          const TrainingProgress read =
              Read(Bars(name, 300, 1000) + std::string(between) + Bars(name, done, total));
          EXPECT_EQ(read.iteration, done) << name << done << "/" << total;
          EXPECT_EQ(read.total, total) << name << done;
          EXPECT_EQ(read.counted, 300 + done) << name << done << "/" << total;
        }
      }
    }
  }
}

TEST(LogProgress, RepeatedRestartsAreFollowed) {
  std::string log = Bars("", 300, 1000);
  for (const int64_t total : {2000, 1000, 2000, 4000}) {
    log += fmt::format("{}torch.OutOfMemoryError: CUDA out of memory.\n", kTraceback);
    log += Bars("", 100, 1000) + "\r" + Bar("", 100, 1000);  // closing the bar draws it again
    log += kTraceback;
    log += Bars("", 40, total);
    EXPECT_EQ(Read(log).iteration, 40) << total;
    EXPECT_EQ(Read(log).total, total);
  }
}

// The losses that Hugging Face prints show which bar is the training's.
TEST(LogProgress, LossesBetweenItsLinesShowARestart) {
  const std::string loss = "\n{'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n";
  std::string log = Bars("", 50, 1000) + loss + Bars("", 40, 200);
  EXPECT_EQ(Read(log).total, 1000) << "an evaluation";
  log += loss + loss + "\r" + Bar("", 41, 200);
  EXPECT_EQ(Read(log).total, 1000) << "losses that were printed late";
  log += loss + "\r" + Bar("", 42, 200);
  EXPECT_EQ(Read(log).iteration, 42);
  EXPECT_EQ(Read(log).total, 200);
}

TEST(LogProgress, AFailureInsideAnEvaluationIsNoRestart) {
  std::string log = Bars("", 300, 1000) + std::string(kTraceback);
  for (int64_t i = 301; i < 400; ++i) log += "\r" + Bar("", i, 1000);
  log += Bars("", 30, 60);
  EXPECT_EQ(Read(log).iteration, 399) << "the training went on after the failure";
  log = Bars("", 300, 1000) + std::string(kTraceback) + Bars("", 60, 60);
  log += "\n{'eval_loss': 1.5, 'eval_runtime': 20.0, 'epoch': 0.3}\r" + Bar("", 301, 1000);
  EXPECT_EQ(Read(log).iteration, 301);
  EXPECT_EQ(Read(log + Bars("", 60, 60)).iteration, 301);
}

TEST(LogProgress, KerasRestartsUnderAHeading) {
  const auto steps = [](int last, int total) {
    std::string log;
    for (int i = 1; i <= last; ++i) {
      log += fmt::format("{}/{} [====>....] - ETA: 3s - loss: 0.3\n", i, total);
    }
    return log;
  };
  const std::string log = "Epoch 1/10\n" + steps(30, 100);
  EXPECT_EQ(Read(log + "Epoch 1/10\n" + steps(20, 200)).total, 200);
  EXPECT_EQ(Read(log + steps(20, 50)).total, 100) << "an evaluation";
}

// tqdm, with `leave=False` and `set_postfix` on both bars or on the inner one.
TEST(LogProgress, AnInnerBarCountsHoweverItIsCalled) {
  for (const std::string_view outer : {"Epochs: ", "Epoch: ", ""}) {
    for (const std::string_view inner : {"Batches: ", "Batch: ", "Training: ", "Steps: ", ""}) {
      for (const bool redrawn : {false, true}) {
        if (outer.empty() && inner == "Batches: ") continue;  // like an encoder's bar
        std::string log;
        for (int64_t epoch = 0; epoch < 4; ++epoch) {
          log += "\r" + Bar(outer, epoch, 10);
          for (int64_t i = 0; i <= (epoch < 3 ? 100 : 60); ++i) {
            log += "\r" + Bar(inner, i, 100);
            if (redrawn) log += "\r" + Bar(outer, epoch, 10);
          }
        }
        const TrainingProgress read = Read(log);
        EXPECT_EQ(read.iteration, 60) << outer << inner << redrawn;
        EXPECT_EQ(read.total, 100) << outer << inner << redrawn;
        EXPECT_EQ(read.epoch, 3) << outer << inner << redrawn;
        EXPECT_FALSE(read.evaluating);
      }
    }
  }
  EXPECT_EQ(Read(Bars("Batches: ", 60, 100)).iteration, std::nullopt);
  EXPECT_EQ(Read("Batches:  45%|##   | 45/100 [00:12<00:15, 3.20it/s, loss=0.5]").iteration, 45);
}

// A bar without losses that begins when the training's ends is an evaluation.
TEST(LogProgress, ABarWithoutTheLossesOfTheTrainingIsAnEvaluation) {
  std::string log;
  for (int64_t i = 0; i <= 190; ++i) {
    log += fmt::format("\r  1%|#  | {}/190 [00:01<00:10, 1.01it/s, train_loss=1.1]", i);
  }
  EXPECT_EQ(Read(log + Bars("", 64, 137)).iteration, 190);
}

TEST(LogProgress, AnnouncedEvaluationIsNoTraining) {
  const std::string log = "***** Running Prediction *****\n  Batch size = 8\n";
  EXPECT_EQ(Read(log + Bars("", 60, 228)).iteration, std::nullopt);
  EXPECT_EQ(Read(log + Bars("", 60, 60) + Bars("", 9, 100)).iteration, 9);
  EXPECT_EQ(Read(log + "***** Running training *****\n" + Bars("", 60, 228)).iteration, 60);
}

TEST(LogProgress, ASettingIsNoProgress) {
  for (const std::string_view text :
       {"Namespace(epochs=100, steps=5000, lr=0.001, batch_size=32, loss=\"ce\")",
        "{'lr': 0.001, 'steps': 5000, 'epochs': 10, 'batch_size': 32}",
        R"({"learning_rate": 0.001, "max_steps": 5000, "step": 0, "epochs": 10})",
        R"({"lr": 0.001, "steps": 5000})", "hparams: lr=0.001, steps=5000, epochs=10",
        "steps: 5000",
        "Config: max_steps: 1000, eval_every: 100, global_step: 0, learning_rate: 1e-4"}) {
    std::string log = fmt::format("{}\n", text);
    EXPECT_EQ(Read(log + log).format, "") << text;
    for (int i = 10; i <= 400; i += 10) log += fmt::format("step {} loss 2.1 lr 1e-4\n", i);
    EXPECT_EQ(Read(log).iteration, 400) << text;
    EXPECT_EQ(Read(log + std::string(text)).iteration, 400) << text;
    EXPECT_EQ(Read(log).counted, 390) << text;
  }
  EXPECT_EQ(Read("step: 10\nstep: 20\n").iteration, 20) << "it grows";
}

// Neither bar has a name.
TEST(LogProgress, ShorterOfTwoAlternatingBarsIsNoTraining) {
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

TEST(LogProgress, WithAnOwnPatternOthersOnlyMarkEvaluation) {
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

TEST(LogProgress, ReportsACheckpointBesideTheProgress) {
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

// The number in the description is the bar's own count, slightly earlier or later.
TEST(LogProgress, ABarOfEpochsCountsEpochs) {
  for (const int64_t offset : {-1, 0, 1, 50}) {
    std::string plain;
    std::string cri;
    for (int64_t done = 0; done <= 60; ++done) {
      const std::string bar =
          Clocked(fmt::format("Epoch {} loss 0.5", done + offset), done, 100, 4 * done);
      plain += bar;
      cri += At(static_cast<int>(4 * done), bar);
    }
    for (const std::string& log : {plain, cri}) {
      const TrainingProgress read = Read(log);
      EXPECT_EQ(read.iteration, 60);
      EXPECT_EQ(read.counted, 60) << offset;
      EXPECT_NEAR(read.rate.value_or(0), 0.25, 1e-6);
      EXPECT_NEAR(read.overall_rate.value_or(0), 0.25, 1e-6);
    }
  }
}

// The bar is drawn again when its description changes, before it advances.
TEST(LogProgress, ABarThatIsDrawnForEveryDescriptionCountsOnce) {
  std::string log;
  for (int64_t done = 0; done < 60; ++done) {
    log += Clocked(fmt::format("Epoch {}", done), done, 100, 4 * done);
    log += Clocked(fmt::format("Epoch {}", done + 1), done, 100, 4 * done + 3);
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.counted, 59);
  EXPECT_NEAR(read.overall_rate.value_or(0), 0.25, 0.01);
}

TEST(LogProgress, OneBarOverAllEpochsIsNoBarPerEpoch) {
  std::string bars;
  std::string lines;
  for (int64_t done = 0; done <= 300; done += 5) {
    const auto second = static_cast<int>(4 * done);
    bars += Clocked(fmt::format("Epoch {}", done / 100), done, 1000, second);
    lines += At(second, fmt::format("epoch {} step {}/1000 loss 0.5", done / 100, done));
  }
  EXPECT_EQ(Read(bars).counted, 300);
  const TrainingProgress read = Read(lines);
  EXPECT_EQ(read.counted, 300);
  EXPECT_DOUBLE_EQ(read.rate.value_or(0), 0.25);
  std::string fractions;
  for (int i = 0; i < 60; ++i) {
    fractions += At(i, fmt::format(R"({{"epoch": {:.3f}, "step": {}, "loss": 0.5}})", 0.01 * i, i));
  }
  EXPECT_EQ(Read(fractions).counted, 59);
}

TEST(LogProgress, AddsUpEpochsWhoseCountRestarts) {
  std::string log;
  for (int i = 0; i < 30; ++i) {
    log += At(i, fmt::format("Epoch [{}/3], Step [{}/600]", i / 10 + 1, i % 10 * 60 + 60));
  }
  EXPECT_EQ(Read(log).counted, 1740);
  // This bar is written only when it ends.
  EXPECT_EQ(Read("Epoch 1 ━━━━ 20/20 0:00:01\nEpoch 2 ━━━━ 20/20 0:00:01\n").counted, 20);
}

// Words in the description appear, disappear and change.
TEST(LogProgress, BarContinuesUnderAnyDescription) {
  const auto descriptions = {
      +[](int64_t i) { return fmt::format("Epoch 5 lr={}", 2e-7 * static_cast<double>(i)); },
      +[](int64_t i) { return fmt::format("Epoch 5 loss={}", i < 500 ? "0.31" : "nan"); },
      +[](int64_t i) { return std::string(i % 70 == 0 ? "Training *best*" : "Training"); },
      +[](int64_t i) {
        return std::string(i < 10 ? "Begin" : i < 500 ? "Warmup" : "Main");
      },
      +[](int64_t i) { return std::string(i < 300 || i > 600 ? "Epoch 5" : "Epoch 5 evaluating"); },
      +[](int64_t i) { return "Training " + std::string(static_cast<size_t>(i / 10 % 7), 'x'); },
  };
  for (const auto describe : descriptions) {
    std::string cri;
    for (int64_t i = 0; i <= 1000; i += 10) {
      cri += At(static_cast<int>(4 * i / 10), Clocked(describe(i), i, 1000, 4 * i / 10));
    }
    const TrainingProgress read = Read(cri);
    EXPECT_EQ(read.iteration, 1000) << describe(500);
    EXPECT_EQ(read.total, 1000);
    EXPECT_EQ(read.counted, 1000) << describe(500);
    EXPECT_NEAR(read.rate.value_or(0), 2.5, 1e-6) << describe(500);
    EXPECT_FALSE(read.evaluating);
  }
}

// The next epoch's bar has another description, too.
TEST(LogProgress, EpochsWithRenamedBarsCount) {
  std::string log;
  int second = 0;
  for (const std::string_view name : {"Epoch 1", "Epoch 2 *best*", "Epoch 3", "Epoch 4 (final)"}) {
    for (int64_t i = 0; i <= 100; i += 10) log += At(second += 4, Clocked(name, i, 100, i / 2));
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 100);
  EXPECT_EQ(read.counted, 400);
}

// An evaluation of the same length has its own bar, wherever it overtakes the training's.
TEST(LogProgress, AnEvaluationOfTheSameLengthIsNoTraining) {
  std::string log;
  int second = 0;
  for (int64_t i = 0; i <= 50; ++i) log += At(second++, Clocked("Epoch 1", i, 100, i));
  for (int64_t i = 0; i <= 100; ++i) log += At(second++, Clocked("Evaluating", i, 100, i));
  EXPECT_EQ(Read(log).iteration, 50);
  EXPECT_TRUE(Read(log).evaluating);
  for (int64_t i = 51; i <= 100; ++i) log += At(second++, Clocked("Epoch 1", i, 100, i + 100));
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.counted, 100);
  EXPECT_NEAR(read.rate.value_or(0), 1, 1e-6);
}

// verl has a bar and prints every step; so do many loops of users.
TEST(LogProgress, LinesBesideABarCountOnce) {
  std::string log;
  for (int64_t i = 0; i <= 40; ++i) {
    if (i > 0) {
      log += At(static_cast<int>(4 * i),
                fmt::format("(TaskRunner pid=12) step:{} - actor/pg_loss:0.5 - actor/lr:1e-6", i));
    }
    log += At(static_cast<int>(4 * i), Clocked("Training Progress", i, 624, 4 * i));
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 40);
  EXPECT_EQ(read.total, 624);
  EXPECT_EQ(read.counted, 40);
  EXPECT_FALSE(read.epoch);
  EXPECT_FALSE(read.evaluating);
  EXPECT_DOUBLE_EQ(read.rate.value_or(0), 0.25);
  EXPECT_EQ(read.loss, 0.5);
}

TEST(LogProgress, ALineBesideABarGivesTheEpoch) {
  std::string log;
  for (int64_t i = 0; i <= 60; ++i) {
    log += "\r" + Bar("", i, 100);
    if (i % 20 > 0) continue;
    log += fmt::format(
        "\n{{'loss': 0.5, 'learning_rate': 1e-06, 'epoch': {}, "
        "'global_step/max_steps': '{}/100'}}\n",
        0.02 * static_cast<double>(i), i);
    if (i == 20) log += "Val: 100%|##| 9/9 [00:01<00:00, 9it/s]\n{'eval_runtime': 1.5}\n";
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 60);
  EXPECT_EQ(read.epoch, 1.2);
  EXPECT_EQ(read.counted, 60);
}

TEST(LogProgress, LightningsCheckpointsCountOnlyWithoutABar) {
  std::string log;
  std::string bars;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const std::string saved =
        At(100 * epoch + 99, fmt::format("Epoch {}, global step {}: 'val_loss' reached 0.35 (best "
                                         "0.35), saving model to 'e.ckpt' as top 1",
                                         epoch, 50 * (epoch + 1)));
    for (int i = 0; i <= 50; i += 5) {
      bars +=
          At(100 * epoch + 2 * i - (i == 50 ? 2 : 0),
             fmt::format("Epoch {}: 5%|  | {}/50 [00:{:02}<00:10, 1it/s, v_num=0]", epoch, i, i));
    }
    bars += saved;
    log += saved;
  }
  EXPECT_EQ(Read(log).format, "lightning");
  EXPECT_EQ(Read(log).iteration, 200);
  EXPECT_DOUBLE_EQ(Read(log).rate.value_or(0), 0.5);
  EXPECT_EQ(Read(bars).iteration, 50);
  EXPECT_EQ(Read(bars).counted, 200);
  EXPECT_EQ(Read(bars).epoch, 3);
}

TEST(LogProgress, KubectlsPrefixAndTimes) {
  std::string log;
  for (int second = 0; second < 60; ++second) {
    log +=
        fmt::format("[pod/ranking-0/train] 2026-11-22T07:00:{:02}.000000000Z step {}/1000 loss 2\n",
                    second, 5 * second);
  }
  const TrainingProgress read = Read(log);
  EXPECT_EQ(read.iteration, 295);
  EXPECT_EQ(read.total, 1000);
  EXPECT_DOUBLE_EQ(read.rate.value_or(0), 5);
  EXPECT_DOUBLE_EQ(read.overall_rate.value_or(0), 5);
}

TEST(LogProgress, RichOutsideATerminalAsItWasRecorded) {
  const TrainingProgress read = Read(Recorded("rich_file.log"));
  EXPECT_EQ(read.iteration, 20);
  EXPECT_EQ(read.total, 20);
  EXPECT_EQ(read.epoch, 3);
  EXPECT_EQ(read.counted, 40);  // counted from the first line
}

// The lines of frameworks come from public reports: tests/data/progress/README.md.
TEST(LogProgress, FrameworksAsTheyWereReported) {
  const TrainingProgress maxtext = Read(Recorded("maxtext.log"));
  EXPECT_EQ(maxtext.format, "maxtext");
  EXPECT_EQ(maxtext.iteration, 3);
  const TrainingProgress verl = Read(Recorded("verl.log"));
  EXPECT_EQ(verl.iteration, 2);
  EXPECT_EQ(verl.total, 624);
  const TrainingProgress paddle = Read(Recorded("paddleseg.log"));
  EXPECT_EQ(paddle.format, "paddle");
  EXPECT_EQ(paddle.iteration, 120);
  EXPECT_EQ(paddle.total, 500);
  EXPECT_EQ(paddle.counted, 100);
  EXPECT_NEAR(paddle.rate.value_or(0), 20 / 7.2, 0.2);
}

TEST(LogProgress, ObjectIsSmall) { EXPECT_LE(sizeof(LogProgress), 16U << 10); }

}  // namespace
}  // namespace synergy
