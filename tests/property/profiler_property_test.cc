// Tests the profiler with trainings whose true speed is known: the error, the cost and the duration
// of its measurements. Prints a table.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "made_training.h"
#include "profile/measured/curve_points.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr uint64_t kFirstSeed = 20261122;
constexpr uint64_t kSeeds = 10;
constexpr uint64_t kPhaseSeeds = 2;

struct Expected {
  MadeTrainer trainer;
  bool is_clean = true;       // confirmed within three minutes
  bool is_costed = true;      // CPU seconds per iteration are reported, and correct within 3 %
  bool is_settled = true;     // a confirmed profile is published
  double within = 0.98;       // fraction of its points that are within 5 %
  bool is_unsettled = false;  // every conclusion is soon wrong again
};

std::vector<Expected> Trainers() {
  return {
      {{.name = "plateau above its share", .best = 10, .cost = 0.57}},
      {{.name = "more than the node has", .best = 40, .cost = 0.6}},
      {{.name = "hardly any CPU", .best = 20, .cost = 0.002}},
      {{.name = "half its share", .best = 10, .cost = 0.14}},
      {{.name = "serial part", .cost = 0.3, .serial = 0.05}, false},
      {{.name = "spins", .best = 10, .cost = 0.02, .spin = 1}, true, false},
      {{.name = "busy workers", .best = 20, .cost = 0.4, .workers = 2}},
      {{.name = "deep queue", .best = 10, .cost = 0.25, .queue = 64}, false},
      {{.name = "deep queue, slow", .best = 1, .cost = 2.5, .queue = 16}, false, false, false},
      {{.name = "stalls of 4 s in 30 s", .best = 10, .cost = 0.25, .stall_every = 30, .stall = 4}},
      {{.name = "noise of 3 %", .best = 10, .cost = 0.57, .noise = 0.03}},
      {{.name = "noise of 5 %", .best = 10, .cost = 0.25, .noise = 0.05}},
      {{.name = "outliers", .best = 10, .cost = 0.25, .noise = 0.02, .outliers = 0.02},
       true,
       true,
       true,
       0.9},
      {{.name = "a line in 6 s", .best = 2, .cost = 1.2, .line = 6}},
      {{.name = "a line in 20 s", .best = 2, .cost = 1.2, .line = 20}, false},
      {{.name = "slow iterations", .best = 0.7, .cost = 6.2, .line = 0.1}, false},
      {{.name = "speed by phase", .best = 10, .cost = 0.25, .phase = 45}, false, false, false},
      {{.name = "CPU time by phase", .best = 40, .cost = 0.6, .phase = 45, .phase_of_cpu = true},
       false,
       false,
       false,
       0,
       true},
      {{.name = "logs nothing", .silent = true}, false, false, false},
  };
}

// Returns trainings whose speed changes after this many seconds each time, by their GPU or by the
// CPU time of an iteration. They are the hardest case for the cost of probes, because it is not
// known how fast they would be without a probe.
std::vector<Expected> TrainersByPhase() {
  std::vector<Expected> trainers;
  for (const double phase : {12, 20, 30, 60, 90, 150, 240, 400}) {
    for (const bool of_cpu : {false, true}) {
      for (const bool slow_first : {false, true}) {
        for (const double best : {10, 40}) {
          trainers.push_back(
              {{.name = fmt::format("{} by {:.0f} s{}, best {:.0f}", of_cpu ? "CPU time" : "speed",
                                    phase, slow_first ? ", slow first" : "", best),
                .best = best,
                .cost = best == 10 ? 0.25 : 0.6,
                .phase = phase,
                .phase_of_cpu = of_cpu,
                .slow_first = slow_first},
               false,
               false,
               false});
        }
      }
    }
  }
  return trainers;
}

// Limit on lost iterations per hour: ProfilerSettings::most_loss.
constexpr double kMostLost = 0.02;

