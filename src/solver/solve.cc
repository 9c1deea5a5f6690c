#include "solver/solve.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <CbcModel.hpp>
#include <CbcStrategy.hpp>
#include <ClpSimplex.hpp>
#include <CoinError.hpp>
#include <CoinPackedMatrix.hpp>
#include <CoinTime.hpp>
#include <OsiClpSolverInterface.hpp>
#include <fmt/format.h>

#include "solver/coin_bound.h"

namespace synergy {
namespace {

constexpr double kSmallestObjective = 1e-9;
constexpr double kIntegerTolerance = 1e-9;
// The least improvement over the last solution, relative to the largest objective coefficient.
constexpr double kImprovement = 1e-9;

// Status codes of CLP and CBC.
constexpr int kStoppedByLimit = 3;
constexpr int kAbandoned = 2;
constexpr int kStoppedOnGap = 2;

// CBC and CGL have global variables that two searches would share (doingDoneBranch, for example).
std::mutex& LibraryMutex() {
  static std::mutex mutex;
  return mutex;
}

class Deadline {
 public:
  explicit Deadline(std::chrono::milliseconds time)
      : end_(CoinGetTimeOfDay() + std::chrono::duration<double>(time).count()) {}

  double Left() const { return std::max(end_ - CoinGetTimeOfDay(), 0.0); }

