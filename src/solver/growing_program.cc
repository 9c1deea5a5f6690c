#include "solver/growing_program.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <ClpSimplex.hpp>
#include <CoinError.hpp>

#include "solver/coin_bound.h"

namespace synergy {
namespace {

// Status codes of CLP.
constexpr int kOptimal = 0;
constexpr int kInfeasible = 1;

}  // namespace

// The program in CLP's form, always minimized.
struct GrowingProgram::Simplex {
  ClpSimplex model;
};

GrowingProgram::GrowingProgram(Sense sense, std::span<const Row> rows)
    : sign_(sense == Sense::kMaximize ? -1 : 1),
      rows_(rows.size()),
      simplex_(std::make_unique<Simplex>()) {
  ClpSimplex& model = simplex_->model;
  model.setLogLevel(0);
  // Keeps tolerances in the program's own units. With scaling, a helpful variable may seem
  // unhelpful.
  model.scaling(0);
  model.resize(static_cast<int>(rows.size()), 0);
  for (size_t row = 0; row < rows.size(); ++row) {
    model.setRowBounds(static_cast<int>(row), ToCoin(rows[row].lower), ToCoin(rows[row].upper));
  }
}

GrowingProgram::~GrowingProgram() = default;

void GrowingProgram::Add(const Variable& variable, std::span<const Entry> entries) {
  ClpSimplex& model = simplex_->model;
  std::vector<int> rows;
  std::vector<double> coefficients;
  for (const auto& [row, coefficient] : entries) {
    rows.push_back(static_cast<int>(row));
    coefficients.push_back(coefficient);
  }
  model.addColumn(static_cast<int>(rows.size()), rows.data(), coefficients.data(),
                  ToCoin(variable.lower), ToCoin(variable.upper), sign_ * variable.objective);
  // CLP treats a variable that is added to a solved program as free.
  if (model.statusExists()) {
    model.setColumnStatus(model.numberColumns() - 1, std::isinf(variable.lower)
                                                         ? ClpSimplex::isFree
                                                         : ClpSimplex::atLowerBound);
  }
  variables_.push_back(variable);
}

SolveStatus GrowingProgram::Solve(const SolveLimits& limits) {
  ClpSimplex& model = simplex_->model;
  try {
    model.setMaximumWallSeconds(std::chrono::duration<double>(limits.time).count());
    model.primal();
  } catch (const CoinError&) {
    return SolveStatus::kUnknown;
  }
  if (model.status() == kOptimal) return SolveStatus::kOptimal;
  return model.status() == kInfeasible ? SolveStatus::kInfeasible : SolveStatus::kUnknown;
}

std::vector<double> GrowingProgram::Values() const {
  const double* const values = simplex_->model.primalColumnSolution();
  std::vector<double> clamped;
  for (size_t i = 0; i < variables_.size(); ++i)
    clamped.push_back(std::clamp(values[i], variables_[i].lower, variables_[i].upper));
  return clamped;
}

std::vector<double> GrowingProgram::Prices() const {
  const double* const prices = simplex_->model.dualRowSolution();
  std::vector<double> signed_prices;
  for (size_t row = 0; row < rows_; ++row) signed_prices.push_back(sign_ * prices[row]);
  return signed_prices;
}

}  // namespace synergy
