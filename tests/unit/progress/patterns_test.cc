#include "progress/patterns.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

// Returns "FORMAT KIND ITERATION/TOTAL EPOCH RATE LOSS", "-" for a missing value.
std::string Describe(std::string_view text) {
  const std::optional<ProgressLine> line = ReadProgressLine(text);
  if (!line) return "nothing";
  constexpr std::string_view kKinds[] = {"training", "evaluation", "other", "end", "failure"};
  if (line->kind == LineKind::kEvaluation || line->kind == LineKind::kOther) {
    return std::string(kKinds[static_cast<size_t>(line->kind)]);
  }
  return fmt::format("{} {} {}/{} epoch {} rate {} loss {}", line->format,
                     kKinds[static_cast<size_t>(line->kind)],
                     line->iteration ? std::to_string(*line->iteration) : "-",
                     line->total ? std::to_string(*line->total) : "-", Number(line->epoch),
                     Number(line->rate), Number(line->loss));
}

TEST(Patterns, Tqdm) {
  EXPECT_EQ(Describe(" 45%|████▌     | 450/1000 [00:12<00:15, 35.20it/s]"),
            "tqdm training 450/1000 epoch - rate 35.2 loss -");
  EXPECT_EQ(Describe("Epoch 3/10:   5%|▌         | 50/1000 [01:16<24:13,  1.53s/it, loss=0.35]"),
            "tqdm training 50/1000 epoch 3 rate 0.6536 loss 0.35");
  EXPECT_EQ(Describe("  0%|          | 0/1000 [00:00<?, ?it/s]"),
            "tqdm training 0/1000 epoch - rate - loss -");
  EXPECT_EQ(Describe("450it [00:12, 35.20it/s]"), "tqdm training 450/- epoch - rate 35.2 loss -");
  EXPECT_EQ(Describe("Steps:   3%|3         | 30/1000 [1:00:12<32:20:00, 2.30it/s, lr=1e-05, "
                     "step_loss=0.104]"),
            "tqdm training 30/1000 epoch - rate 2.3 loss 0.104");
  EXPECT_EQ(Describe("[1,3]<stdout>: 45%|####5     | 1.20k/2.00k [00:12<00:15, 1.5kit/s]"),
            "tqdm training 1200/2000 epoch - rate 1500 loss -");
  EXPECT_EQ(
      Describe("Training:  10%|#         | 5/50 [00:01<00:09, 4.9batch/s, val_loss=1, loss=2]"),
      "tqdm training 5/50 epoch - rate 4.9 loss 2");
  EXPECT_EQ(Describe("Distilling (2 h remaining):  10%|#         | 5/50 [00:01<00:09, 4.9it/s]"),
            "tqdm training 5/50 epoch - rate 4.9 loss -");
  EXPECT_EQ(ReadProgressLine(" 45%|##| 450/1000 [1:00:12<00:15, 35.20it/s]")->elapsed,
            std::chrono::seconds(3612));
}

TEST(Patterns, Lightning) {
  EXPECT_EQ(Describe("Epoch 2:  48%|████▊     | 450/938 [00:12<00:13, 35.20it/s, v_num=0, "
                     "train_loss=0.523]"),
            "lightning training 450/938 epoch 2 rate 35.2 loss 0.523");
  EXPECT_EQ(
      Describe("Epoch 0:  48%|####8     | 450/938 [00:12<00:13, 35.20it/s, loss=0.5, v_num=3]"),
      "lightning training 450/938 epoch 0 rate 35.2 loss 0.5");
  EXPECT_EQ(Describe("Epoch 0: |          | 12/? [00:03<00:00,  3.90it/s, v_num=0]"),
            "lightning training 12/- epoch 0 rate 3.9 loss -");
  EXPECT_EQ(Describe("Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00, 6.9it/s]"),
            "evaluation");
  EXPECT_EQ(Describe("Sanity Checking: |          | 0/? [00:00<?, ?it/s]"), "evaluation");
  EXPECT_EQ(Describe("Validation DataLoader 0:  50%|█████     | 5/10 [00:01<00:01,  4.2it/s]"),
            "evaluation");
}

TEST(Patterns, HuggingFace) {
  EXPECT_EQ(Describe("{'loss': 2.3047, 'grad_norm': 1.5, 'learning_rate': 4.9e-05, 'epoch': 0.24}"),
            "huggingface training -/- epoch 0.24 rate - loss 2.305");
  EXPECT_EQ(
      Describe("{'loss': '2.305', 'grad_norm': '1.5', 'learning_rate': '4e-05', 'epoch': '1'}"),
      "huggingface training -/- epoch 1 rate - loss 2.305");
  EXPECT_EQ(Describe("{'eval_loss': 0.4, 'eval_runtime': 1.2, 'epoch': 1.0}"), "evaluation");
  EXPECT_EQ(Describe("{'train_runtime': 52.1, 'train_samples_per_second': 61.4, "
                     "'train_steps_per_second': 7.68, 'train_loss': 0.5, 'epoch': 3.0}"),
            "huggingface end -/- epoch - rate 7.68 loss -");
}

TEST(Patterns, Keras) {
  EXPECT_EQ(Describe(" 938/1875 [==============>...............] - ETA: 3s - loss: 0.3012 - "
                     "accuracy: 0.9"),
            "keras training 938/1875 epoch - rate - loss 0.3012");
  EXPECT_EQ(Describe("1875/1875 [==============================] - 4s 2ms/step - loss: 0.3 - "
                     "val_loss: 0.4"),
            "keras training 1875/1875 epoch - rate 500 loss 0.3");
  EXPECT_EQ(Describe(" 938/1875 ━━━━━━━━━━━━━━━━━━━━ 1:17 250us/step - accuracy: 0.8 - loss: 0.5"),
            "keras training 938/1875 epoch - rate 4000 loss 0.5");
  EXPECT_EQ(Describe("1875/1875 - 3s - 2ms/step - accuracy: 0.9 - loss: 0.3"),
            "keras training 1875/1875 epoch - rate 500 loss 0.3");
  EXPECT_EQ(Describe("1875/1875 - 3s - loss: 0.3 - accuracy: 0.9 - 3s/epoch - 2ms/step"),
            "keras training 1875/1875 epoch - rate 500 loss 0.3");
  EXPECT_EQ(Describe("    938/Unknown 3s 3ms/step - loss: 0.5"),
            "keras training 938/- epoch - rate 333.3 loss 0.5");
  EXPECT_EQ(Describe("11490434/11490434 ━━━━━━━━━━━━━━━━━━━━ 0s 0us/step"), "evaluation");
  EXPECT_EQ(Describe("313/313 [==============================] - 1s 2ms/step"), "evaluation");
  EXPECT_EQ(ReadProgressLine("Epoch 3/10")->epoch, 3);
}

