#include "solver/column_generation.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::testing {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

// Returns a program that covers all units of each good with lots of several goods. A lot with one
// good of each kind comes first.
Program Lots(Random& random, size_t goods, size_t lots) {
  Program program{.sense = Sense::kMaximize, .variables = {}, .rows = {}};
  for (size_t good = 0; good < goods; ++good) {
    program.variables.push_back({.objective = 1 + random.Uniform()});
    program.rows.push_back({.upper = 1 + 10 * random.Uniform(), .terms = {{good, 1}}});
  }
  for (size_t lot = 0; lot < lots; ++lot) {
    double worth = 0;
    for (size_t good = 0; good < goods; ++good) {
      if (random.Uniform() > 0.3) continue;
      const double count = 0.2 + random.Uniform();
      worth += count * 1.5;
      program.rows[good].terms.push_back({program.variables.size(), count});
    }
    program.variables.push_back({.upper = 5, .objective = worth * (0.8 + 0.4 * random.Uniform())});
  }
  return program;
}

std::vector<bool> First(const Program& program, size_t count) {
  std::vector<bool> start(program.variables.size(), false);
  std::fill_n(start.begin(), count, true);
  return start;
}

TEST(ColumnGenerationTest, FindsTheOptimumOfTheWhole) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    const Program program = Lots(random, 10, 150);
    const auto whole = Solve(program, {});
    ASSERT_TRUE(whole) << whole.error().message;
    const auto solution = SolveByColumns(program, First(program, 10), {});
    ASSERT_TRUE(solution) << solution.error().message;
    EXPECT_EQ(solution->status, SolveStatus::kOptimal);
    EXPECT_NEAR(solution->objective, whole->objective, 1e-6);
    EXPECT_NEAR(Objective(program, solution->values), solution->objective, 1e-9);
    EXPECT_EQ(Violation(program, solution->values), "");
    // Upper bounds of variables have their own prices, which are not part of the answer.
    for (size_t row = 0; row < program.rows.size(); ++row)
      EXPECT_NEAR(solution->prices[row], whole->prices[row], 1e-6) << "row " << row;
  }
}

TEST(ColumnGenerationTest, MinimizesAsWell) {
  // There are two units of work, and the third worker is the cheapest for each.
  const Program program{
      .sense = Sense::kMinimize,
      .variables = {{.objective = 5}, {.objective = 4}, {.objective = 3}},
      .rows = {{.lower = 2, .terms = {{0, 1}, {1, 1}, {2, 1}}}, {.upper = 1, .terms = {{2, 1}}}}};
  const auto solution = SolveByColumns(program, First(program, 1), {});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_THAT(solution->values, Pointwise(DoubleNear(1e-9), {0.0, 1.0, 1.0}));
  EXPECT_NEAR(solution->objective, 7, 1e-9);
  EXPECT_THAT(solution->prices, Pointwise(DoubleNear(1e-9), {4.0, -1.0}));
}

TEST(ColumnGenerationTest, InfeasibleFirstColumnsAddAllOthers) {
  const Program program{.variables = {{.upper = 1, .objective = 1}, {.objective = 2}},
                        .rows = {{.lower = 3, .terms = {{0, 1}, {1, 1}}}}};
  const auto solution = SolveByColumns(program, First(program, 1), {});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_NEAR(solution->objective, 5, 1e-9);
  Program none = program;
  none.variables[1].upper = 1;
  EXPECT_EQ(SolveByColumns(none, First(none, 1), {})->status, SolveStatus::kInfeasible);
}

TEST(ColumnGenerationTest, IntegersAreKept) {
  const Program program{
      .sense = Sense::kMaximize,
      .variables = {{.objective = 1}, {.objective = 1, .integer = true}},
      .rows = {{.upper = 2.5, .terms = {{1, 1}}}, {.upper = 0, .terms = {{0, 1}}}}};
  const auto solution = SolveByColumns(program, First(program, 1), {});
  ASSERT_TRUE(solution) << solution.error().message;
  EXPECT_NEAR(solution->objective, 2, 1e-9);
}

TEST(ColumnGenerationTest, RefusesAnInvalidProgram) {
  const Program program{.variables = {{.lower = 2, .upper = 1}}, .rows = {}};
  EXPECT_FALSE(SolveByColumns(program, First(program, 1), {}));
}

}  // namespace
}  // namespace synergy::testing
