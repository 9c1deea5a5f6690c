// Lines that count without a word for it, tables, and lines of whole epochs.

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "progress/log_progress.h"

namespace synergy {
namespace {

// Returns `count` lines, a second apart: {} is the number, which grows by `step`.
std::string Counted(std::string_view form, int count, int step) {
  std::string log;
  for (int i = 1; i <= count; ++i) {
    log += fmt::format("2026-11-22T07:{:02}:{:02}Z stdout F {}\n", i / 60, i % 60,
                       fmt::format(fmt::runtime(form), step * i));
  }
  return log;
}

std::string Measured(std::string_view text) {
  LogProgress log;
  log.Feed(text);
  log.End();
  const TrainingProgress read = log.Current();
  if (read.format.empty()) return "nothing";
  const auto number = [](const auto& value) {
    return value ? fmt::format("{:.4g}", static_cast<double>(*value)) : "-";
  };
  return fmt::format("{} {}/{} epoch {} rate {} loss {}", read.format, number(read.iteration),
                     number(read.total), number(read.epoch), number(read.rate), number(read.loss));
}

TEST(Loose, NumbersBesideALossCountOnceTheyGrow) {
  struct Case {
    std::string_view form;
    std::string_view read;
  };
  for (const auto& [form, read] : {
           Case{"[2, {:5}] loss: 1.615", "steps 500/- epoch 2 rate 50 loss 1.615"},
           Case{"loss: 1.5  [{:>5}/60000]", "steps 500/6e+04 epoch - rate 50 loss 1.5"},
           Case{">>> [ {:4} /  2000] ==> cost=1.75", "steps 500/2000 epoch - rate 50 loss 1.75"},
           Case{"({}) loss: 0.5 (avg 0.6)", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"I0302 07:00:00.1 7 utils.py:1] [{}] training_loss = 0.5",
                "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"{} | loss 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"seen {}/50000 samples (1.0%), running loss 2.5",
                "steps 500/5e+04 epoch - rate 50 loss 2.5"},
           Case{"trained on {}/50000 samples, loss 2.5",
                "steps 500/5e+04 epoch - rate 50 loss 2.5"},
           Case{"minibatch {} cost 0.5 (31.2 ms)", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"batch {} loss 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"4m 25s (- 62m 0s) ({} 6%) 2.8543", "steps 500/- epoch - rate 50 loss 2.854"},
           Case{"{} 5% (0m 4s) 2.6452 Hinkle", "steps 500/- epoch - rate 50 loss 2.645"},
           Case{"batch_idx {} loss 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{R"({{"batch": {}, "loss": 0.5}})", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"epoch 2, {} loss 0.5", "steps 500/- epoch 2 rate 50 loss 0.5"},
           Case{"progress {}/9000, loss 0.5", "steps 500/9000 epoch - rate 50 loss 0.5"},
           Case{"Cost after iteration {}: 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"INFO:mimic:[{}, 9.99e-05]", "steps 500/- epoch - rate 50 loss -"},
       }) {
    EXPECT_EQ(Measured(Counted(form, 10, 50)), read) << form;
    EXPECT_EQ(Measured(Counted(form, 2, 50)), "nothing") << form;
    EXPECT_EQ(Measured(Counted(form, 10, 0)), "nothing") << form;
  }
}

TEST(Loose, NumbersOfOtherThingsDoNotCount) {
  for (const std::string_view form : {"rank [{}/400] loss 0.5",
                                      "fold ({}/400) loss: 0.5",
                                      "layer [{}/400] loss 0.5",
                                      "[1, {}] val loss: 0.5",
                                      "({}) eval_loss: 0.5",
                                      "Validation: [{}/400] loss 0.5",
                                      "POST /v1/loss/{} HTTP/1.1",
                                      "INFO [{}, 2]",
                                      "downloaded {}/400 samples",
                                      "packets lost {}: loss 0.5%",
                                      "port {} opened",
                                      "packet loss 5% on eth0 [{}/400]",
                                      "calibration [{}/512] loss 0.5",
                                      "[{}, 100] accuracy",
                                      "best epoch {} loss 0.5",
                                      "Loaded checkpoint of epoch {} (loss 0.5)",
                                      "Epoch {} took 12.5 s",
                                      "Epoch {} validation loss 0.5",
                                      "{{'epochs': {}, 'loss': 'mse'}}",
                                      "Epoch {}: val_loss improved from 0.5 to 0.4"}) {
    EXPECT_EQ(Measured(Counted(form, 10, 5)), "nothing") << form;
  }
}

TEST(Loose, UnsteadyNumbersDoNotCount) {
  std::string log;
  int64_t number = 1;
  for (int i = 0; i < 8; ++i, number *= 9) log += fmt::format("({}) loss: 0.5\n", number);
  EXPECT_EQ(Measured(log), "nothing");
  log.clear();
  for (int i = 0; i < 20; ++i) log += fmt::format("({}) loss: 0.5\n", i % 2);
  EXPECT_EQ(Measured(log), "nothing");
}

TEST(Loose, EpochsCountWhereNothingFinerIsPrinted) {
  for (const std::string_view form :
       {"Epoch {}: train_loss=0.5 val_loss=0.6", "Epoch  {} | train 0.5 | loss 0.5",
        "epoch: {}, train_loss: 0.5, train_accuracy: 98.00", R"({{"epoch": {}, "loss": 0.5}})",
        R"({{"loss": 0.5, "epoch": {}}})", "level=info msg=done epoch={} loss=0.5",
        "[ Info: Epoch {} | train_loss = 0.5", "Epoch: {:03}, Loss: 0.5", "Ep {} loss 0.5"}) {
    EXPECT_EQ(Measured(Counted(form, 10, 1)), "epochs 10/- epoch 10 rate 1 loss 0.5") << form;
    EXPECT_EQ(Measured(Counted(form, 2, 1)), "nothing") << form;
  }
  EXPECT_EQ(Measured(Counted("Epoch [{}/50] Loss: 0.5", 10, 1)),
            "epochs 10/50 epoch 10 rate 1 loss 0.5");
  const std::string epochs = Counted("Epoch {}: train_loss=0.5", 10, 1);
  EXPECT_EQ(Measured(epochs + Counted("({}) loss: 0.25", 10, 50)),
            "steps 500/- epoch - rate 50 loss 0.25");
  EXPECT_EQ(Measured(epochs + Counted("step {} loss 0.25", 10, 50)),
            "steps 500/- epoch - rate 50 loss 0.25");
  EXPECT_EQ(Measured(Counted("step {} loss 0.25", 10, 50) + epochs),
            "steps 500/- epoch - rate 50 loss 0.25");
}

TEST(Loose, TheCountNeverFallsWhenAFirmerOneReplacesIt) {
  LogProgress log;
  int64_t before = 0;
  for (const std::string& text :
       {Counted("Epoch {}: train_loss=0.5", 10, 1), Counted("({}) loss: 0.25", 10, 50),
        Counted("step {} loss 0.25", 10, 50)}) {
    log.Feed(text);
    EXPECT_GT(log.Current().counted, before);
    before = log.Current().counted;
  }
  EXPECT_EQ(before, 9 + 450 + 450);
}

TEST(Loose, ATablesHeaderNamesTheCount) {
  EXPECT_EQ(Measured(" epoch |   step |   loss |     lr   |  s/step\n" +
                     Counted("     2 |   {:4} | 0.5000 | 3.00e-04 | 0.414", 10, 50)),
            "nothing")
      << "the log's form is that of its first line";
  const auto table = [](std::string_view header, std::string_view row, int step) {
    return Measured(fmt::format("2026-11-22T07:00:00Z stdout F {}\n", header) +
                    Counted(row, 10, step));
  };
  EXPECT_EQ(table(" epoch |   step |   loss | lr ", "     2 | {:6} | 0.5000 | 3e-4", 50),
            "steps 500/- epoch 2 rate 50 loss 0.5");
  EXPECT_EQ(table("E    #       LOSS TOK2VEC  LOSS NER  ENTS_F  SCORE ",
                  "  2    {:4}          0.50     88.83    0.00    0.00", 50),
            "steps 500/- epoch 2 rate 50 loss 0.5");
  EXPECT_EQ(table("epoch     train_loss  valid_loss  accuracy  time    ",
                  "{}         0.500000    0.400000    0.880000  00:12", 1),
            "epochs 10/- epoch 10 rate 1 loss 0.5");
  EXPECT_EQ(table("step,loss,lr", "{},0.5,0.001", 50), "steps 500/- epoch - rate 50 loss 0.5");
  EXPECT_EQ(table("step | val_loss", "{} | 0.5", 50), "nothing");
  EXPECT_EQ(table("name | size", "{} | 0.5", 50), "nothing");
  EXPECT_EQ(table("step | loss", "{} | 0.5 | 7", 50), "nothing");
}

TEST(Loose, ShortWordsAndOtherPrintStatements) {
  struct Case {
    std::string_view form;
    std::string_view read;
  };
  for (const auto& [form, read] : {
           Case{"it {} | loss 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"[train] it {}/10000 loss 0.5", "steps 500/1e+04 epoch - rate 50 loss 0.5"},
           Case{"Ep 3 It {} L 1.6230", "steps 500/- epoch 3 rate 50 loss -"},
           Case{"Ep 3 iter {} loss 0.5", "steps 500/- epoch 3 rate 50 loss 0.5"},
           Case{"   --> STEP: {}/639 -- GLOBAL_STEP: 914", "coqui 500/639 epoch - rate 50 loss -"},
           Case{"NOTE: Steps:{}/90000 [2.2%]", "big_vision 500/9e+04 epoch - rate 50 loss -"},
           Case{R"("Training step" step={} total=20000 loss=0.5)",
                "steps 500/2e+04 epoch - rate 50 loss 0.5"},
           Case{"step={0} total={0}00 loss=0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"Training |███| ▃▅▇ {}/1000 [45%] in 40s (11.2/s, eta: 49s)",
                "tqdm 500/1000 epoch - rate 50 loss -"},
           Case{"80.00%┣███ ┫ {}/600 [00:30<00:30, 16.00i/s]",
                "tqdm 500/600 epoch - rate 50 loss -"},
           Case{"[1] \"iteration {} of 900  deviance 0.5\"", "json 500/900 epoch - rate 50 loss -"},
           Case{"10:01:12 | time:60s total_exs:9120 total_steps:{} epochs:0.07 time_left:9s",
                "parlai 500/- epoch 0.07 rate 50 loss -"},
           Case{"made it {} today", "nothing"},
           Case{"calibration step {}/512 loss 0.5", "nothing"},
           Case{"x logging_writer.py:48] [{}] collection=eval loss=0.5", "nothing"},
           Case{"x logging_writer.py:48] [{}] collection=training_eval/a loss=0.5", "nothing"},
           Case{"x logging_writer.py:48] [{}] collection=train loss=0.5",
                "flax 500/- epoch - rate 50 loss 0.5"},
       }) {
    EXPECT_EQ(Measured(Counted(form, 10, 50)), read) << form;
  }
}

TEST(Loose, SpeedsCountOnlyWhereTheyAreATrainings) {
  const auto rate = [](std::string_view form) {
    std::string log;
    for (int i = 1; i <= 5; ++i) log += fmt::format(fmt::runtime(form), 50 * i) + "\n";
    LogProgress read;
    read.Feed(log);
    read.End();
    return read.Current().rate.value_or(-1);
  };
  for (const std::string_view form :
       {"it {} | loss 0.5 | 250 ms/it", "step {} loss 0.5 (0.25 sec/step)",
        "step {}, loss: 0.5, speed: 4.0 step/s", "update {} loss=0.5 ups=4.0",
        "step:{}/4578 train_loss:0.5 train_time:161ms step_avg:250ms",
        "step {} | loss 0.5 | lr 1e-4 | 250.00 ms | 45.1% bf16 MFU", "step {} loss 0.5, dt: 250ms",
        "Iteration #{} finished in 0.25 s, loss = 0.5",
        "{} | loss 0.5 | lr 4.9e-05 | 250ms | mfu 31.21%",
        "loss = 0.5, step = {}\nINFO:tensorflow:global_step/sec: 4.0",
        "step {} | loss 0.5 | dt 250.0ms | tok/sec 14038", "step {} loss 0.5, iter time 0.25 s",
        "global_step={}, loss=0.5\nSPS: 4",
        "epoch: 1 step: {}, loss is 0.5\nTrain epoch time: 9000 ms, per step time: 250.0 ms"}) {
    EXPECT_DOUBLE_EQ(rate(form), 4) << form;
  }
  for (const std::string_view form :
       {"step {} loss 0.5 eval 4.0 it/s", "step {} loss 0.5 data time 0.25 s/step",
        "step {} loss 0.5 time: 0.25s", "step {} loss 0.5 eval_step_time: 0.25s",
        "step {} loss 0.5 4.0 samples/s"}) {
    EXPECT_DOUBLE_EQ(rate(form), -1) << form;
  }
}

TEST(Loose, AColumnOfATableMayHaveTheSpeed) {
  const auto rate = [](std::string_view column, std::string_view value) {
    std::string log = fmt::format("  iter |  loss |  {}\n-------+-------+------\n", column);
    for (int i = 1; i <= 5; ++i) log += fmt::format("  {} | 0.5 | {}\n", 50 * i, value);
    LogProgress read;
    read.Feed(log);
    read.End();
    return read.Current().rate.value_or(-1);
  };
  EXPECT_DOUBLE_EQ(rate("ms/it", "250.0"), 4);
  EXPECT_DOUBLE_EQ(rate("s/step", "0.25"), 4);
  EXPECT_DOUBLE_EQ(rate("steps/s", "4.0"), 4);
  EXPECT_DOUBLE_EQ(rate("ms/token", "250.0"), -1);
  EXPECT_DOUBLE_EQ(rate("ms/it", "0.0"), -1);
}

TEST(Loose, AnotherStageHasASpeedOfItsOwn) {
  std::string log;
  for (int i = 1; i <= 60; ++i) log += fmt::format("iter {}/600 loss 0.5 0.50 s/iter\n", 10 * i);
  for (int i = 1; i <= 9; ++i) log += fmt::format("iter {}/2000 loss 0.5 0.25 s/iter\n", 10 * i);
  LogProgress read;
  read.Feed(log);
  read.End();
  EXPECT_DOUBLE_EQ(read.Current().rate.value_or(0), 4);
}

TEST(Loose, ABarWhoseLinesHaveOneTimeHasItsOwnClock) {
  const auto rate = [](std::string_view form) {
    std::string log = "2026-11-22T07:00:00Z started\n2026-11-22T07:05:00Z ";
    for (int i = 1; i <= 40; ++i) {
      log +=
          fmt::format(fmt::runtime(form), 20 * i, (1000 - 20 * i) / 4, i / 12, 5 * i % 60) + "\r";
    }
    LogProgress read;
    read.Feed(log);
    read.End();
    return read.Current().rate.value_or(-1);
  };
  EXPECT_DOUBLE_EQ(rate(" {0}/1000 [==>....] - ETA: {1}s - loss: 0.5"), 4);
  EXPECT_DOUBLE_EQ(
      rate("train: [=>  ] data={0:07}/0001000 loss=0.5±0.1 acc=9% t=00:{2:02}:{3:02} "), 4);
}

TEST(Loose, AHeadingAndALossBelowItAreAnEpoch) {
  EXPECT_EQ(Measured(Counted("Epoch {0}/20\n2026-11-22T07:09:{0:02}Z stdout F Train metrics: Loss: "
                             "0.5 - Acc: 0.7\n2026-11-22T07:09:{0:02}Z stdout F Valid metrics: "
                             "Loss: 0.7",
                             10, 1))
                .substr(0, 18),
            "epochs 10/20 epoch");
  EXPECT_EQ(Measured(Counted("Epoch {0} \n2026-11-22T07:09:{0:02}Z stdout F train_loss -0.5\n"
                             "2026-11-22T07:09:{0:02}Z stdout F val_loss 0.7",
                             10, 1))
                .substr(0, 17),
            "epochs 10/- epoch");
  EXPECT_EQ(
      Measured(Counted("Epoch {0}/20\n2026-11-22T07:09:{0:02}Z stdout F val_loss 0.7", 10, 1)),
      "nothing");
  EXPECT_EQ(Measured(Counted("Epoch 9999999999999999999999{:02}\n2026-11-22T07:09:09Z stdout F "
                             "train_loss 0.5",
                             10, 1)),
            "nothing");
}

TEST(Loose, PartsOfAnEpochCountWhereTheLengthIsPrinted) {
  const std::string sizes =
      "2026-11-22T06:00:00Z stdout F   Num Epochs = 4\n"
      "2026-11-22T06:00:01Z stdout F   Total optimization steps = 400\n";
  const std::string dicts =
      Counted("{{'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 0.{:02}}}", 10, 5);
  EXPECT_EQ(Measured(sizes + dicts), "huggingface 50/400 epoch 0.5 rate 5 loss 0.5");
  EXPECT_EQ(Measured(dicts).substr(0, 15), "huggingface -/-");
  EXPECT_EQ(Measured(sizes + Counted("Loading shards:  50%|#   | {}/4 [00:10<10:00]", 4, 1) + dicts)
                .substr(0, 18),
            "huggingface 50/400");
  const std::string bar = Counted("  1%|#   | {}/400 [00:10<10:00, 5.0it/s]", 4, 1);
  EXPECT_EQ(Measured(sizes + bar + dicts).substr(0, 17), "huggingface 4/400");
}

TEST(Loose, TheBarsOfAServerAreNoTraining) {
  const auto served = [](int times, int total, std::string_view between) {
    std::string log;
    for (int i = 0; i < times; ++i) {
      for (int step = 0; step <= total; step += 10) {
        log += fmt::format("\r{:3}%|##| {}/{} [00:01<00:01, 20.0it/s]", 100 * step / total, step,
                           total);
      }
      log += fmt::format("\n{}\n", between);
    }
    return log;
  };
  constexpr std::string_view kPost = R"(INFO: 10.0.0.1:5123 - "POST /generate HTTP/1.1" 200 OK)";
  for (const int times : {1, 2, 5}) EXPECT_EQ(Measured(served(times, 50, kPost)), "nothing");
  const std::string half = "\r 50%|##| 10/20 [00:01<00:01, 20.0it/s]";
  EXPECT_EQ(Measured(served(3, 50, kPost) + served(3, 30, kPost) + half), "nothing");
  EXPECT_NE(Measured(served(3, 50, R"("GET /metrics HTTP/1.1" 200)")), "nothing");
  EXPECT_NE(Measured(served(3, 50, R"(x https://api.acme.org:443 "POST /runs HTTP/1.1" 200)")),
            "nothing");
  EXPECT_NE(Measured(served(3, 50, "Epoch 3 loss 0.5\n" + std::string(kPost))), "nothing");
}

TEST(Loose, WordsOfOtherLanguagesCount) {
  struct Case {
    std::string_view form;
    std::string_view read;
  };
  for (const auto& [form, read] : {
           Case{"Epoche 4/15, Schritt {}/900, Verlust: 0,5",
                "steps 500/900 epoch 4 rate 50 loss 0.5"},
           Case{"第6/20轮 第{}/900批 损失: 0.5 学习率: 0.001",
                "steps 500/900 epoch 6 rate 50 loss 0.5"},
           Case{"步骤 step {} 损失 0.5", "steps 500/- epoch - rate 50 loss 0.5"},
           Case{"エポック 3/9 ステップ {}/900 損失: 0.5", "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"에폭 3/9 스텝 {}/900 손실: 0.5", "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"Эпоха 3/9 Шаг {} из 900, потери: 0.5", "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"Époque 3/9, étape {} sur 900, perte : 0,5",
                "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"Época 3/9, paso {} de 900, pérdida: 0.5",
                "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"Epoca 3/9, passo {}/900, perdita: 0.5", "steps 500/900 epoch 3 rate 50 loss 0.5"},
           Case{"Validierung: Schritt {}/900, Verlust: 0,5", "nothing"},
           Case{"Schritt {} von 900: Paket wird installiert", "nothing"},
           Case{"passo {} di 900 eseguito", "nothing"},
       }) {
    EXPECT_EQ(Measured(Counted(form, 10, 50)), read) << form;
  }
  EXPECT_EQ(Measured(Counted("Эпоха {} из 100: ошибка обучения 0.5, ошибка валидации 0.7", 10, 1)),
            "epochs 10/100 epoch 10 rate 1 loss 0.5");
}

TEST(Loose, TimesOfMoreLoggersAreRead) {
  for (const auto& [form, each] :
       {std::pair{"ts=2026-03-02T07:00:{:02}Z level=info step={} loss=0.5", 1},
        std::pair{R"({{"ts":17724348{:02}.5,"step":{},"loss":0.5}})", 1},
        std::pair{"17724348{:02}.5 step {} loss 0.5", 1},
        std::pair{"[ Wed Jun  6 16:01:{:02} 2018 ] step {} loss 0.5", 1}}) {
    std::string log;
    for (int i = 10; i <= 20; ++i) log += fmt::format(fmt::runtime(form), i, 5 * i * each) + "\n";
    LogProgress read;
    read.Feed(log);
    read.End();
    EXPECT_DOUBLE_EQ(read.Current().rate.value_or(0), 5) << form;
  }
}

TEST(Loose, ABarBeforeRequestsToAModelIsNoTraining) {
  const std::string bar = Counted("100%|##| {}/50 [00:10<00:00, 5.0it/s]", 10, 5);
  const std::string requests =
      Counted("Running loglikelihood requests: 10%|#| {}/99 [00:10<00:00]", 3, 9);
  EXPECT_EQ(Measured(bar + requests), "nothing");
  EXPECT_NE(
      Measured("2026-11-22T07:00:00Z stdout F {'loss': 0.5, 'epoch': 0.1}\n" + bar + requests),
      "nothing");
  EXPECT_NE(Measured(bar + Counted("Evaluating: 10%|#| {}/99 [00:10<00:00]", 3, 9)), "nothing");
}

TEST(Loose, WorkBeforeAResumeIsNoneOfTheOverallRate) {
  std::string log = "  0%| | 0/4000 [00:00<?, ?it/s]\r";
  for (int i = 0; i < 20; ++i) {
    log += fmt::format(" 10%|#| {}/4000 [00:{:02}<10:00, 5.0it/s]\r", 1510 + 10 * i, 4 + 2 * i);
  }
  LogProgress read;
  read.Feed(log);
  read.End();
  EXPECT_DOUBLE_EQ(read.Current().overall_rate.value_or(0), 5);
}

TEST(Loose, AnEvaluationBeforeTheTrainingDoesNotHideIt) {
  const std::string evaluation = Counted("validation: [{}/500] loss: 0.7", 5, 10);
  EXPECT_EQ(Measured(evaluation), "nothing");
  EXPECT_EQ(Measured(evaluation + Counted("[{}/5000] loss: 0.5", 10, 50)).substr(0, 14),
            "steps 500/5000");
}

}  // namespace
}  // namespace synergy