TEST(Patterns, DeepSpeed) {
  EXPECT_EQ(Describe("steps: 10 loss: 0.5021 iter time (s): 0.500 samples/sec: 64.000"),
            "deepspeed training 10/- epoch - rate 2 loss 0.5021");
  EXPECT_EQ(Describe("step:    10 /   500 loss: 0.5021 iter time (s): 0.250 samples/sec: 64.0 eta: "
                     "2m"),
            "deepspeed training 10/500 epoch - rate 4 loss 0.5021");
  EXPECT_EQ(Describe("[2026-11-22 07:05:03,250] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, "
                     "skipped=4, lr=[5e-05], mom=[(0.9, 0.95)]"),
            "deepspeed training 10/- epoch - rate - loss -");
  EXPECT_EQ(Describe("[2026-11-22 07:05:03,251] [INFO] [timer.py:260:stop] epoch=0/micro_step=40/"
                     "global_step=10, RunningAvgSamplesPerSec=25.02, CurrSamplesPerSec=25.7, "
                     "MemAllocated=4.32GB, MaxMemAllocated=38.49GB"),
            "deepspeed training 10/- epoch - rate - loss -");
}

TEST(Patterns, Megatron) {
  EXPECT_EQ(Describe(" [2026-11-22 07:05:03] iteration      100/  500000 | consumed samples:    "
                     "25600 | elapsed time per iteration (ms): 250.0 | learning rate: 1.5E-04 | "
                     "global batch size:   256 | lm loss: 5.905366E+00 | loss scale: 8192.0 |"),
            "megatron training 100/500000 epoch - rate 4 loss 5.905");
  EXPECT_EQ(Describe(" validation loss at iteration 1000 | lm loss value: 5.1E+00 |"),
            "evaluation");
  EXPECT_EQ(Describe("Evaluating iter 5/10"), "evaluation");
}

TEST(Patterns, NanoGpt) {
  EXPECT_EQ(Describe("iter 100: loss 3.2012, time 250.00ms, mfu 17.21%"),
            "nanogpt training 100/- epoch - rate 4 loss 3.201");
  EXPECT_EQ(Describe("step 250: train loss 2.1012, val loss 2.2034"), "evaluation");
}

TEST(Patterns, Timm) {
  EXPECT_EQ(Describe("Train: 3 [  50/1251 (  4%)]  Loss: 6.93 (6.95)  Time: 0.400s,  312.10/s  "
                     "(0.420s,  304.76/s)  LR: 1.000e-06  Data: 0.011 (0.020)"),
            "timm training 50/1251 epoch 3 rate 2.5 loss 6.93");
  EXPECT_EQ(Describe("Test: [  10/48]  Time: 0.100 (0.200)  Loss:   1.234 ( 1.300)"), "evaluation");
}

TEST(Patterns, TorchvisionAndPyTorchsExamples) {
  EXPECT_EQ(Describe("Epoch: [2]  [ 100/5005]  eta: 0:30:12  lr: 0.1  img/s: 310.5  loss: 6.91 "
                     "(6.95)  acc1: 0.5 (0.4)  time: 0.4000  data: 0.0100  max mem: 6500"),
            "torchvision training 100/5005 epoch 2 rate 2.5 loss 6.91");
  EXPECT_EQ(Describe("Epoch: [2][ 100/5005]\tTime  0.400 ( 0.600)\tData  0.001 ( 0.2)\tLoss "
                     "6.9e+00 (7.0e+00)"),
            "torchvision training 100/5005 epoch 2 rate 2.5 loss 6.9");
  EXPECT_EQ(Describe("Test:  [ 10/196]  eta: 0:00:12  loss: 1.2 (1.2)"), "evaluation");
  EXPECT_EQ(Describe("Test: [ 10/196]\tTime  0.1 ( 0.2)\tLoss 1.2e+00 (1.3e+00)"), "evaluation");
  EXPECT_EQ(Describe("Train Epoch: 1 [25600/60000 (43%)]\tLoss: 0.312"),
            "pytorch training 25600/60000 epoch 1 rate - loss 0.312");
  EXPECT_EQ(Describe("Epoch [1/5], Step [100/600], Loss: 0.1234"),
            "pytorch training 100/600 epoch 1 rate - loss 0.1234");
}

TEST(Patterns, WordLanguageModelAndLoopsByHand) {
  EXPECT_EQ(Describe("| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.00 | loss  7.63 | "
                     "ppl  2050.21"),
            "pytorch training 200/2983 epoch 1 rate 100 loss 7.63");
  EXPECT_EQ(Describe("| end of epoch   1 | time: 30.00s | valid loss  5.80 | valid ppl   330.30"),
            "evaluation");
  for (const std::string_view text :
       {"Epoch: 1/10, Step: 100/600, Loss: 0.25", "Epoch 1/10 | Batch 100/600 | loss 0.25",
        "Epoch 1, Iteration 100/600: train_loss=0.25",
        "INFO Epoch [1] Step [100/600], Loss 0.25"}) {
    EXPECT_EQ(Describe(text), "pytorch training 100/600 epoch 1 rate - loss 0.25") << text;
  }
  EXPECT_EQ(Describe("Validation: Epoch 1, Step 5/10, Loss: 0.3"), "evaluation");
  EXPECT_EQ(Describe("Epoch 1/10 | Batch 100/600 | Val Loss: 0.25"), "nothing");
}

TEST(Patterns, LitGptTorchTitanAndNeMo) {
  EXPECT_EQ(
      Describe("Epoch 1 | iter 64 step 1 | loss train: 10.970, val: n/a | iter time: 250.00 ms "
               "(step) remaining time: 1 day, 2:03:04"),
      "litgpt training 64/- epoch - rate 4 loss 10.97");
  EXPECT_EQ(Describe("iter 4: loss 10.9765, time: 250.00ms, speed: 2488 toks/s/device"),
            "nanogpt training 4/- epoch - rate 4 loss 10.98");
  EXPECT_EQ(Describe("[titan] 2026-10-01 10:00:00,000 - root - INFO - step: 10  loss:  8.1234  "
                     "memory: 12.34GiB(15.00%)  tps: 12,345  mfu: 40.12%"),
            "torchtitan training 10/- epoch - rate - loss 8.123");
  EXPECT_EQ(
      Describe("Training epoch 0, iteration 99/999 | lr: 1.5e-05 | global_step: 99 | "
               "reduced_train_loss: 10.5 | train_step_timing in s: 0.5 | consumed_samples: 800"),
      "nemo training 99/999 epoch 0 rate 2 loss 10.5");
  EXPECT_EQ(Describe("Validation: iteration 5/10"), "evaluation");
}

