#pragma once

// Collects the figures and goals of a benchmark.

#include <string>
#include <vector>

namespace synergy::bench {

struct Goal {
  std::string name;
  double measured = 0;
  double limit = 0;
  bool at_least = false;  // otherwise the limit is an upper bound

  bool met() const { return at_least ? measured >= limit : measured <= limit; }
};

class Results {
 public:
  void Figure(const std::string& name, double value);
  void Check(Goal goal) { goals_.push_back(std::move(goal)); }

  // Prints the goals and writes all figures to `file`, unless it is empty. Returns the exit status:
  // 1 if a goal was missed.
  int Report(const std::string& file) const;

 private:
  std::string figures_;
  std::vector<Goal> goals_;
};

}  // namespace synergy::bench
