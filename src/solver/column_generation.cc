#include "solver/column_generation.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "solver/growing_program.h"

namespace synergy {
namespace {

// The solver's own tolerance for the gain of a variable.
constexpr double kNoGain = 1e-7;
// The most variables of one row to add at a time, those with the greatest gains first. This
// prevents them from all belonging to the same rows.
constexpr int kPerRow = 4;

class Generator {
 public:
  explicit Generator(const Program& program)
      : program_(program),
        entries_(program.variables.size()),
        inside_(program.variables.size(), false),
        restricted_(program.sense, program.rows) {
    for (size_t row = 0; row < program.rows.size(); ++row) {
      for (const Term& term : program.rows[row].terms)
        entries_[term.variable].push_back({row, term.coefficient});
    }
  }

  void Add(size_t variable) {
    restricted_.Add(program_.variables[variable], entries_[variable]);
    inside_[variable] = true;
    order_.push_back(variable);
  }

  SolveStatus Solve(const SolveLimits& limits) { return restricted_.Solve(limits); }

  // Adds the variables that help most. Returns false if no variable would help.
  bool Grow() {
    const std::vector<double> prices = restricted_.Prices();
    std::vector<std::pair<double, size_t>> losses;
    for (size_t variable = 0; variable < inside_.size(); ++variable) {
      if (inside_[variable]) continue;
      const double gain = Gain(variable, prices);
      if (gain > kNoGain) losses.emplace_back(-gain, variable);
    }
    std::sort(losses.begin(), losses.end());
    std::vector<int> joined(program_.rows.size(), 0);
    for (const auto& [loss, variable] : losses) {
      const auto& entries = entries_[variable];
      if (std::all_of(entries.begin(), entries.end(),
                      [&](const auto& entry) { return joined[entry.row] >= kPerRow; })) {
        continue;
      }
      for (const auto& entry : entries) ++joined[entry.row];
      Add(variable);
    }
    return !losses.empty();
  }

  Solution Answer() const {
    Solution solution{.status = SolveStatus::kOptimal,
                      .values = std::vector<double>(inside_.size(), 0),
                      .prices = restricted_.Prices()};
    const std::vector<double> values = restricted_.Values();
    for (size_t i = 0; i < order_.size(); ++i) solution.values[order_[i]] = values[i];
    solution.objective = solution.bound = Objective(program_, solution.values);
    return solution;
  }

 private:
  // Returns the gain of one unit of the variable.
  double Gain(size_t variable, const std::vector<double>& prices) const {
    double gain = program_.variables[variable].objective;
    for (const auto& [row, coefficient] : entries_[variable]) gain -= prices[row] * coefficient;
    return program_.sense == Sense::kMaximize ? gain : -gain;
  }

  const Program& program_;
  std::vector<std::vector<GrowingProgram::Entry>> entries_;  // per variable
  std::vector<bool> inside_;
  std::vector<size_t> order_;  // variables in the order in which they were added
  GrowingProgram restricted_;
};

// Returns nullopt if the program must be solved as a whole.
std::optional<Solution> Generate(const Program& program, const std::vector<bool>& start,
                                 const SolveLimits& limits) {
  Generator generator(program);
  for (size_t variable = 0; variable < start.size(); ++variable) {
    if (start[variable]) generator.Add(variable);
  }
  do {
    if (generator.Solve(limits) != SolveStatus::kOptimal) return std::nullopt;
  } while (generator.Grow());
  Solution solution = generator.Answer();
  if (!Violation(program, solution.values).empty()) return std::nullopt;
  return solution;
}

}  // namespace

Result<Solution> SolveByColumns(const Program& program, const std::vector<bool>& start,
                                const SolveLimits& limits) {
  if (const Result<> valid = Validate(program); !valid) return Fail(valid.error());
  const bool integers = std::any_of(program.variables.begin(), program.variables.end(),
                                    [](const Variable& variable) { return variable.integer; });
  if (!integers) {
    if (auto solution = Generate(program, start, limits)) return *std::move(solution);
  }
  return Solve(program, limits);
}

}  // namespace synergy