TEST(Patterns, Detectron2MmengineAndFairseq) {
  EXPECT_EQ(
      Describe("[07/01 10:00:00 d2.utils.events]:  eta: 0:12:34  iter: 19  total_loss: 2.345  "
               "loss_cls: 1.2  time: 0.5000  last_time: 0.34  data_time: 0.0102  lr: 0.0002  "
               "max_mem: 2500M"),
      "detectron2 training 19/- epoch - rate 2 loss 2.345");
  EXPECT_EQ(
      Describe("[07/01 10:00:00 d2.evaluation.evaluator]: Inference done 11/5000. 0.05 s/iter"),
      "evaluation");
  EXPECT_EQ(
      Describe("2026/01/01 10:00:00 - mmengine - INFO - Epoch(train)  [12][300/938]  lr: "
               "1.0000e-02  eta: 0:10:00  time: 0.2000  data_time: 0.0102  memory: 1234  loss: "
               "2.3012"),
      "mmengine training 300/938 epoch 12 rate 5 loss 2.301");
  EXPECT_EQ(
      Describe("2026/01/01 10:00:00 - mmengine - INFO - Iter(train) [   50/20000]  lr: 1.0e-02  "
               "eta: 0:10:00  time: 0.2000  data_time: 0.0102  loss: 2.3012"),
      "mmengine training 50/20000 epoch - rate 5 loss 2.301");
  EXPECT_EQ(Describe("mmengine - INFO - Epoch(val) [1][20/79]    eta: 0:00:03  time: 0.05"),
            "evaluation");
  EXPECT_EQ(Describe("mmdet - INFO - Epoch [1][50/7330]\tlr: 1.978e-03, eta: 9:00:00, time: 0.500, "
                     "data_time: 0.05, memory: 3500, loss: 2.3"),
            "mmengine training 50/7330 epoch 1 rate 2 loss 2.3");
  EXPECT_EQ(
      Describe("2026-01-01 10:00:00 | INFO | train_inner | epoch 001:    100 / 1000 loss=12.3, "
               "nll_loss=11.9, wps=25000, ups=5.20, wpb=4800, num_updates=100"),
      "fairseq training 100/1000 epoch 1 rate 5.2 loss 12.3");
  EXPECT_EQ(Describe("| INFO | valid | epoch 001 | valid on 'valid' subset | loss 9.8"),
            "evaluation");
}

TEST(Patterns, BarsOfRichAndUltralytics) {
  EXPECT_EQ(Describe("Epoch 3  45% ━━━━━━━╸━━━━━━━ 450/1000 [ 0:00:12 < 0:00:15 , 35 it/s ]"),
            "tqdm training 450/1000 epoch 3 rate 35 loss -");
  EXPECT_EQ(Describe("Epoch 2/9  ━━━━━━━╺━━━━━━━ 450/938 0:00:12 • 0:00:14 35.20it/s v_num: 0.000 "
                     "train_loss: 0.523"),
            "lightning training 450/938 epoch 2 rate 35.2 loss 0.523");
  EXPECT_EQ(Describe("Testing ━━━━━━━━━━━━━━━━━━━ 40/40 0:00:00 • 0:00:00 148.80it/s"),
            "evaluation");
  EXPECT_EQ(
      Describe("        1/3         0G      3.754      2.195         64: 68% ━━━━━━━━──── 11/16 "
               "2.5it/s 4.6s<1.8s"),
      "tqdm training 11/16 epoch 1 rate 2.5 loss -");
  EXPECT_EQ(Describe("   ━━━━━━━━━━━━━━━━━━━━ 12/34 kB 5.6 MB/s eta 0:00:01"), "nothing");
  EXPECT_EQ(Describe("train: Scanning labels... 6 images: 18% ━━────── 6/32 13.8it/s 0.1s<1.9s"),
            "other");
}

TEST(Patterns, ALossWithADecimalComma) {
  EXPECT_EQ(Describe(" 45%|####5     | 450/1000 [00:12<00:15, 35.20it/s, loss=0,35]"),
            "tqdm training 450/1000 epoch - rate 35.2 loss 0.35");
  EXPECT_EQ(Describe(" 45%|####5     | 450/1000 [00:12<00:15, 35.20it/s, loss=2, step=3]"),
            "tqdm training 450/1000 epoch - rate 35.2 loss 2");
}

TEST(Patterns, LookalikesOfProgressAreNoTraining) {
  for (const std::string_view text :
       {"Downloading shards:  45%|████▌     | 9/20 [00:12<00:15,  1.42s/it]",
        "model.safetensors:  45%|████▌     | 221M/492M [00:02<00:02, 101MB/s]",
        " 12%|█▏        | 20.4M/170M [00:01<00:08, 17.2MB/s]",
        "  0%|          | 0.00/170M [00:00<?, ?B/s]",
        "100%|██████████| 9912422/9912422 [00:00<00:00, 12345678.90B/s]",
        "Map: 100%|██████████| 5000/5000 [00:01<00:00, 4321.50 examples/s]",
        "Map (num_proc=8):  50%|█████     | 2500/5000 [00:01<00:01, 2000 examples/s]",
        "Generating train split: 5000 examples [00:00, 4321.50 examples/s]",
        "Tokenizing train dataset:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Running tokenizer on dataset:  45%|####5     | 450/1000 [00:12<00:15, 35.2 examples/s]",
        "Loading checkpoint shards: 100%|██████████| 2/2 [00:03<00:00,  1.52s/it]",
        "Fetching 20 files:  45%|####5     | 9/20 [00:12<00:15,  1.42s/it]",
        "Extracting:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Filter:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Processed prompts:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Running requests:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Export:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Inductor Compilation:  60%|###  | 30/50 [00:30<00:20,  1.01s/it]",
        "AWQ:  44%|####4     | 14/32 [05:08<06:39, 22.19s/it]",
        "Processed 1000 documents (24077.21 docs/s, 5.05 MB/s).: : 1000it [00:00, 2464.85it/s]",
        " 61%|######1   | 16500/27000 [00:16<00:10, 1003.33frames/s]",
        " 61%|######1   | 165/270 [00:16<00:10, 10.33docs/s]",
        " 61%|######1   | 165/270 [00:16<00:10, 10.33layer/s]",
        " 61%|######1   | 165/270 [00:16<00:10, 10.33req/s]",
        "Downloading |####      | 45/100 [45%] in 4.5s (10.0/s, eta: 5s)"}) {
    EXPECT_EQ(Describe(text), "other") << text;
  }
  for (const std::string_view text :
       {"Evaluating:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "val:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Epoch 3 [test]:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Predicting DataLoader 0:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "验证中:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "[rank0]: 検証:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Epoch 3 [검증]:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Оценка:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Évaluation:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Validierung:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]",
        "Valid | Epoch 2 | 80/100 | 4.1 it/sec | ce 3.1", "Evaluation: step 5/10 loss 0.3",
        "[val] step 5 loss 0.3", "Eval step 5: loss=0.3"}) {
    EXPECT_EQ(Describe(text), "evaluation") << text;
  }
}

