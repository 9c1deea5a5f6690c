#include "solver/solve.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6;

// No limit, however busy the machine is.
constexpr std::chrono::hours kLong{1};

Solution SolveWithin(const Program& program, const SolveLimits& limits = {.time = kLong}) {
  const Result<Solution> solution = Solve(program, limits);
  EXPECT_TRUE(solution.has_value()) << solution.error().message;
  return solution.value_or(Solution{});
}

std::string ErrorOf(const Program& program) {
  const Result<Solution> solution = Solve(program, {.time = kLong});
  return solution ? "no error" : solution.error().message;
}

// Returns a textbook's program (Dantzig): two goods are produced from three materials. The answer
// is 36, with 2 and 6.
Program Factory() {
  return {.sense = Sense::kMaximize,
          .variables = {{.objective = 3}, {.objective = 5}},
          .rows = {{.upper = 4, .terms = {{0, 1}}},
                   {.upper = 12, .terms = {{1, 2}}},
                   {.upper = 18, .terms = {{0, 3}, {1, 2}}}}};
}

// Returns a program that packs items. The best item by value per weight is not in the best packing.
Program Knapsack() {
  return {.sense = Sense::kMaximize,
          .variables = {{.upper = 1, .objective = 60, .integer = true},
                        {.upper = 1, .objective = 100, .integer = true},
                        {.upper = 1, .objective = 120, .integer = true}},
          .rows = {{.upper = 50, .terms = {{0, 10}, {1, 20}, {2, 30}}}}};
}

// Returns a program that packs many items of nearly the same value per weight into several bags,
// which is hard to prove optimal.
Program HardPacking(int things, int bags) {
  Random random(11);
  Program program{.sense = Sense::kMaximize};
  program.rows.resize(static_cast<size_t>(bags));
  for (int i = 0; i < things; ++i) {
    double weight = 0;
    for (Row& row : program.rows) {
      const double in_row = static_cast<double>(100 + random.Below(900));
      weight += in_row;
      row.terms.push_back({program.variables.size(), in_row});
    }
    program.variables.push_back(
        {.upper = 1, .objective = weight + 100 * random.Uniform(), .integer = true});
  }
  for (Row& row : program.rows) {
    double weight = 0;
    for (const Term& term : row.terms) weight += term.coefficient;
    row.upper = weight / 2;
  }
  return program;
}

TEST(Solve, LinearProgramsHaveThePricesOfTheirRows) {
  // One more unit of the second material gains 1.5, and one of the third gains 1; the first is not
  // used up.
  EXPECT_THAT(SolveWithin(Factory()).prices,
              ElementsAre(DoubleNear(0, kTolerance), DoubleNear(1.5, kTolerance),
                          DoubleNear(1, kTolerance)));
  EXPECT_THAT(SolveWithin(Knapsack()).prices, IsEmpty());
}

TEST(SolveTest, ALinearProgramIsSolved) {
  const Solution solution = SolveWithin(Factory());
  EXPECT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_THAT(solution.values, ElementsAre(DoubleNear(2, kTolerance), DoubleNear(6, kTolerance)));
  EXPECT_NEAR(solution.objective, 36, kTolerance);
  EXPECT_NEAR(solution.bound, 36, kTolerance);
  EXPECT_NEAR(solution.relative_gap, 0, kTolerance);
}

TEST(SolveTest, TheLeastIsFoundAsWellAsTheGreatest) {
  Program program = Factory();
  program.sense = Sense::kMinimize;
  program.rows.push_back({.lower = 2, .terms = {{0, 1}, {1, 1}}});
  const Solution solution = SolveWithin(program);
  EXPECT_THAT(solution.values, ElementsAre(DoubleNear(2, kTolerance), DoubleNear(0, kTolerance)));
  EXPECT_NEAR(solution.objective, 6, kTolerance);
}

TEST(SolveTest, IntegersAreIntegersExactly) {
  const Solution solution = SolveWithin(Knapsack());
  EXPECT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_THAT(solution.values, ElementsAre(0, 1, 1));
  EXPECT_EQ(solution.objective, 220);
  EXPECT_NEAR(solution.bound, 220, kTolerance);
}

TEST(SolveTest, IntegersAndOthersMix) {
  // Machines of 10 hours are bought whole, hours in fractions.
  const Program program{.variables = {{.objective = 7, .integer = true}, {.objective = 1}},
                        .rows = {{.lower = 12.5, .terms = {{0, 10}, {1, 1}}}}};
  const Solution solution = SolveWithin(program);
  EXPECT_THAT(solution.values, ElementsAre(1, DoubleNear(2.5, kTolerance)));
  EXPECT_NEAR(solution.objective, 9.5, kTolerance);
}

TEST(SolveTest, SmallDifferencesCount) {
  Program program = Knapsack();
  for (Variable& variable : program.variables) variable.objective *= 1e-7;
  EXPECT_THAT(SolveWithin(program).values, ElementsAre(0, 1, 1));
}

TEST(SolveTest, NegativeAndFreeVariablesAreAllowed) {
  const Program program{
      .variables = {{.lower = -kUnbounded, .objective = 1},
                    {.lower = -5, .upper = -1.5, .objective = 1, .integer = true}},
      .rows = {{.lower = -10, .terms = {{0, 1}, {1, -1}}}}};
  const Solution solution = SolveWithin(program);
  EXPECT_THAT(solution.values, ElementsAre(DoubleNear(-15, kTolerance), -5));
}