 private:
  double end_;
};

struct Bounds {
  double lower;
  double upper;
};

// CBC assumes that bounds of integer variables are integers.
Bounds BoundsOf(const Variable& variable) {
  if (!variable.integer) return {variable.lower, variable.upper};
  return {std::ceil(variable.lower - kIntegerTolerance),
          std::floor(variable.upper + kIntegerTolerance)};
}

bool LeavesNothing(const Variable& variable) {
  const Bounds bounds = BoundsOf(variable);
  return bounds.lower > bounds.upper;
}

// Loads the program into CLP, always to be minimized.
void Load(const Program& program, OsiClpSolverInterface& solver) {
  const double sign = program.sense == Sense::kMaximize ? -1 : 1;
  const int columns = static_cast<int>(program.variables.size());
  std::vector<double> column_lower;
  std::vector<double> column_upper;
  std::vector<double> objective;
  for (const Variable& variable : program.variables) {
    const Bounds bounds = BoundsOf(variable);
    column_lower.push_back(ToCoin(bounds.lower));
    column_upper.push_back(ToCoin(bounds.upper));
    objective.push_back(sign * variable.objective);
  }
  CoinPackedMatrix matrix(false, 0, 0);
  matrix.setDimensions(0, columns);
  std::vector<double> row_lower;
  std::vector<double> row_upper;
  for (const Row& row : program.rows) {
    CoinPackedVector terms;
    for (const Term& term : row.terms)
      terms.insert(static_cast<int>(term.variable), term.coefficient);
    matrix.appendRow(terms);
    row_lower.push_back(ToCoin(row.lower));
    row_upper.push_back(ToCoin(row.upper));
  }
  solver.loadProblem(matrix, column_lower.data(), column_upper.data(), objective.data(),
                     row_lower.data(), row_upper.data());
  for (int i = 0; i < columns; ++i) {
    if (program.variables[static_cast<size_t>(i)].integer) solver.setInteger(i);
  }
}

void Silence(OsiClpSolverInterface& solver) {
  solver.setHintParam(OsiDoReducePrint, true, OsiHintTry);
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
}

Result<Solution> Without(SolveStatus status) {
  Solution solution;
  solution.status = status;
  return solution;
}

// `bound`: the bound of the minimized objective.
Result<Solution> With(SolveStatus status, const Program& program, const double* values,
                      double bound, double proven_gap) {
  Solution solution;
  solution.status = status;
  solution.values.assign(values, values + program.variables.size());
  for (size_t i = 0; i < solution.values.size(); ++i) {
    const Variable& variable = program.variables[i];
    double& value = solution.values[i];
    value =
        variable.integer ? std::round(value) : std::clamp(value, variable.lower, variable.upper);
  }
  if (const std::string violation = Violation(program, solution.values); !violation.empty()) {
    return Fail(ErrorCode::kInvalid,
                "the program is badly scaled: by the solver's solution " + violation);
  }
  solution.objective = Objective(program, solution.values);
  const double sign = program.sense == Sense::kMaximize ? -1 : 1;
  const double size = std::max(std::abs(solution.objective), kSmallestObjective);
  // CBC stops searching once no more than the allowed gap can be gained, and does not count that
  // gap in its bound.
  const double allowance = proven_gap * size;
  const double least = std::min(bound, sign * solution.objective - allowance);
  solution.bound = sign * least;
  solution.relative_gap = std::abs(solution.bound - solution.objective) / size;
  return solution;
}

tl::unexpected<Error> NoBound() {
  return Fail(ErrorCode::kInvalid, "the program's objective has no bound");
}

tl::unexpected<Error> GaveUp() {
  return Fail(ErrorCode::kUnavailable, "the solver stopped because of numerical difficulties");
}

// Solves without requiring integers. Leaves a solution in `solver` and returns nullopt, or returns
// the final answer if there is no solution.
std::optional<Result<Solution>> Relax(OsiClpSolverInterface& solver, const Deadline& deadline) {
  ClpSimplex& simplex = *solver.getModelPtr();
  simplex.setMaximumWallSeconds(deadline.Left());
  solver.initialSolve();
  if (solver.isProvenOptimal()) {
    simplex.setMaximumWallSeconds(-1);
    return std::nullopt;
  }
  if (solver.isProvenPrimalInfeasible()) return Without(SolveStatus::kInfeasible);
  if (solver.isProvenDualInfeasible()) return NoBound();
  if (simplex.status() == kStoppedByLimit) return Without(SolveStatus::kUnknown);
  return GaveUp();
}

Result<Solution> Search(const Program& program, const OsiClpSolverInterface& solver,
                        const SolveLimits& limits, const Deadline& deadline) {
  CbcModel model(solver);
  model.setLogLevel(0);
  model.messageHandler()->setLogLevel(0);
  model.setUseElapsedTime(true);
  model.setMaximumSeconds(deadline.Left());
  model.setMaximumNodes(
      static_cast<int>(std::clamp<int64_t>(limits.nodes, 0, std::numeric_limits<int32_t>::max())));
  model.setAllowableFractionGap(limits.relative_gap);
  double largest = 0;
  for (const Variable& variable : program.variables)
    largest = std::max(largest, std::abs(variable.objective));
  model.setDblParam(CbcModel::CbcCutoffIncrement, largest * kImprovement);
  CbcStrategyDefault strategy;
  model.setStrategy(strategy);
  model.branchAndBound();

  const bool ended = model.status() == 0 || model.secondaryStatus() == kStoppedOnGap;
  if (model.status() == kAbandoned) return GaveUp();
  if (model.bestSolution() == nullptr)
    return Without(ended ? SolveStatus::kInfeasible : SolveStatus::kUnknown);
  return With(ended ? SolveStatus::kOptimal : SolveStatus::kFeasible, program, model.bestSolution(),
              model.getBestPossibleObjValue(), limits.relative_gap);
}

Result<Solution> SolveWithLibrary(const Program& program, const SolveLimits& limits) {
  if (std::any_of(program.variables.begin(), program.variables.end(), LeavesNothing))
    return Without(SolveStatus::kInfeasible);
  const std::scoped_lock lock(LibraryMutex());
  const Deadline deadline(limits.time);
  OsiClpSolverInterface solver;
  Silence(solver);
  Load(program, solver);
  if (auto answer = Relax(solver, deadline)) return std::move(*answer);
  if (solver.getNumIntegers() > 0) return Search(program, solver, limits, deadline);
  Result<Solution> solution =
      With(SolveStatus::kOptimal, program, solver.getColSolution(), solver.getObjValue(), 0);
  if (!solution) return solution;
  const double sign = program.sense == Sense::kMaximize ? -1 : 1;
  const double* const prices = solver.getRowPrice();
  for (size_t row = 0; row < program.rows.size(); ++row)
    solution->prices.push_back(sign * prices[row]);
  return solution;
}

}  // namespace

Result<Solution> Solve(const Program& program, const SolveLimits& limits) {
  if (const Result<> valid = Validate(program); !valid) return Fail(valid.error());
  try {
    return SolveWithLibrary(program, limits);
  } catch (const CoinError& error) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the solver stopped in {}: {}", error.methodName(), error.message()));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kUnavailable, fmt::format("the solver stopped: {}", error.what()));
  }
}

}  // namespace synergy
