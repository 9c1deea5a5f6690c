#include "solver/program.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr double kTolerance = 1e-6;

std::string BoundsFault(double lower, double upper) {
  if (std::isnan(lower) || std::isnan(upper)) return "a bound is not a number";
  if (lower > upper) return fmt::format("bounds {} to {} leave nothing", lower, upper);
  if (lower == kUnbounded || upper == -kUnbounded) return "a bound is the wrong infinity";
  return "";
}

// `scale`: the size of the terms that were summed up to `value`.
bool IsWithin(double value, double lower, double upper, double scale) {
  const double tolerance = kTolerance * std::max(scale, 1.0);
  return value >= lower - tolerance && value <= upper + tolerance;
}

class RowCheck {
 public:
  explicit RowCheck(size_t variables) : last_row_(variables, 0) {}

  // Call it with rows in order; the first is number 1.
  std::string Fault(const Row& row, size_t number) {
    if (std::string fault = BoundsFault(row.lower, row.upper); !fault.empty()) return fault;
    for (const Term& term : row.terms) {
      if (term.variable >= last_row_.size())
        return fmt::format("variable {} does not exist", term.variable);
      if (!std::isfinite(term.coefficient))
        return fmt::format("the coefficient of variable {} is not finite", term.variable);
      if (last_row_[term.variable] == number)
        return fmt::format("variable {} comes twice", term.variable);
      last_row_[term.variable] = number;
    }
    return "";
  }

 private:
  std::vector<size_t> last_row_;  // the last row with each variable
};

}  // namespace

Result<> Validate(const Program& program) {
  const auto fail = [](std::string_view kind, size_t index, const std::string& fault) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} {}: {}", kind, index, fault));
  };
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const Variable& variable = program.variables[i];
    std::string fault = BoundsFault(variable.lower, variable.upper);
    if (fault.empty() && !std::isfinite(variable.objective)) fault = "the objective is not finite";
    if (!fault.empty()) return fail("variable", i, fault);
  }
  RowCheck check(program.variables.size());
  for (size_t i = 0; i < program.rows.size(); ++i) {
    if (const std::string fault = check.Fault(program.rows[i], i + 1); !fault.empty())
      return fail("row", i, fault);
  }
  return {};
}

double Objective(const Program& program, std::span<const double> values) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += program.variables[i].objective * values[i];
  return sum;
}

std::string Violation(const Program& program, std::span<const double> values) {
  for (size_t i = 0; i < program.variables.size(); ++i) {
    const Variable& variable = program.variables[i];
    if (!IsWithin(values[i], variable.lower, variable.upper, std::abs(values[i])))
      return fmt::format("variable {} is {}", i, values[i]);
    if (variable.integer && values[i] != std::round(values[i]))
      return fmt::format("variable {} is {}, no integer", i, values[i]);
  }
  for (size_t i = 0; i < program.rows.size(); ++i) {
    const Row& row = program.rows[i];
    double sum = 0;
    double scale = 0;
    for (const Term& term : row.terms) {
      sum += term.coefficient * values[term.variable];
      scale = std::max(scale, std::abs(term.coefficient * values[term.variable]));
    }
    if (!IsWithin(sum, row.lower, row.upper, scale))
      return fmt::format("row {} is {}, not {} to {}", i, sum, row.lower, row.upper);
  }
  return "";
}

}  // namespace synergy