// Totals over all runs of a trainer.
struct Sum {
  std::vector<double> errors;  // relative errors of exact points
  std::vector<double> cost_errors;
  std::vector<double> seconds;  // time until the profile was confirmed
  int runs = 0;
  int confirmed = 0;
  size_t most_probes = 0;
  double most_lost = 0;  // greatest fraction of an hour's iterations
};

double Largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double ShareWithin(const std::vector<double>& errors, double most) {
  if (errors.empty()) return 1;
  const auto within =
      std::count_if(errors.begin(), errors.end(), [most](double e) { return e <= most; });
  return static_cast<double>(within) / static_cast<double>(errors.size());
}

void AddRun(Sum& sum, const Expected& expected, const MadeNode& node, uint64_t seed) {
  const ProfilerSettings settings;
  MadeTraining training(expected.trainer, node, seed, settings);
  training.Run(minutes(20));
  ++sum.runs;
  sum.most_probes = std::max(sum.most_probes, training.probes().size());
  sum.most_lost = std::max(sum.most_lost, training.lost() / (training.iterations() * 3));
  for (const MilliCpu probe : training.probes()) {
    const double cores = static_cast<double>(probe.count()) / 1000;
    // It has half of the floor, or clearly more than the training uses.
    EXPECT_TRUE(!expected.is_settled || cores >= 0.5 * node.fair_share ||
                cores >= 1.15 * expected.trainer.best * expected.trainer.cost)
        << expected.trainer.name << " seed " << seed << ": probed with " << cores;
  }

  const auto& published = training.published();
  if (!published) return;
  if (published->confirmed) ++sum.confirmed;
  if (training.confirmed_after())
    sum.seconds.push_back(Seconds(*training.confirmed_after()).count());
  if (!expected.is_settled) return;
  for (const MeasuredPoint& point : published->points) {
    if (point.certainty != PointCertainty::kExact) continue;
    sum.errors.push_back(std::abs(point.throughput / training.TrueSpeed(point.cpu) - 1));
  }
  if (expected.is_costed && published->cpu_seconds)
    sum.cost_errors.push_back(std::abs(*published->cpu_seconds / expected.trainer.cost - 1));
}

class ProfilerProperty : public ::testing::TestWithParam<MadeNode> {};

TEST_P(ProfilerProperty, MeasuresTheTrueSpeed) {
  const MadeNode& node = GetParam();
  fmt::print("reports each {:.0f} s, {}, {} idle cores, waiting {}\n",
             Seconds(node.reports).count(), node.strict ? "strict" : "shared", node.idle,
             node.reports_waiting ? "told" : "not told");
  fmt::print("  {:26} {:>7}  {:>7}  {:>6}  {}\n", "largest error of", "points", "CPU s", "in 5 %",
             "probes, lost of an hour's, seconds until confirmed");
  for (const Expected& expected : Trainers()) {
    Sum sum;
    for (uint64_t i = 0; i < kSeeds; ++i) AddRun(sum, expected, node, kFirstSeed + i);
    fmt::print("  {:26} {:5.1f} %  {:5.1f} %  {:4.0f} %  {}  {:5.2f} %  {:4.0f}\n",
               expected.trainer.name, 100 * Largest(sum.errors), 100 * Largest(sum.cost_errors),
               100 * ShareWithin(sum.errors, 0.05), sum.most_probes, 100 * sum.most_lost,
               Largest(sum.seconds));
    EXPECT_LE(sum.most_probes, 8U) << expected.trainer.name;
    EXPECT_LE(sum.most_lost, kMostLost) << expected.trainer.name;
    EXPECT_GE(ShareWithin(sum.errors, 0.05), expected.within) << expected.trainer.name;
    EXPECT_GE(ShareWithin(sum.cost_errors, 0.03), 0.9) << expected.trainer.name;
    if (expected.is_settled) {
      EXPECT_EQ(sum.confirmed, sum.runs) << expected.trainer.name;
    }
    if (expected.is_unsettled) {
      EXPECT_EQ(sum.confirmed, 0) << expected.trainer.name;
    }
    if (expected.is_clean) {
      EXPECT_LE(Largest(sum.seconds), 180) << expected.trainer.name;
    }
  }
}

