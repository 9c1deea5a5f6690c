// Tests small programs against exhaustive search.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "solver/solve.h"

namespace synergy::testing {
namespace {

constexpr double kTolerance = 1e-6;

double AnyCoefficient() { return *rc::gen::inRange(-20, 21) / 4.0; }

Row AnyRow(size_t variables) {
  Row row;
  for (size_t i = 0; i < variables; ++i) {
    if (*rc::gen::inRange(0, 3) > 0) row.terms.push_back({i, AnyCoefficient()});
  }
  const double bound = *rc::gen::inRange(-20, 40) / 4.0;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      row.lower = bound;
      break;
    case 1:
      row.lower = bound;
      row.upper = bound + *rc::gen::inRange(0, 20) / 4.0;
      break;
    default:
      row.upper = bound;
  }
  return row;
}

// Returns integer variables with narrow bounds, mostly 0 and 1.
Program AnyProgram() {
  Program program;
  program.sense = *rc::gen::inRange(0, 2) == 0 ? Sense::kMinimize : Sense::kMaximize;
  const int variables = *rc::gen::inRange(1, 9);
  for (int i = 0; i < variables; ++i) {
    Variable variable{.upper = 1, .objective = AnyCoefficient(), .integer = true};
    if (*rc::gen::inRange(0, 4) == 0) {
      variable.lower = *rc::gen::inRange(-2, 1);
      variable.upper = variable.lower + *rc::gen::inRange(0, 4);
    }
    program.variables.push_back(variable);
  }
  const int rows = *rc::gen::inRange(0, 6);
  for (int i = 0; i < rows; ++i) program.rows.push_back(AnyRow(program.variables.size()));
  return program;
}

// Returns a program with a choice for each of some jobs, under a capacity, as in Synergy-Opt.
Program AnyMultipleChoice() {
  Program program{.sense = Sense::kMaximize};
  Row capacity;
  const int jobs = *rc::gen::inRange(1, 5);
  for (int job = 0; job < jobs; ++job) {
    Row one{.lower = 1, .upper = 1};
    const int cells = *rc::gen::inRange(1, 5);
    for (int cell = 0; cell < cells; ++cell) {
      one.terms.push_back({program.variables.size(), 1});
      capacity.terms.push_back({program.variables.size(), 1.0 * *rc::gen::inRange(1, 25)});
      program.variables.push_back(
          {.upper = 1, .objective = *rc::gen::inRange(0, 300) / 100.0, .integer = true});
    }
    program.rows.push_back(one);
  }
  capacity.upper = *rc::gen::inRange(1, 60);
  program.rows.push_back(capacity);
  return program;
}

bool IsBetter(const Program& program, double objective, double than) {
  return program.sense == Sense::kMaximize ? objective > than : objective < than;
}

// Returns nullopt if there is no solution.
std::optional<double> BestByTrying(const Program& program) {
  std::vector<double> values;
  for (const Variable& variable : program.variables) values.push_back(variable.lower);
  std::optional<double> best;
  for (;;) {
    if (Violation(program, values).empty()) {
      const double objective = Objective(program, values);
      if (!best || IsBetter(program, objective, *best)) best = objective;
    }
    size_t i = 0;
    while (i < values.size() && values[i] == program.variables[i].upper) {
      values[i] = program.variables[i].lower;
      ++i;
    }
    if (i == values.size()) return best;
    values[i] += 1;
  }
}

void CheckAgainstTrying(const Program& program) {
  const Result<Solution> solution = Solve(program, {});
  RC_ASSERT(solution.has_value());
  const std::optional<double> best = BestByTrying(program);
  if (!best) {
    RC_ASSERT(solution->status == SolveStatus::kInfeasible);
    return;
  }
  RC_ASSERT(solution->status == SolveStatus::kOptimal);
  RC_ASSERT(Violation(program, solution->values).empty());
  RC_ASSERT(std::abs(solution->objective - *best) < kTolerance);
  RC_ASSERT(std::abs(solution->bound - *best) < kTolerance);
}

RC_GTEST_PROP(SolverProperty, FindsTheBestOfAllIntegerSolutions, ()) {
  CheckAgainstTrying(AnyProgram());
}

RC_GTEST_PROP(SolverProperty, FindsTheBestCellOfEveryJob, ()) {
  CheckAgainstTrying(AnyMultipleChoice());
}

RC_GTEST_PROP(SolverProperty, GoodEnoughSolutionKeepsItsBound, ()) {
  const Program program = AnyMultipleChoice();
  const double gap = *rc::gen::inRange(0, 50) / 100.0;
  const Result<Solution> solution = Solve(program, {.relative_gap = gap});
  RC_ASSERT(solution.has_value());
  const std::optional<double> best = BestByTrying(program);
  if (!best) return;
  RC_ASSERT(solution->status == SolveStatus::kOptimal);
  RC_ASSERT(solution->relative_gap <= gap + kTolerance);
  RC_ASSERT(solution->bound >= *best - kTolerance);
}

RC_GTEST_PROP(SolverProperty, IntegersNeverMakeAProgramBetter, ()) {
  Program program = AnyProgram();
  const Result<Solution> whole = Solve(program, {});
  for (Variable& variable : program.variables) variable.integer = false;
  const Result<Solution> relaxed = Solve(program, {});
  RC_ASSERT(whole.has_value() && relaxed.has_value());
  if (whole->status == SolveStatus::kInfeasible) return;
  RC_ASSERT(relaxed->status == SolveStatus::kOptimal);
  const double sign = program.sense == Sense::kMaximize ? -1 : 1;
  RC_ASSERT(sign * whole->objective >= sign * relaxed->objective - kTolerance);
}

}  // namespace
}  // namespace synergy::testing
