// Tests re-division against exhaustive search.

#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/re_division.h"

namespace synergy::testing {
namespace {

using Choices = std::vector<DivisionChoice>;

std::vector<Choices> RandomJobs() {
  std::vector<Choices> jobs(*rc::gen::inRange<size_t>(1, 6));
  for (Choices& choices : jobs) {
    choices.resize(*rc::gen::inRange<size_t>(1, 5));
    for (DivisionChoice& choice : choices) {
      choice = {MilliCpu(*rc::gen::inRange(1, 13) * 500), GB(*rc::gen::inRange(1, 30)),
                *rc::gen::inRange(1, 40) / 8.0};
    }
  }
  return jobs;
}

// Returns the greatest value of any division that fits; nullopt if none does.
std::optional<double> BestOf(std::span<const Choices> jobs, MilliCpu cpu, Bytes memory) {
  if (cpu < MilliCpu(0) || memory < Bytes(0)) return std::nullopt;
  if (jobs.empty()) return 0;
  std::optional<double> best;
  for (const DivisionChoice& choice : jobs.front()) {
    const auto rest = BestOf(jobs.subspan(1), cpu - choice.cpu, memory - choice.memory);
    if (rest) best = std::max(best.value_or(0), *rest + choice.value);
  }
  return best;
}

RC_GTEST_PROP(DivideProperty, IsTheBestOfAllDivisions, ()) {
  const std::vector<Choices> jobs = RandomJobs();
  const MilliCpu cpu(*rc::gen::inRange(1, 50) * 500);
  const Bytes memory = GB(*rc::gen::inRange(1, 100));
  const std::vector<std::span<const DivisionChoice>> spans(jobs.begin(), jobs.end());
  const Division division = Divide(spans, cpu, memory);
  const auto best = BestOf(jobs, cpu, memory);
  RC_ASSERT(division.chosen.empty() == !best.has_value());
  if (!best) return;
  RC_ASSERT(std::abs(division.value - *best) < 1e-6);
  RC_ASSERT(division.bound >= *best - 1e-6);
  MilliCpu used_cpu;
  Bytes used_memory;
  double value = 0;
  for (size_t job = 0; job < jobs.size(); ++job) {
    const DivisionChoice& choice = jobs[job][division.chosen[job]];
    used_cpu += choice.cpu;
    used_memory += choice.memory;
    value += choice.value;
  }
  RC_ASSERT(used_cpu <= cpu);
  RC_ASSERT(used_memory <= memory);
  RC_ASSERT(std::abs(value - division.value) < 1e-6);
}

RC_GTEST_PROP(DivideProperty, ASearchCutShortKeepsItsPromise, ()) {
  const std::vector<Choices> jobs = RandomJobs();
  const MilliCpu cpu(*rc::gen::inRange(1, 50) * 500);
  const Bytes memory = GB(*rc::gen::inRange(1, 100));
  const std::vector<std::span<const DivisionChoice>> spans(jobs.begin(), jobs.end());
  const auto best = BestOf(jobs, cpu, memory);
  const Division division = Divide(spans, cpu, memory, 1);
  if (division.chosen.empty()) return;
  RC_ASSERT(division.value <= *best + 1e-6);
  RC_ASSERT(division.bound >= *best - 1e-6);
}

}  // namespace
}  // namespace synergy::testing
