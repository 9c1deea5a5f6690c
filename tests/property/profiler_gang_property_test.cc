// Tests the profiler with gangs whose true speed, that of the slowest pod, is known. Prints a
// table.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "made_gang.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

constexpr uint64_t kFirstSeed = 20261123;
constexpr uint64_t kSeeds = 10;

struct Expected {
  MadeGangRules rules;
  bool is_confirmed = true;
};

std::vector<Expected> Gangs() {
  const MadeMember silent{.logs = false};
  const MadeMember less{.cores = 1.5};
  const MadeMember less_and_silent{.cores = 1.5, .logs = false};
  // This member's node has no more CPU for it. A probed pod may not get less than half its floor,
  // and this pod has exactly that.
  const MadeMember stuck{.cores = 1.5, .node = 2.5};
  const MadeMember stuck_and_silent{.cores = 1.5, .node = 2.5, .logs = false};
  return {
      {{.name = "four that are alike", .members = std::vector<MadeMember>(4)}},
      {{.name = "one has less CPU", .members = {{}, {}, less, {}}}},
      {{.name = "one has less, and logs nothing", .members = {{}, {}, {}, less_and_silent}}},
      {{.name = "one on a node without more", .members = {{}, stuck, {}, {}}}, false},
      {{.name = "... that logs nothing", .members = {{}, stuck_and_silent, {}, {}}}, false},
      {{.name = "only one logs", .members = {silent, silent, {}, silent}}},
      {{.name = "only the one with less logs", .members = {silent, silent, less, silent}}},
      {{.name = "who waits spins", .members = {{}, {}, less, {}}, .spin = 0.4}},
      {{.name = "one needs more", .members = {{}, {.cost = 0.75}, {}, {}}}},
      {{.name = "one needs more, and logs nothing",
        .members = {{}, {.cost = 0.75, .logs = false}}}},
      {{.name = "GPUs set the pace", .members = std::vector<MadeMember>(4), .best = 4.5}},
  };
}

class ProfilerGangProperty : public ::testing::TestWithParam<std::pair<Duration, bool>> {};

TEST_P(ProfilerGangProperty, MeasuresTheSpeedOfTheSlowest) {
  const auto [reports, strict] = GetParam();
  fmt::print("reports each {:.0f} s, {}\n", Seconds(reports).count(), strict ? "strict" : "shared");
  fmt::print("  {:34} {:>7} {:>7}  {}\n", "largest error of", "points", "CPU s",
             "probes, lost of an hour's, seconds until confirmed");
  for (auto& [rules, is_confirmed] : Gangs()) {
    rules.reports = reports;
    rules.strict = strict;
    double error = 0;
    double cost_error = 0;
    double lost = 0;
    double until = 0;
    size_t probes = 0;
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
      MadeGang gang(rules, seed);
      gang.Run(std::chrono::minutes(20));
      const auto& published = gang.published();
      ASSERT_TRUE(published) << rules.name;
      EXPECT_EQ(published->confirmed, is_confirmed) << rules.name << " seed " << seed;
      EXPECT_EQ(published->gang_size, std::ssize(rules.members));
      EXPECT_LE(gang.most_probed_at_once(), 1U) << rules.name;
      for (const MeasuredPoint& point : published->points) {
        if (point.certainty != PointCertainty::kExact) continue;
        error = std::max(error, std::abs(point.throughput / gang.TrueSpeed(point.cpu) - 1));
      }
      ASSERT_TRUE(published->cpu_seconds) << rules.name;
      cost_error = std::max(cost_error, std::abs(*published->cpu_seconds / gang.TrueCost() - 1));
      lost = std::max(lost, gang.lost() / (gang.iterations() * 3));
      probes = std::max(probes, gang.probes());
      if (gang.confirmed_after()) until = std::max(until, Seconds(*gang.confirmed_after()).count());
    }
    fmt::print("  {:34} {:5.1f} % {:5.1f} %  {}  {:5.2f} %  {:4.0f}\n", rules.name, 100 * error,
               100 * cost_error, probes, 100 * lost, until);
    EXPECT_LE(error, 0.05) << rules.name;
    EXPECT_LE(cost_error, 0.05) << rules.name;
    EXPECT_LE(lost, 0.02) << rules.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Reports, ProfilerGangProperty,
                         ::testing::Values(std::pair<Duration, bool>{seconds(2), false},
                                           std::pair<Duration, bool>{seconds(10), false},
                                           std::pair<Duration, bool>{seconds(2), true},
                                           std::pair<Duration, bool>{seconds(10), true}));

}  // namespace
}  // namespace synergy::testing
