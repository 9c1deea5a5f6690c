#include "bench/rounds/results.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace synergy::bench {

void Results::Figure(const std::string& name, double value) {
  figures_ += fmt::format("{}\"{}\":{}", figures_.empty() ? "" : ",", name, value);
}

int Results::Report(const std::string& file) const {
  std::string json;
  int status = EXIT_SUCCESS;
  fmt::print("\n{:<62}{:>10}{:>12}\n", "goal", "measured", "limit");
  for (const Goal& goal : goals_) {
    fmt::print("{:<62}{:>10.4g}{:>5}{:>7.4g}  {}\n", goal.name, goal.measured,
               goal.at_least ? ">=" : "<=", goal.limit, goal.met() ? "met" : "MISSED");
    json += fmt::format("{}{{\"name\":\"{}\",\"measured\":{},\"limit\":{},\"met\":{}}}",
                        json.empty() ? "" : ",", goal.name, goal.measured, goal.limit, goal.met());
    if (!goal.met()) status = EXIT_FAILURE;
  }
  if (!file.empty()) {
    std::ofstream(file) << fmt::format("{{\"figures\":{{{}}},\"goals\":[{}]}}\n", figures_, json);
  }
  return status;
}

}  // namespace synergy::bench
