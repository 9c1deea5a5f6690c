#include "property/made_log.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/clock.h"
#include "core/random.h"
#include "core/wall_time.h"

namespace synergy::testing {
namespace {

// One write of a process.
struct Piece {
  double time = 0;
  std::string text;  // ends with a newline if it is a complete line
};

std::string Elapsed(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string Bar(const std::string& description, int64_t done, int64_t total, double seconds,
                double rate, const std::string& more) {
  const int64_t filled = 10 * done / total;
  std::string drawn;
  for (int64_t i = 0; i < 10; ++i) drawn += i < filled ? "█" : " ";
  const std::string speed = rate <= 0   ? "?it/s"
                            : rate >= 1 ? fmt::format("{:.2f}it/s", rate)
                                        : fmt::format("{:.2f}s/it", 1 / rate);
  return fmt::format("\r{}{:3}%|{}| {}/{} [{}<{}, {}{}]", description, 100 * done / total, drawn,
                     done, total, Elapsed(seconds),
                     rate <= 0 ? "?" : Elapsed(static_cast<double>(total - done) / rate), speed,
                     more);
}

class Maker {
 public:
  explicit Maker(const MadeTraining& training) : made_(training), random_(training.seed) {}

  MadeLog Run() {
    Begin();
    while (trained_ < made_.seconds) Iterate();
    return Finish();
  }

 private:
  bool ByEpoch() const {
    return made_.format != MadeFormat::kTqdm && made_.format != MadeFormat::kHuggingFace &&
           made_.format != MadeFormat::kTqdmDescribed && made_.format != MadeFormat::kDeepSpeed &&
           made_.format != MadeFormat::kMegatron && made_.format != MadeFormat::kNanoGpt &&
           made_.format != MadeFormat::kSteps && made_.format != MadeFormat::kJson;
  }
  bool Bars() const { return made_.format <= MadeFormat::kLightning; }
  int64_t Total() const { return ByEpoch() ? made_.epoch : 1'000'000; }

  void Write(std::string text) { pieces_.push_back({now_, std::move(text)}); }

  void Begin() {
    Write("Loading checkpoint shards: 100%|██████████| 2/2 [00:03<00:00,  1.52s/it]\n");
    now_ += 5;
    Write("\rmodel.safetensors:  45%|████▌     | 221M/492M [00:02<00:02, 101MB/s]\n");
    now_ += 5;
    Write("Map: 100%|██████████| 5000/5000 [00:01<00:00, 4321.50 examples/s]\n");
    BeginEpoch();
  }

  void BeginEpoch() {
    bar_begun_ = now_;
    if (made_.format == MadeFormat::kTqdmNested) {
      Write(Bar("", epoch_, 1000, now_ - 10, 0, "") + "\n");
    }
    if (made_.format == MadeFormat::kKeras) Write(fmt::format("Epoch {}/1000\n", epoch_ + 1));
    if (Bars()) Training();
  }

  void Iterate() {
    const double time = (1 + made_.noise * (2 * random_.Uniform() - 1)) / made_.rate;
    now_ += time;
    trained_ += time;
    ++done_;
    ++iteration_;
    times_.push_back(time);
    window_ += time;
    while (window_ > 60) {
      window_ -= times_.front();
      times_.pop_front();
    }
    const bool ends = ByEpoch() && iteration_ == made_.epoch;
    if (ends || now_ - last_line_ >= made_.line_seconds) Training();
    if (made_.stall_every > 0 && trained_ - last_stall_ >= made_.stall_every) {
      last_stall_ = trained_;
      now_ += made_.stall;
    }
    const bool evaluates = made_.evaluate_every > 0 && done_ % made_.evaluate_every == 0;
    if (evaluates) Evaluate();
    if (ends) {
      ++epoch_;
      iteration_ = 0;
      BeginEpoch();
    }
    if (made_.restart_at > 0 && done_ == made_.restart_at) {
      Write("Traceback (most recent call last):\nRuntimeError: CUDA error\n");
      now_ += 20;
      iteration_ -= std::min<int64_t>(iteration_, 100);
      bar_begun_ = now_;
      if (Bars()) Training();
    }
  }

  // Returns a description as users write them: its text changes at many updates.
  std::string Description(double loss) {
    const bool late = trained_ > made_.seconds / 2;
    switch (made_.seed % 8) {
      case 0:
        return fmt::format("Epoch {}: ", iteration_);
      case 1:
        return fmt::format("Epoch {} loss {:.2f}: ", iteration_ / 100, loss);
      case 2:
        return fmt::format("lr={}: ", 2e-4 * trained_ / made_.seconds);
      case 3:
        return fmt::format("Epoch 5 loss={}: ", late ? "nan" : fmt::format("{:.3f}", loss));
      case 4:
        return random_.Below(5) == 0 ? "Epoch 5 *best*: " : "Epoch 5: ";
      case 5:
        return fmt::format("Epoch 5 | loss {:.2f} | val acc {:.2f} (best {}): ", loss, 1 / loss,
                           late ? "now" : "none");
      case 6:
        return "[pod/test-job-7/ranking] Training: ";
      default:
        return fmt::format("Phase {}: ", std::string(1 + random_.Below(4), 'x'));
    }
  }

  void Training() {
    last_line_ = now_;
    lines_.emplace_back(now_, done_);
    printed_ = iteration_;
    const double second = now_ - bar_begun_;
    const double rate = iteration_ > 0 ? made_.rate * (0.9 + 0.2 * random_.Uniform()) : 0;
    const double loss = 5 / (1 + 0.01 * static_cast<double>(done_));
    switch (made_.format) {
      case MadeFormat::kTqdm:
      case MadeFormat::kTqdmEpochs:
        return Write(
            Bar("", iteration_, Total(), second, rate, fmt::format(", loss={:.3f}", loss)));
      case MadeFormat::kTqdmNested:
        return Write(Bar("", iteration_, Total(), second, rate, "") + "\x1b[A\n");
      case MadeFormat::kTqdmDescribed:
        return Write(Bar(Description(loss), iteration_, Total(), second, rate, ""));
      case MadeFormat::kSteps:
        return Write(
            fmt::format("step {}/{} | loss {:.4f} | lr 1e-4\n", iteration_, Total(), loss));
      case MadeFormat::kJson:
        return Write(fmt::format("{{\"global_step\": {}, \"max_steps\": {}, \"loss\": {:.4f}}}\n",
                                 iteration_, Total(), loss));
      case MadeFormat::kHuggingFace:
        Write(Bar("", iteration_, Total(), second, rate, ""));
        if (done_ % 10 == 0) {
          Write(
              fmt::format("\r      \r{{'loss': '{:.4f}', 'grad_norm': '1.2', 'learning_rate': "
                          "'5e-05', 'epoch': '{:.2f}'}}\n",
                          loss, static_cast<double>(done_) / 1000));
        }
        return;
      case MadeFormat::kLightning:
        return Write(Bar(fmt::format("Epoch {}: ", epoch_), iteration_, Total(), second, rate,
                         fmt::format(", v_num=0, train_loss={:.3f}", loss)));
      case MadeFormat::kKeras:
        return Write(
            fmt::format("{:4}/{} \x1b[32m━━━━━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━\x1b[0m "
                        "\x1b[1m3s\x1b[0m {:.0f}ms/step - accuracy: 0.5 - loss: {:.4f}\n",
                        iteration_, Total(), 1000 / made_.rate, loss));
      case MadeFormat::kDeepSpeed:
        return Write(
            fmt::format("[2026-11-22 07:05:03,250] [INFO] [logging.py:96:log_dist] [Rank "
                        "0] step={}, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]\n",
                        iteration_));
      case MadeFormat::kMegatron:
        return Write(
            fmt::format(" iteration {:8d}/{:8d} | consumed samples: {:12d} | elapsed time "
                        "per iteration (ms): {:.1f} | learning rate: 1.500E-04 | global "
                        "batch size:    16 | lm loss: {:.6E} | loss scale: 1.0 |\n",
                        iteration_, Total(), iteration_ * 16, 1000 / made_.rate, loss));
      case MadeFormat::kNanoGpt:
        return Write(fmt::format("iter {}: loss {:.4f}, time {:.2f}ms, mfu 17.21%\n", iteration_,
                                 loss, 1000 / made_.rate));
      case MadeFormat::kTimm:
        return Write(fmt::format(
            "Train: {} [{:>4}/{} ({:>3.0f}%)]  Loss: {:#.3g} ({:#.3g})  Time: "
            "{:.3f}s, {:>7.2f}/s  (0.4s, 300/s)  LR: 1.000e-03  Data: 0.01\n",
            epoch_, iteration_, Total(), static_cast<double>(100 * iteration_ / Total()), loss,
            loss, 1 / made_.rate, 32 * made_.rate));
      case MadeFormat::kTorchvision:
      case MadeFormat::kCount:
        return Write(
            fmt::format("Epoch: [{}]  [{:>4}/{}]  eta: 0:30:12  lr: 0.1  img/s: 310.5  "
                        "loss: {:.4f} ({:.4f})  time: {:.4f}  data: 0.0100\n",
                        epoch_, iteration_, Total(), loss, loss, 1 / made_.rate));
    }
  }

  void Evaluate() {
    const int64_t total = 40;
    const double begun = now_;
    for (int64_t i = 0; i <= total; ++i) {
      Evaluation(i, total, now_ - begun);
      now_ += made_.evaluation / static_cast<double>(total);
    }
    bool end_line = made_.format == MadeFormat::kHuggingFace;
    if (end_line) Write("\n{'eval_loss': '0.4', 'eval_runtime': '3.1', 'epoch': '1.0'}\n");
  }

  void Evaluation(int64_t done, int64_t total, double seconds) {
    const double rate = static_cast<double>(total) / made_.evaluation;
    switch (made_.format) {
      case MadeFormat::kTqdm:
      case MadeFormat::kTqdmEpochs:
      case MadeFormat::kTqdmDescribed:
        return Write(Bar("Evaluating: ", done, total, seconds, rate, ""));
      case MadeFormat::kTqdmNested:
        return Write(Bar("val: ", done, total, seconds, rate, "") + "\x1b[A\n");
      case MadeFormat::kHuggingFace:
        return Write(Bar("", done, total, seconds, done > 0 ? rate : 0, "") + "\x1b[A\n");
      case MadeFormat::kLightning:
        return Write(Bar("Validation DataLoader 0: ", done, total, seconds, rate, "") + "\x1b[A\n");
      case MadeFormat::kSteps:
        return Write(fmt::format("validation step {}/{} | loss 2.5\n", done, total));
      case MadeFormat::kJson:
        return Write(fmt::format("{{\"step\": {}, \"eval_loss\": 2.5}}\n", done));
      case MadeFormat::kNanoGpt:
        if (done == total) Write("step 250: train loss 2.1, val loss 2.2\n");
        return;
      case MadeFormat::kMegatron:
        return Write(done < total ? fmt::format("Evaluating iter {}/{}\n", done + 1, total)
                                  : " validation loss at iteration 1000 | lm loss value: 5.1 |\n");
      case MadeFormat::kTimm:
        return Write(
            fmt::format("Test: [{:>4}/{}]  Time: 0.100 (0.1)  Loss: 1.2 (1.2)\n", done, total));
      case MadeFormat::kTorchvision:
        return Write(
            fmt::format("Test:  [{:>2}/{}]  eta: 0:00:12  loss: 1.2 (1.2)\n", done, total));
      default:
        return;  // prints nothing
    }
  }

  // Returns when `rank` writes what the first rank writes at `time`.
  double Late(double time) { return time + 0.4 / made_.rate * random_.Uniform(); }

  MadeLog Finish() {
    std::vector<std::pair<double, std::string>> written;
    for (int rank = 0; rank < made_.ranks; ++rank) {
      double last = 0;
      for (const Piece& piece : pieces_) {
        last = std::max(last, rank == 0 ? piece.time : Late(piece.time));
        std::string text = piece.text;
        // Processes that share a log write only whole lines.
        if (made_.ranks > 1 && !text.ends_with('\n')) text += '\n';
        written.emplace_back(last, std::move(text));
      }
    }
    std::stable_sort(written.begin(), written.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    MadeLog log{.format = Format(), .iteration = printed_};
    log.rate = static_cast<double>(times_.size()) / window_;
    const auto& [first, done_first] = lines_.front();
    const auto& [end, done_end] = lines_.back();
    log.overall_rate = static_cast<double>(done_end - done_first) / (end - first);
    log.text = made_.cri ? Cri(written) : Plain(written);
    return log;
  }

  static std::string Plain(const std::vector<std::pair<double, std::string>>& written) {
    std::string text;
    for (const auto& [time, piece] : written) text += piece;
    return text;
  }

  // Formats the log as a container runtime does: writes a line when it ends, or a part of one when
  // the buffer is full.
  std::string Cri(const std::vector<std::pair<double, std::string>>& written) {
    const size_t room = made_.burst ? 4096 : 1;
    std::string log;
    std::string held;
    double time = 0;
    const auto write = [&](const char* tag) {
      const WallTime stamp = WallTime(std::chrono::hours(490'000)) +
                             std::chrono::duration_cast<Duration>(Seconds(time));
      log += fmt::format("{} stderr {} {}\n", ToTimeText(stamp), tag, held);
      held.clear();
    };
    for (const auto& [now, piece] : written) {
      time = now;
      for (const char c : piece) {
        if (c == '\n') {
          write("F");
        } else {
          held += c;
        }
      }
      if (held.size() >= room) write("P");
    }
    if (!held.empty()) write("F");
    return log;
  }

  std::string Format() const {
    switch (made_.format) {
      case MadeFormat::kHuggingFace:
        return "huggingface";
      case MadeFormat::kLightning:
        return "lightning";
      case MadeFormat::kKeras:
        return "keras";
      case MadeFormat::kDeepSpeed:
        return "deepspeed";
      case MadeFormat::kMegatron:
        return "megatron";
      case MadeFormat::kNanoGpt:
        return "nanogpt";
      case MadeFormat::kTimm:
        return "timm";
      case MadeFormat::kTorchvision:
        return "torchvision";
      case MadeFormat::kSteps:
        return "steps";
      case MadeFormat::kJson:
        return "json";
      default:
        return "tqdm";
    }
  }

  const MadeTraining made_;
  Random random_;
  double now_ = 0;
  double trained_ = 0;
  int64_t done_ = 0;
  int64_t iteration_ = 0;
  int64_t epoch_ = 0;
  int64_t printed_ = 0;
  double bar_begun_ = 0;
  double last_line_ = -1000;
  double last_stall_ = 0;
  std::deque<double> times_;  // times of the iterations in the last minute of training
  double window_ = 0;
  std::vector<std::pair<double, int64_t>> lines_;  // training lines: time, iterations so far
  std::vector<Piece> pieces_;
};

}  // namespace

MadeLog Make(const MadeTraining& training) { return Maker(training).Run(); }

}  // namespace synergy::testing