TEST_P(ProfilerProperty, LosesNoMoreThanIsAllowed) {
  const MadeNode& node = GetParam();
  double most = 0;
  for (const Expected& expected : TrainersByPhase()) {
    Sum sum;
    for (uint64_t i = 0; i < kPhaseSeeds; ++i) AddRun(sum, expected, node, kFirstSeed + i);
    fmt::print("  {:40} {} probes {:5.2f} %\n", expected.trainer.name, sum.most_probes,
               100 * sum.most_lost);
    EXPECT_LE(sum.most_lost, kMostLost) << expected.trainer.name;
    most = std::max(most, sum.most_lost);
  }
  fmt::print("  at most {:.2f} % of an hour's iterations lost\n", 100 * most);
}

// For these trainings only the GPUs are observed. There must be no probe and no cut, and the claims
// must be correct.
TEST_P(ProfilerProperty, ByBusyGpusNothingIsTakenAway) {
  const MadeNode& node = GetParam();
  const std::vector<MadeTrainer> trainers = {
      {.name = "plateau above its share", .best = 10, .cost = 0.57},
      {.name = "half its share", .best = 10, .cost = 0.14},
      {.name = "hardly any CPU", .best = 20, .cost = 0.002},
      {.name = "spins", .best = 10, .cost = 0.02, .spin = 1},
      {.name = "busy workers", .best = 20, .cost = 0.4, .workers = 2},
      {.name = "its GPU spins", .best = 10, .cost = 0.57, .gpu_spins = true},
      {.name = "stalls of 4 s in 30 s", .best = 10, .cost = 0.25, .stall_every = 30, .stall = 4},
      {.name = "speed by phase", .best = 10, .cost = 0.25, .phase = 45}};
  for (MadeTrainer trainer : trainers) {
    trainer.silent = trainer.reports_busy = true;
    double largest = 0;
    for (uint64_t i = 0; i < kSeeds; ++i) {
      MadeTraining training(trainer, node, kFirstSeed + i);
      training.Run(minutes(20));
      EXPECT_TRUE(training.probes().empty()) << trainer.name;
      EXPECT_GE(training.requested(), FromCores(node.fair_share)) << trainer.name;
      const auto& published = training.published();
      EXPECT_TRUE(published || trainer.phase > 0) << trainer.name;
      if (!published) continue;
      // If a training's GPU is idle at times for lack of CPU, the training gets that CPU.
      if (!trainer.gpu_spins && trainer.cost > 0.5) {
        EXPECT_GE(published->points.back().throughput, 0.97) << trainer.name;
        EXPECT_GE(training.requested(), FromCores(5.7 - node.idle)) << trainer.name;
      }
      EXPECT_TRUE(published->estimate && published->censored && !published->confirmed)
          << trainer.name;
      for (const MeasuredPoint& point : published->points) {
        EXPECT_NE(point.certainty, PointCertainty::kExact) << trainer.name;
        EXPECT_LE(point.throughput, 1.001) << trainer.name;
        // Below the fair share nothing is known.
        EXPECT_GE(static_cast<double>(point.cpu.count()), 990 * node.fair_share) << trainer.name;
        const double true_speed = training.TrueSpeed(point.cpu) / trainer.best;
        if (!trainer.gpu_spins && trainer.phase == 0)
          largest = std::max(largest, std::abs(point.throughput / true_speed - 1));
      }
    }
    fmt::print("  by busy GPUs: {:26} {:5.1f} %\n", trainer.name, 100 * largest);
    EXPECT_LE(largest, 0.08) << trainer.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Reports, ProfilerProperty,
    ::testing::Values(MadeNode{.reports = seconds(2)}, MadeNode{.reports = seconds(10)},
                      MadeNode{.reports = seconds(2), .strict = true},
                      MadeNode{.reports = seconds(10), .strict = true},
                      MadeNode{.idle = 4, .reports = seconds(10)},
                      MadeNode{.reports = seconds(10), .reports_waiting = false}));

}  // namespace
}  // namespace synergy::testing