// Words that name a value, a pod or a file do not stand for an activity.
TEST(Patterns, ATrainingStaysOneWhateverIsMeasuredInItsDescription) {
  for (const std::string_view description :
       {"Epoch 5 (best val acc 0.81)",
        "Epoch 5 | loss 0.31 | test acc 0.93",
        "Epoch 5 mAP=0.412",
        "Epoch 5 (cache hits 93%)",
        "Epoch 5 load 0.01s fwd 0.2s",
        "Epoch 5 | Val PPL: 193.00",
        "Epoch 5 val_loss=nan",
        "Epoch 5, valid loss: nan",
        "Epoch [5/10] test=93 eval: 12",
        "Epoch 5 Train Loss 1.0, Test Loss 1.2",
        "Epoch 5: saving",
        "Epoch 5 (loading shards)",
        "Epoch 5 ranking loss 0.3",
        "Predictive coding epoch 5",
        "Denoising AE epoch 5",
        "Epoch 5 reading",
        "epoch=5, dev f1 0.7",
        "[pod/lightning-train-0/lightning] Epoch 5",
        "[pod/ranking-7/main] Epoch 5",
        "[pod/test-job-7/main] Epoch 5",
        "test-job main Epoch 5",
        "(Evaluator pid=12, ip=10.0.0.1) Epoch 5",
        "[rank0]: Epoch 5",
        "eval-0  | Epoch 5",
        "2026-11-22 07:05:03,250 - tests.mapping - INFO - Epoch 5"}) {
    EXPECT_EQ(
        Describe(
            fmt::format("{}:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]", description)),
        "tqdm training 450/1000 epoch 5 rate 35.2 loss " +
            Number(ReadProgressLine(fmt::format("{}:  0%| | 1/2 [00:12<00:15, 1it/s]", description))
                       ->loss))
        << description;
  }
  for (const std::string_view description :
       {"loss 0.31 | test acc 0.93", "mAP=0.412", "cache hits 93%", "load 0.01s fwd 0.2s",
        "best val acc 0.81", "ranking loss: 0.5", "Training lightning module", "lr=9e-05",
        "Reading comprehension finetune", "训练 验证损失 0.3", "Training (validation every 500)",
        "Fine-tuning", "Step 12 | eval_loss 0.5"}) {
    EXPECT_EQ(
        Describe(fmt::format("{}:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]", description))
            .substr(0, 13),
        "tqdm training")
        << description;
  }
}

TEST(Patterns, OwnWordsOfADescriptionDetermineTheKind) {
  const auto kind = [](std::string_view description) {
    return Describe(
        fmt::format("{}:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]", description));
  };
  for (const std::string_view description :
       {"Validation", "Val loss 0.31", "Validation Epoch 3", "Epoch 3 | Validation",
        "Epoch 3 [Val]", "Epoch 3 - eval", "Epoch 3 Val 2/5", "Epoch 3 Evaluating",
        "[test] Epoch 3", "Eval 5", "Evaluating loss=0.5", "Testing DataLoader 0",
        "Evaluating train set", "test acc 0.93", "[rank3]: Evaluating",
        "[pod/train-0/train] Validation DataLoader 0", "Sanity Checking DataLoader 0",
        "Running validation"}) {
    EXPECT_EQ(kind(description), "evaluation") << description;
  }
  for (const std::string_view description :
       {"Fetching 20 files", "Downloading 1.2GB", "Downloading model.safetensors",
        "Map (num_proc=8)", "[rank0]: Tokenizing", "main: Downloading shards",
        "train: Scanning labels... 6 images", "Pre-processing", "Loading 3", "Tokenizing epoch 3",
        "Step 3: Tokenizing", "[pod/train-0/train] Loading checkpoint shards", "Caching latents"}) {
    EXPECT_EQ(kind(description), "other") << description;
  }
}

TEST(Patterns, CountsPrintedByHand) {
  for (const std::string_view text :
       {"step=100, loss=0.25", "step 100 | loss 0.25", "step: 100 loss: 0.25",
        "Step 100: loss=0.25", "Iteration: 100, train_loss: 0.25", "iter 100 lr 1e-4 loss 0.25",
        "[Step 100] loss 0.25", "INFO:tensorflow:loss = 0.25, step = 100 (1.234 sec)",
        "train step 100 loss 0.25 val_loss 0.5", "{'step': 100, 'loss': 0.25}",
        "step 100: loss 0.25, best val acc 0.8"}) {
    EXPECT_EQ(Describe(text), "steps training 100/- epoch - rate - loss 0.25") << text;
  }
  EXPECT_EQ(
      Describe("2026-11-22 07:05:03,250 - INFO - global step 100: loss = 0.25 (0.5 sec/step)"),
      "steps training 100/- epoch - rate 2 loss 0.25");
  EXPECT_EQ(Describe("INFO:root:step #100 loss 0.25 (12.5 it/s)"),
            "steps training 100/- epoch - rate 12.5 loss 0.25");
  for (const std::string_view text :
       {"step 100/1000 loss 0.25", "Step [100/1000], Loss: 0.25", "Iteration 100/1000: loss=0.25",
        "step 100 of 1000, loss 0.25", "step=100 max_steps=1000 loss=0.25",
        "[   TRAIN] - step 100 / 1000: loss=0.25 f1=0.37 [step/sec: 4.88]"}) {
    EXPECT_EQ(Describe(text), "steps training 100/1000 epoch - rate - loss 0.25") << text;
  }
  EXPECT_EQ(Describe("Epoch 2, step 100/1000, lr 1e-4"),
            "steps training 100/1000 epoch 2 rate - loss -");
  EXPECT_EQ(Describe("step 100 loss nan"), "steps training 100/- epoch - rate - loss -");
  for (const std::string_view text :
       {"step=100", "Iteration: 100", "INFO - step 100", "step 100.", "[rank0]: Step 100"}) {
    EXPECT_EQ(Describe(text), "steps training 100/- epoch - rate - loss -") << text;
  }
  EXPECT_EQ(Describe("step 100/1000"), "steps training 100/1000 epoch - rate - loss -");
}

