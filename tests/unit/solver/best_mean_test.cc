// Compares the results with the general solver's.

#include "solver/best_mean.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "solver/solve.h"

namespace synergy::testing {
namespace {

constexpr double kWithin = 1e-7;

struct Plans {
  size_t limits;
  std::vector<double> values;
  std::vector<std::vector<double>> usages;
};

double BySolver(const Plans& plans) {
  Program program{.sense = Sense::kMaximize, .variables = {}, .rows = {}};
  program.rows.resize(plans.limits + 1, {.upper = 1, .terms = {}});
  program.rows.back().lower = 1;
  for (size_t i = 0; i < plans.values.size(); ++i) {
    program.variables.push_back({.objective = plans.values[i]});
    for (size_t limit = 0; limit < plans.limits; ++limit)
      program.rows[limit].terms.push_back({i, plans.usages[i][limit]});
    program.rows.back().terms.push_back({i, 1});
  }
  return Solve(program, {})->objective;
}

TEST(BestMean, EqualsTheSolutionOfTheGeneralSolver) {
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    Plans plans{.limits = 1 + random.Below(10), .values = {}, .usages = {}};
    BestMean mean(plans.limits);
    const uint64_t count = 1 + random.Below(40);
    for (uint64_t i = 0; i < count; ++i) {
      // The first one uses up some limits, so the search begins at a corner of many faces.
      std::vector<double> usage(plans.limits);
      for (double& each : usage) {
        each = i == 0 ? static_cast<double>(random.Below(2))
                      : static_cast<double>(random.Below(5)) * random.Uniform();
      }
      plans.values.push_back(i == 0 ? 0 : 2 * random.Uniform() - 0.5);
      plans.usages.push_back(usage);
      mean.Add(plans.values.back(), usage);
      if (random.Below(3) > 0 && i + 1 < count) continue;

      ASSERT_TRUE(mean.Solve());
      EXPECT_NEAR(mean.value(), BySolver(plans), kWithin);
      double sum = 0;
      std::vector<double> used(plans.limits, 0);
      for (size_t k = 0; k < plans.values.size(); ++k) {
        EXPECT_GE(mean.weights()[k], 0);
        sum += mean.weights()[k];
        double surplus = plans.values[k] - mean.own_price();
        for (size_t limit = 0; limit < plans.limits; ++limit) {
          used[limit] += mean.weights()[k] * plans.usages[k][limit];
          surplus -= mean.prices()[limit] * plans.usages[k][limit];
        }
        EXPECT_LE(surplus, kWithin);
      }
      EXPECT_NEAR(sum, 1, kWithin);
      EXPECT_LE(*std::max_element(used.begin(), used.end()), 1 + kWithin);
    }
  }
}

}  // namespace
}  // namespace synergy::testing