TEST(SolveTest, ProgramWithoutASolutionIsInfeasible) {
  Program continuous = Factory();
  continuous.rows.push_back({.lower = 100, .terms = {{0, 1}, {1, 1}}});
  EXPECT_EQ(SolveWithin(continuous).status, SolveStatus::kInfeasible);
  EXPECT_THAT(SolveWithin(continuous).values, IsEmpty());
  // 2 x = 3 has a solution, but no integer one. Between 0.2 and 0.8 there is no integer either.
  EXPECT_EQ(SolveWithin({.variables = {{.upper = 9, .integer = true}},
                         .rows = {{.lower = 3, .upper = 3, .terms = {{0, 2}}}}})
                .status,
            SolveStatus::kInfeasible);
  EXPECT_EQ(SolveWithin({.variables = {{.lower = 0.2, .upper = 0.8, .integer = true}}}).status,
            SolveStatus::kInfeasible);
}

TEST(SolveTest, AnObjectiveWithoutBoundIsAnError) {
  Program program = Factory();
  program.rows.clear();
  EXPECT_EQ(ErrorOf(program), "the program's objective has no bound");
  program.variables[0].integer = true;
  EXPECT_EQ(ErrorOf(program), "the program's objective has no bound");
}

TEST(SolveTest, AProgramWithoutRowsOrVariablesIsSolvedToo) {
  EXPECT_EQ(SolveWithin({}).status, SolveStatus::kOptimal);
  EXPECT_THAT(SolveWithin({.variables = {{.upper = 2.5, .objective = -1}}}).values,
              ElementsAre(2.5));
  EXPECT_THAT(SolveWithin({.variables = {{.upper = 2.5, .objective = -1, .integer = true}}}).values,
              ElementsAre(2));
  EXPECT_EQ(SolveWithin({.rows = {{.lower = -1}}}).status, SolveStatus::kOptimal);
  EXPECT_EQ(SolveWithin({.rows = {{.lower = 1}}}).status, SolveStatus::kInfeasible);
}

TEST(SolveTest, InvalidProgramIsAnError) {
  Program program = Factory();
  program.rows[0].terms[0].variable = 7;
  EXPECT_EQ(ErrorOf(program), "row 0: variable 7 does not exist");
}

TEST(SolveTest, WithoutTimeThereIsNoAnswer) {
  EXPECT_EQ(SolveWithin(HardPacking(200, 10), {.time = milliseconds(0)}).status,
            SolveStatus::kUnknown);
}

TEST(SolveTest, ALimitGivesASolutionWithAProvenGap) {
  const Program program = HardPacking(120, 8);
  const Solution solution = SolveWithin(program, {.time = kLong, .nodes = 5});
  ASSERT_EQ(solution.status, SolveStatus::kFeasible);
  EXPECT_EQ(Violation(program, solution.values), "");
  EXPECT_NEAR(solution.objective, Objective(program, solution.values), kTolerance);
  EXPECT_GE(solution.bound, solution.objective);
  EXPECT_GT(solution.relative_gap, 0);
  EXPECT_LT(solution.relative_gap, 0.05);
}

TEST(SolveTest, TheTimeLimitHolds) {
  const auto start = std::chrono::steady_clock::now();
  const Solution solution = SolveWithin(HardPacking(300, 12), {.time = milliseconds(300)});
  EXPECT_NE(solution.status, SolveStatus::kOptimal);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(SolveTest, AGapThatIsGoodEnoughEndsTheSearch) {
  const Solution solution = SolveWithin(HardPacking(120, 8), {.time = kLong, .relative_gap = 0.05});
  EXPECT_EQ(solution.status, SolveStatus::kOptimal);
  EXPECT_GT(solution.relative_gap, 0);
  EXPECT_LE(solution.relative_gap, 0.05 + kTolerance);
}

TEST(SolveTest, TheSameProgramGivesTheSameSolutionAgain) {
  const Program program = HardPacking(60, 5);
  const Solution first = SolveWithin(program, {.time = kLong, .nodes = 20});
  const Solution second = SolveWithin(program, {.time = kLong, .nodes = 20});
  EXPECT_EQ(first.values, second.values);
  EXPECT_EQ(first.bound, second.bound);
}

TEST(SolveTest, NothingIsPrinted) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  SolveWithin(Factory());
  SolveWithin(Knapsack());
  SolveWithin(HardPacking(60, 5), {.time = kLong, .nodes = 20});
  SolveWithin({.variables = {{.lower = 0.2, .upper = 0.8, .integer = true}}});
  ErrorOf({.variables = {{.objective = -1}}});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(SolveTest, ThreadsMaySolveAtTheSameTime) {
  const Program program = HardPacking(40, 4);
  const Solution alone = SolveWithin(program, {.time = kLong, .nodes = 20});
  std::vector<Solution> solutions(4);
  {
    std::vector<std::jthread> threads;
    for (Solution& solution : solutions)
      threads.emplace_back([&] { solution = SolveWithin(program, {.time = kLong, .nodes = 20}); });
  }
  for (const Solution& solution : solutions) EXPECT_EQ(solution.values, alone.values);
}

}  // namespace
}  // namespace synergy::testing