TEST(Patterns, BatchesAndUnnamedCounts) {
  EXPECT_EQ(Describe("Epoch 45/300: train loss 0.77, val loss 0.88, time 7.7s"), "nothing")
      << "the digits of an epoch are no count";
  EXPECT_EQ(Describe("[EDSR_..][epoch:  3, iter:   2,700, lr:(1.000e-04,)] [eta: 17:27:35, time "
                     "(data): 0.210 (0.002)] l_pix: 1.5e-02"),
            "steps training 2700/- epoch 3 rate - loss -");
  for (const std::string_view text :
       {"Epoch 2 batch 100/600 loss 0.25", "Epoch 2 [100/600] loss 0.25",
        "Epoch: [2][100/600] Loss 0.25 (0.3)"}) {
    EXPECT_EQ(Describe(text), "steps training 100/600 epoch 2 rate - loss 0.25") << text;
  }
  EXPECT_EQ(Describe("epoch 2 | 100/600 | train loss 0.25 | 0.2 s/batch"),
            "steps training 100/600 epoch 2 rate 5 loss 0.25");
  EXPECT_EQ(Describe("[100/600] train loss 0.25"),
            "steps training 100/600 epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("epoch=2 batch=100 loss=0.25"),
            "steps training 100/- epoch 2 rate - loss 0.25");
  EXPECT_EQ(Describe("Epoch[2] Batch [100] Speed: 600.1 samples/sec accuracy=0.3"),
            "steps training 100/- epoch 2 rate - loss -");
  for (const std::string_view text :
       {"batch=64 lr=0.1", "[100/600] Building CXX object loss.cc", "11/29 10:11:02 loss 0.25",
        "[600/100] loss 0.25", "Building index: step 30/100", "Epoch 2 [100/600] val loss 0.25"}) {
    EXPECT_EQ(Describe(text), "nothing") << text;
  }
  EXPECT_EQ(Describe("Batches:  45%|####5     | 450/1000 [00:12<00:15, 35.20it/s]"), "other");
}

TEST(Patterns, LinesOfOtherForms) {
  EXPECT_EQ(Describe("{'loss': -0.0, 'learning_rate': 2.6e-07, 'epoch': 0.5, "
                     "'global_step/max_steps': '95/3766', 'train_speed(iter/s)': 0.25}"),
            "huggingface training 95/3766 epoch 0.5 rate 0.25 loss -0");
  EXPECT_EQ(Describe("{'eval_loss': 0.5, 'epoch': 0.5, 'global_step/max_steps': '95/3766'}"),
            "nothing");
  EXPECT_EQ(Describe(" [ 79/290 10:32 < 38:04, 0.12 it/s, Epoch 1.36/5]"),
            "huggingface training 79/290 epoch 1.36 rate 0.12 loss -");
  EXPECT_EQ(Describe("Finished training it 38912/306969 of epoch 0, 125.00 ms/it, loss 0.25"),
            "dlrm training 38912/306969 epoch 0 rate 8 loss 0.25");
  EXPECT_EQ(Describe("      3900 iter, 3 epoch / 20 epochs"),
            "chainer training 3900/- epoch 3 rate - loss -");
  EXPECT_EQ(Describe("[2021-11-26 03:07:16,494] [INFO] [timer.py:181:stop] 0/450, "
                     "SamplesPerSec=9.52"),
            "deepspeed training 450/- epoch - rate - loss -");
  EXPECT_EQ(Describe(R"(DLLL {"type": "LOG", "step": [0, 1980], "data": {"train.loss": 0.25}})"),
            "json training 1980/- epoch 0 rate - loss 0.25");
  EXPECT_EQ(Describe(R"(DLLL {"type": "LOG", "step": [0, 1980], "data": {"val.loss": 0.25}})"),
            "nothing");
  EXPECT_EQ(Describe(" 25567/50000: episode: 109, duration: 1.759s, episode steps: 337, steps per "
                     "second: 192, episode reward: 337.000, loss: 0.25"),
            "keras-rl training 25567/50000 epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("epoch_index: 1/200][batch_index:1050/1067] [D loss: 0.25, acc: 54%]"),
            "steps training 1050/1067 epoch 1 rate - loss 0.25");
  EXPECT_EQ(Describe("390 | loss 0.25 | lr 3.000000e-04 | 13808.97ms"),
            "llama2.c training 390/- epoch - rate 0.07242 loss 0.25");
  EXPECT_EQ(Describe("[299 | 732.55] loss=0.25 avg=1.47"),
            "gpt-2-simple training 299/- epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("Train loss 399 0.25 Grad Norm 2.345678 0.50s/it"),
            "tacotron training 399/- epoch - rate 2 loss 0.25");
  EXPECT_EQ(Describe("At iteration 4900/14700/14700, Mean rms=6.1%, delta=30.1%"),
            "tesseract training 4900/- epoch - rate - loss -");
  EXPECT_EQ(Describe("0/42 of epoch 10/30 class : 0.479 - acc class : 87.50 [bs:128]"),
            "pytorch training 0/42 epoch 10 rate - loss -");
}

TEST(Patterns, BarsOfOtherPrograms) {
  EXPECT_EQ(Describe("Epoch 4    ------- ---- 216/291 0:00:30 • 0:00:10 7.00it/s loss: 0.25 "),
            "tqdm training 216/291 epoch 4 rate 7 loss 0.25");
  EXPECT_EQ(Describe("Training |####      | 450/1000 [45%] in 45.0s (10.0/s, eta: 55s)"),
            "tqdm training 450/1000 epoch - rate 10 loss -");
  EXPECT_EQ(
      Describe(" 45% (450 of 1000) |####   | Elapsed Time: 0:00:45 ETA:   0:00:55 loss: 0.25"),
      "tqdm training 450/1000 epoch - rate - loss 0.25");
}

TEST(Patterns, LossesOfOtherNames) {
  for (const std::string_view text :
       {"Epoch  3,  450/1000; acc:   3.99; ppl: 12792.57; xent:   9.46; 3438 src tok/s",
        "Train | Epoch 3 | 450/1000 | 2.0 it/sec | lr 1.95E-01 | ce 1.752 | ppl 12.1",
        "Epoch 3 | 450/1000 | 2.0 it/sec | nll 1.752"}) {
    EXPECT_EQ(Describe(text), "steps training 450/1000 epoch 3 rate - loss -") << text;
  }
  EXPECT_EQ(Describe("Steps : 1995, Gen Loss Total : 0.250, Mel-Spec. Error : 0.456, s/b : 0.345"),
            "steps training 1995/- epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("it:   4950 | loss: 0.25 | 12.3 it/s"),
            "steps training 4950/- epoch - rate 12.3 loss 0.25");
  EXPECT_EQ(Describe("update 139, actor_loss 0.25, critic_loss 0.31, fps 8123"),
            "steps training 139/- epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("Epoch 3 ... 690 / 900 batches processed ... running loss: 0.25"),
            "steps training 690/900 epoch 3 rate - loss 0.25");
  EXPECT_EQ(Describe("train.py:88 INFO  ep:3 it:03000/10009 (30.0%) loss:0.25 lr:1.00e-3"),
            "steps training 3000/10009 epoch 3 rate - loss 0.25");
  for (const std::string_view text :
       {"it: 5", "update 5 of 10 packages", "Windows update: 5", R"({"step": [0, 1980, 3]})",
        "episode steps: 337, loss: 0.5", "Namespace(steps=5000, aux_loss=0.01, lr=0.1)",
        R"({"steps": 5000, "epochs": 10, "kl_loss": 0.1})"}) {
    EXPECT_EQ(Describe(text), "nothing") << text;
  }
}

