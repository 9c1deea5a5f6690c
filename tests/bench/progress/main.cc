// Measures what reading a line of a log costs: scripts/bench.sh progress.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bench/progress/node.h"
#include "bench/rounds/results.h"
#include "core/wall_time.h"
#include "progress/log_progress.h"

namespace synergy {
namespace {

constexpr int kLines = 20'000;
// A node of 8 pods with 100 lines per second each may take 0.5 % of a core.
constexpr double kLimit = 0.005 / 800 * 1e9;

double CpuNanoseconds() { return 1e9 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string Line(const std::string& kind, int i) {
  if (kind == "tqdm") {
    return fmt::format("\r{:3}%|████▌     | {}/20000 [00:12<00:15, 35.20it/s, loss=0.35]", i / 200,
                       i);
  }
  if (kind == "lightning") {
    return fmt::format("\rEpoch 2: {:3}%|████▌     | {}/20000 [00:12<00:15, 35.20it/s, v_num=0]",
                       i / 200, i);
  }
  if (kind == "download") {
    return fmt::format("\rmodel.safetensors: {:3}%|████▌     | {}M/20000M [00:12<00:15, 101MB/s]",
                       i / 200, i);
  }
  if (kind == "keras") {
    return fmt::format(
        "{:5}/20000 \x1b[32m━━━━━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━\x1b[0m "
        "\x1b[1m3s\x1b[0m 3ms/step - accuracy: 0.8012 - loss: 0.5021",
        i);
  }
  if (kind == "deepspeed") {
    return fmt::format(
        "[2026-11-22 07:05:03,250] [INFO] [logging.py:96:log_dist] [Rank 0] "
        "step={}, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]",
        i);
  }
  if (kind == "megatron") {
    return fmt::format(
        " iteration {:8}/   20000 | consumed samples: {:12} | elapsed time per "
        "iteration (ms): 250.0 | learning rate: 1.5E-04 | lm loss: 5.905366E+00 |",
        i, 16 * i);
  }
  if (kind == "nanogpt") return fmt::format("iter {}: loss 3.2012, time 250.00ms, mfu 17.21%", i);
  if (kind == "timm") {
    return fmt::format(
        "Train: 3 [{:>4}/20000 (  4%)]  Loss: 6.93 (6.95)  Time: 0.400s,  312.10/s "
        " (0.420s,  304.76/s)  LR: 1.000e-06  Data: 0.011 (0.020)",
        i);
  }
  if (kind == "torchvision") {
    return fmt::format(
        "Epoch: [2]  [{:>5}/20000]  eta: 0:30:12  lr: 0.1  img/s: 310.5  loss: 6.91 "
        "(6.95)  acc1: 0.5 (0.4)  time: 0.4000  data: 0.0100  max mem: 6500",
        i);
  }
  return fmt::format(
      "INFO:trainer:worker {} read batch {} of shard-00012.tar in 12.5 ms, queue 7/8, "
      "free memory 81.2 GiB",
      i % 8, i);
}

// Returns a log in the kubelet's format, with a line every 10 ms.
std::string MakeLog(const std::string& kind) {
  std::string log;
  for (int i = 0; i < kLines; ++i) {
    const WallTime time = WallTime(std::chrono::hours(490'000)) + std::chrono::milliseconds(10 * i);
    log += fmt::format("{} stderr {} {}\n", ToTimeText(time), kind == "tqdm" ? "P" : "F",
                       Line(kind, i));
  }
  return log;
}

double NanosecondsPerLine(const std::string& log) {
  constexpr int kRounds = 5;
  double least = 1e300;  // the minimum, because other load on the machine only adds to it
  for (int round = 0; round < kRounds; ++round) {
    LogProgress progress(ContainerLog::Form::kCri);
    const double begun = CpuNanoseconds();
    for (size_t at = 0; at < log.size(); at += 65'536) {
      progress.Feed(std::string_view(log).substr(at, 65'536));
    }
    least = std::min(least, CpuNanoseconds() - begun);
  }
  return least / kLines;
}

}  // namespace
}  // namespace synergy

int main(int argc, char** argv) {
  std::string file;
  CLI::App app("Measures what reading a line of a training's log costs");
  app.add_option("--json", file, "Write all figures to this file");
  CLI11_PARSE(app, argc, argv);
  synergy::bench::Results results;
  fmt::print("{:<14} {:>14}\n", "LINES", "NANOSECONDS");
  for (const char* const kind : {"noise", "download", "tqdm", "lightning", "keras", "deepspeed",
                                 "megatron", "nanogpt", "timm", "torchvision"}) {
    const double cost = synergy::NanosecondsPerLine(synergy::MakeLog(kind));
    fmt::print("{:<14} {:>14.0f}\n", kind, cost);
    results.Figure(fmt::format("progress.{}.nanosecondsPerLine", kind), cost);
    results.Check({fmt::format("nanoseconds for a line: {}", kind), cost, synergy::kLimit});
  }
  const double part = synergy::bench::PartOfACoreToFollowLogs();
  fmt::print("8 pods that print 100 lines a second: {:.2f} % of a core\n", 100 * part);
  results.Figure("progress.node.partOfACore", part);
  results.Check({"a node's logs: part of a core", part, 0.005});
  return results.Report(file);
}