TEST(Patterns, FailuresAndAnnouncements) {
  for (const std::string_view text :
       {"Traceback (most recent call last):", "torch.OutOfMemoryError: CUDA out of memory. Tried",
        "jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        "[default] Worker group FAILED. 3/3 attempts left; will restart worker group"}) {
    EXPECT_EQ(Describe(text), " failure -/- epoch - rate - loss -") << text;
  }
  EXPECT_EQ(Describe("***** Running Evaluation *****"), "evaluation");
  EXPECT_EQ(Describe("***** Running training *****"), "other");
}

TEST(Patterns, OtherFrameworks) {
  EXPECT_EQ(
      Describe(" 100: 4.12, 5.01 avg loss, 0.001 rate, 0.50 seconds, 640 images, 3 hours left"),
      "darknet training 100/- epoch - rate 2 loss 5.01");
  EXPECT_EQ(
      Describe("LOG (nnet3-train[5.5]:Print():t.cc:1) Average objective function for 'output' "
               "for minibatches 0-99 is -3.1 over 51200 frames."),
      "kaldi training 99/- epoch - rate - loss -");
  EXPECT_EQ(Describe("|    total_timesteps      | 2048    |"),
            "stable-baselines3 training 2048/- epoch - rate - loss -");
  EXPECT_EQ(Describe("   3 train loss:  0.31 test acc: 90.12%"),
            "candle training 3/- epoch - rate - loss 0.31");
  EXPECT_EQ(Describe("{'loss': 0.69, 'rewards/chosen': 0.1, 'epoch': 0.3}"),
            "huggingface training -/- epoch 0.3 rate - loss 0.69");
  EXPECT_EQ(Describe("[2025-11-29 10:11:02] Ep. 1 : Up. 100 : Sen. 12,800 : Cost 8.12 : Time 1s"),
            "marian training 100/- epoch 1 rate - loss 8.12");
  EXPECT_EQ(Describe("INFO: 1epoch:train:81-100batch: iter_time=0.1, loss=12.1"),
            "espnet training 100/- epoch 1 rate - loss 12.1");
  EXPECT_EQ(Describe("DEBUG TRAIN Batch 0/100 loss 12.1 lr 0.0001 rank 0"),
            "wenet training 100/- epoch 0 rate - loss 12.1");
  EXPECT_EQ(Describe("DEBUG CV Batch 0/100 loss 12.1"), "evaluation");
  EXPECT_EQ(Describe("[epoch=0][batch=100/1000]:"),
            "composer training 100/1000 epoch 0 rate - loss -");
  EXPECT_EQ(
      Describe("[2024-07-27 03:37:44 tiny] (main.py 295): INFO Train: [30/300][220/2859]\teta "
               "0:43:17 lr 0.000872\ttime 0.42 (0.92)\tloss 2.0267 (1.9831)"),
      "pytorch training 220/2859 epoch 30 rate - loss 2.027");
  EXPECT_EQ(Describe(R"({"current_steps": 170, "total_steps": 3235, "loss": 5.2, "epoch": 0.05})"),
            "json training 170/3235 epoch 0.05 rate - loss 5.2");
  EXPECT_EQ(Describe("Score at iteration 100 is 0.31"),
            "dl4j training 100/- epoch - rate - loss 0.31");
  EXPECT_EQ(Describe("batch     100: trn: rmse = 1.2, lr = 1.0e-3"),
            "deepmd training 100/- epoch - rate - loss -");
  EXPECT_EQ(Describe("train 100 1.231000e+00 53.12 87.31"),
            "darts training 100/- epoch - rate - loss 1.231");
  EXPECT_EQ(Describe("step:100/1750 train_time:12000ms step_avg:100.0ms"),
            "nanogpt training 100/1750 epoch - rate 10 loss -");
  EXPECT_EQ(Describe("fps step: 12000 fps total: 11000 epoch: 100/500 frames: 120000"),
            "rl_games training 100/500 epoch - rate - loss -");
  EXPECT_EQ(Describe("  Learning iteration 100/1500"),
            "rsl_rl training 100/1500 epoch - rate - loss -");
  EXPECT_EQ(Describe("--> TIME: 10:11:02 -- STEP: 100/120 -- GLOBAL_STEP: 900"),
            "coqui training 100/120 epoch - rate - loss -");
}

TEST(Patterns, CountsInJson) {
  for (const std::string_view text :
       {R"({"step": 100, "loss": 0.25, "max_steps": 1000, "epoch": 1.5})",
        R"({"epoch":1.5,"loss":0.25,"max_steps":1000,"global_step":100})",
        R"({"max_steps": 1000, "epoch": 1.5, "step": 3, "global_step": 100, "loss": 0.25})",
        R"({"time": "2026-11-22T07:05:03Z", "level": "info", "run": "test", "iteration": 100, )"
        R"("total_iterations": 1000, "epoch": 1.5, "train/loss": 0.25})"}) {
    EXPECT_EQ(Describe(text), "json training 100/1000 epoch 1.5 rate - loss 0.25") << text;
  }
  EXPECT_EQ(Describe(R"({"train/global_step": 100, "train/loss": 0.25})"),
            "json training 100/- epoch - rate - loss 0.25");
  EXPECT_EQ(Describe(R"({"step": 100})"), "json training 100/- epoch - rate - loss -");
  EXPECT_EQ(Describe(R"({"global_step": 100, "max_steps": 1000})"),
            "json training 100/1000 epoch - rate - loss -");
}

TEST(Patterns, MaxTextVerlAndPaddle) {
  EXPECT_EQ(
      Describe("I0811 21:54:55.531340 138304841739136 metric_logger.py:226] completed step: 9, "
               "seconds: 0.500, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, "
               "total_weights: 196608, loss: 10.374"),
      "maxtext training 9/- epoch - rate 2 loss 10.37");
  EXPECT_EQ(Describe("[12]\ttrain-rmse:0.5123\teval-rmse:0.61"),
            "xgboost training 12/- epoch - rate - loss -");
  EXPECT_EQ(Describe("[08:10:11] [12]\ttrain-logloss:0.5123"),
            "xgboost training 12/- epoch - rate - loss 0.5123");
  EXPECT_EQ(Describe("[10]\ttraining's binary_logloss: 0.51\tvalid_1's binary_logloss: 0.6"),
            "lightgbm training 10/- epoch - rate - loss 0.51");
  EXPECT_EQ(
      Describe("12:\tlearn: 0.6931\ttest: 0.69\tbest: 0.69 (12)\ttotal: 1.2s\tremaining: 41s"),
      "catboost training 12/- epoch - rate - loss -");
  EXPECT_EQ(Describe("I1121 08:00:01.1 7 logging_writer.py:48] [100] learning_rate=0.01, loss=2.1"),
            "flax training 100/- epoch - rate - loss 2.1");
  EXPECT_EQ(Describe("I0309 03:04:08.398856 1397 logging_writer.py:48] [800] learning_rate=0.1, "
                     "steps_per_second=4.341, train_accuracy=0.38, train_loss=5.05"),
            "flax training 800/- epoch - rate - loss 5.05");
  EXPECT_EQ(Describe("I1121 08:00:01.1 7 logging_writer.py:48] [100] train/loss=2.1, val/loss=3.2"),
            "flax training 100/- epoch - rate - loss 2.1");
  EXPECT_EQ(Describe("I1121 08:00:01.1 7 logging_writer.py:48] [100] loss=nan"),
            "flax training 100/- epoch - rate - loss -");
  EXPECT_EQ(Describe("I0309 03:04:08.398856 1397 logging_writer.py:48] [800] eval_accuracy=0.38, "
                     "eval_loss=5.05"),
            "nothing");
  EXPECT_EQ(Describe("INFO :: Progress on:train 166it/10.0kit rate:2.0s/it remaining:2:47:10 "
                     "elapsed:02:58 postfix:loss=7.85"),
            "levanter training 166/10000 epoch - rate 0.5 loss 7.85");
  EXPECT_EQ(Describe("INFO :: Progress on:train 1.25kit/10.0kit rate:2.0it/s remaining:1:12:00"),
            "levanter training 1250/10000 epoch - rate 2 loss -");
  EXPECT_EQ(Describe("Progress on:train 166it/- rate:? elapsed:00:07"),
            "levanter training 166/- epoch - rate - loss -");
  EXPECT_EQ(Describe("INFO :: Progress on:eval 12.0it/200it rate:2.0it/s remaining:01:34"),
            "evaluation");
  EXPECT_EQ(Describe("INFO 2026-03-07 08:13:52 ts/train.py:232 step:2K smpl:20K ep:41 epch:0.81 "
                     "loss:0.965 grdn:12.3 lr:1.0e-05 updt_s:0.125 data_s:0.002"),
            "lerobot training 2000/- epoch - rate 8 loss 0.965");
  EXPECT_EQ(Describe("tick 20    kimg 80.0     time 22m 13s      sec/tick 50.0    sec/kimg 15.25   "
                     "maintenance 0.1"),
            "stylegan training 20/- epoch - rate 0.02 loss -");
  EXPECT_EQ(Describe("train | step:    900 | steps/sec:    2.8 | output: "),
            "tensorflow training 900/- epoch - rate 2.8 loss -");
  EXPECT_EQ(Describe(" eval | step:    900 | eval time:   12.1 sec | output: "), "evaluation");
  EXPECT_EQ(Describe("INFO:tensorflow:Step 1800 per-step time 0.250s"),
            "tensorflow training 1800/- epoch - rate 4 loss -");
  EXPECT_EQ(Describe("| step       | 590      |"),
            "guided-diffusion training 590/- epoch - rate - loss -");
  EXPECT_EQ(Describe("2026-03-28 03:52:44,858 update: 480\tfps: 321.123\t"),
            "habitat training 480/- epoch - rate - loss -");
  EXPECT_EQ(Describe("3390 (11.30%)       40.000 ms            17 m, 17 s           105.11 K"),
            "nerfstudio training 3390/- epoch - rate 25 loss -");
  EXPECT_EQ(Describe("2026-04-08 22:15:21   INFO  Train:    3/80 (  4%) [ 391/3862 ( 10%)]  Loss: "
                     "1.906 (1.9)  LR: 3.4e-04  Time cost: 03:23/33:12 [2:00:03/45:01:12]"),
            "openpcdet training 391/3862 epoch 3 rate - loss 1.906");
  EXPECT_EQ(Describe("Epoch:[1/2](3000/44160) loss:2.974 lr:0.000549999 epoch_Time:75.5min:"),
            "minimind training 3000/44160 epoch 1 rate - loss 2.974");
  EXPECT_EQ(Describe("Train Epoch: 1 [ 6400/60000] Loss: 0.899"),
            "pytorch training 6400/60000 epoch 1 rate - loss 0.899");
  EXPECT_EQ(Describe("eval metrics after step: 9, loss=10.374, total_weights=196608.0"),
            "evaluation");
  EXPECT_EQ(
      Describe("(TaskRunner pid=222265) step:34 - global_seqlen/min:419336 - actor/pg_loss:0.25 "
               "- actor/lr:2e-06 - training/global_step:34 - training/epoch:0 - "
               "val-core/openai/gsm8k/reward/mean@1:0.5 - timing_s/gen:40.1 - timing_s/step:50.0"),
      "verl training 34/- epoch 0 rate 0.02 loss 0.25");
  EXPECT_EQ(Describe("step:5 - train/loss:0.25 - train/lr(1e-3):0.01"),
            "verl training 5/- epoch - rate - loss 0.25");
  EXPECT_EQ(Describe("(TaskRunner pid=1) step:0 - val-core/openai/gsm8k/reward/mean@1:0.5"),
            "evaluation");
  EXPECT_EQ(Describe("step:10 - val/loss:0.25"), "evaluation");
  for (const std::string_view text :
       {"2021-03-30 06:55:57 [INFO]\t[TRAIN] epoch: 1, iter: 20/500, loss: 0.25, lr: 0.009657, "
        "batch_cost: 0.5000, reader_cost: 0.07273, ips: 3.7425 samples/sec | ETA 00:04:16",
        "[02/04 22:46:24] ppdet.engine.callbacks INFO: Epoch: [1] [ 20/500] learning_rate: "
        "0.000029 "
        "loss: 0.25 loss_cls: 1.374781 eta: 67 days, 10:28:48 batch_cost: 0.5000 data_cost: 0.0034 "
        "ips: 96.1758 images/s",
        "[2024/07/31 20:24:32] ppcls INFO: [Train][Epoch 1/120][Iter: 20/500]lr(PiecewiseDecay): "
        "0.00100000, top1: 1.00000, loss: 0.25, batch_cost: 0.50000s, reader_cost: 0.12493, ips: "
        "26.10981 samples/s, eta: 5:01:10"}) {
    EXPECT_EQ(Describe(text), "paddle training 20/500 epoch 1 rate 2 loss 0.25") << text;
  }
  for (const std::string_view text :
       {"[2024/08/06 18:03:31] ppocr INFO: epoch: [1/2], global_step: 20, lr: 0.000005, loss: "
        "0.25, "
        "avg_reader_cost: 0.00971 s, avg_batch_cost: 0.50000 s, avg_samples: 64.0, ips: 355.10891 "
        "samples/s, eta: 0:32:33",
        "2020-11-04 17:25:52 INFO: epoch:1  , train step:20  , loss: 0.25, top1: 0.00000, lr: 0.1, "
        "batch_cost: 0.50000 s, reader_cost: 0.00056 s, ips: 225.20036 images/sec."}) {
    EXPECT_EQ(Describe(text), "paddle training 20/- epoch 1 rate 2 loss 0.25") << text;
  }
  EXPECT_EQ(Describe("{'loss': 0.25, 'learning_rate': 4.5e-05, 'global_step': 20, 'epoch': 2.0}"),
            "paddle training 20/- epoch 2 rate - loss 0.25");
  EXPECT_EQ(Describe("[2024-01-01 10:00:00,000] [    INFO] - loss: 0.25, learning_rate: 1e-05, "
                     "global_step: 20, interval_runtime: 3.3, interval_samples_per_second: 32.0, "
                     "interval_steps_per_second: 2.0, epoch: 0.5"),
            "paddle training 20/- epoch 0.5 rate 2 loss 0.25");
  EXPECT_EQ(
      Describe("[2024/07/31 20:25:32] ppcls INFO: [Eval][Epoch 1][Iter: 0/40]CELoss: 0.25, "
               "loss: 0.25, top1: 0.5, batch_cost: 0.3s, reader_cost: 0.1, ips: 80 images/sec"),
      "evaluation");
  EXPECT_EQ(
      Describe("INFO: epoch:0  , valid step:50  , top1: 0.75, loss: 0.97, batch_cost: 0.69 s"),
      "evaluation");
}

TEST(Patterns, LightningWithoutABarAndRichOutsideATerminal) {
  EXPECT_EQ(Describe("Epoch 1, global step 1876: 'val_loss' reached 0.35012 (best 0.35012), saving "
                     "model to '/logs/epoch=1-step=1876.ckpt' as top 1"),
            "lightning training 1876/- epoch 1 rate - loss -");
  EXPECT_EQ(Describe("Epoch 2, global step 2814: 'val_loss' was not in top 1"),
            "lightning training 2814/- epoch 2 rate - loss -");
  EXPECT_EQ(Describe("Epoch 2 ━━━━━━━━━━━━━━━━━━━━━━━━ 20/20 0:00:01"),
            "tqdm training 20/20 epoch 2 rate - loss -");
  EXPECT_EQ(Describe("Training ━━━━━━━━━━━━━━━━━━━━━━━ 100% 0:00:00 20/20"),
            "tqdm training 20/20 epoch - rate - loss -");
  EXPECT_EQ(Describe("Validation ━━━━━━━━━━━━━━━━━━━━━ 20/20 0:00:01"), "evaluation");
  EXPECT_EQ(Describe("Downloading ━━━━━━━━━━━━━━━━━━━━ 20/20 0:00:01"), "other");
}

TEST(Patterns, LinesWithoutProgressMatchNothing) {
  for (const std::string_view text :
       {"", "     ━━━━━━━━━━━━━━━━━━━━ 1.2/3.4 MB 5.6 MB/s eta 0:00:01",
        "INFO:root:saved checkpoint 12/20 to /data/step-100.pt",
        "2026-11-22 07:05:03 | Epoch 3 took 12.5 s", "GPU 0: 45% | 12000/16000 MiB",
        "[1/5] Building CXX object", "loss 0.5", "  45%|", "iter 5: nothing",
        // building images and installing programs
        "Step 1/12 : FROM python:3.11", "Step 5/12 : RUN pip install torch==2.4.0",
        "#12 [stage 3/7] RUN make", " => [2/5] COPY loss.py /app",
        "Step 2/4: Installing dependencies", R"({"stream":"Step 1/12 : FROM python"})",
        "Running step 3/5", "step 3 of the setup is done",
        // requests
        R"({"method": "POST", "path": "/v1/train", "status": 200, "step": 5, "request_id": "a"})",
        R"("GET /step/5?loss=0.5 HTTP/1.1" 200 -)", "request step=5 latency=12ms rate=0.5",
        R"({"event": "request", "step": 3, "latency_ms": 12.5, "reward": 1})",
        "iter = 100, global_rank = 0, currank_total_requests = 2/0, elapsed_time = 0.12s",
        // evaluations
        R"({"mode": "val", "step": 5, "loss": 0.5})", R"({"step": 100, "eval_loss": 0.25})",
        "step 100: val loss 0.25", R"({"split": "test", "global_step": 100, "accuracy": 0.9})",
        // sentences that only mention a count
        "Saving checkpoint at step 500", "max_steps=1000", "warmup for 100 steps", "every 10 steps",
        "Loaded iteration 1000 of the index", "logging_steps=10, save_steps=500",
        // similar to the lines of boosting libraries and CLU
        "[12]\tuploaded chunk-7", "[08:10:11] [12] done", "12:\tlearned", "[10]\tthe user's file",
        "I1121 08:00:01.1 7 logging_writer.py:48] [100] eval_loss=2.1",
        "Recording summary at step 0.", "step 0.5", "Epoch 3 took 12 steps"}) {
    EXPECT_EQ(Describe(text), "nothing") << text;
  }
}

TEST(OwnPattern, NamedGroupsGiveTheFields) {
  const Result<OwnPattern> own = OwnPattern::Parse(
      R"(batch (?<iteration>\d+) of (?P<total>\d+), (?P<rate>[\d.]+)/s, err (?P<loss>[\d.]+))");
  ASSERT_TRUE(own);
  const auto line = own->Read("now batch 12 of 40, 2.5/s, err 0.25");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->format, "pattern");
  EXPECT_EQ(line->iteration, 12);
  EXPECT_EQ(line->total, 40);
  EXPECT_EQ(line->rate, 2.5);
  EXPECT_EQ(line->loss, 0.25);
  EXPECT_FALSE(own->Read("batch 12"));
}

TEST(OwnPattern, ErrorsNameTheProblem) {
  EXPECT_NE(OwnPattern::Parse("batch (").error().message.find("missing )"), std::string::npos);
  EXPECT_NE(OwnPattern::Parse(R"(batch (\d+))").error().message.find("(?P<iteration>"),
            std::string::npos);
  EXPECT_NE(OwnPattern::Parse("(?:[ab]?){900}(?:[ab]?){900}(?P<iteration>[0-9])")
                .error()
                .message.find("the pattern is too large"),
            std::string::npos);
}

}  // namespace
}  // namespace synergy
