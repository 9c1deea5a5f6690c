#include "gavel/policies/policies.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gavel/policies/efficiency.h"
#include "gavel/policies/fairness.h"
#include "gavel/policies/job_order.h"

namespace synergy {
namespace {

using Made = std::unique_ptr<GavelPolicy>;

struct Entry {
  std::string_view name;
  GavelView view;
  Made (*make)(GavelView);
};

template <class Policy, auto... kOptions>
Made Make(GavelView view) {
  return std::make_unique<Policy>(view, kOptions...);
}

Made MakeIsolated(GavelView /*view*/) { return std::make_unique<Isolated>(); }

template <bool kByCost, bool kDeadlines>
Made MakeTotal(GavelView view) {
  return std::make_unique<TotalThroughput>(
      view, TotalThroughput::Options{.by_cost = kByCost, .deadlines = kDeadlines});
}

constexpr GavelView kAgnostic = GavelView::kAgnostic;
constexpr GavelView kAware = GavelView::kAware;
constexpr GavelView kPacked = GavelView::kPacked;

// The policies that need a solver; job_order.h has the others.
constexpr std::array kEntries = {
    Entry{"finish_time_fairness", kAgnostic, Make<FinishTimeFairness>},
    Entry{"finish_time_fairness_perf", kAware, Make<FinishTimeFairness>},
    Entry{"finish_time_fairness_packed", kPacked, Make<FinishTimeFairness>},
    Entry{"hierarchical", kAgnostic, Make<WaterFilling, true>},
    Entry{"hierarchical_perf", kAware, Make<WaterFilling, true>},
    Entry{"hierarchical_packed", kPacked, Make<WaterFilling, true>},
    Entry{"isolated", kAware, MakeIsolated},
    Entry{"max_min_fairness", kAgnostic, Make<MaxMinFairness>},
    Entry{"max_min_fairness_perf", kAware, Make<MaxMinFairness>},
    Entry{"max_min_fairness_packed", kPacked, Make<MaxMinFairness>},
    Entry{"max_min_fairness_water_filling", kAgnostic, Make<WaterFilling, false>},
    Entry{"max_min_fairness_water_filling_perf", kAware, Make<WaterFilling, false>},
    Entry{"max_min_fairness_water_filling_packed", kPacked, Make<WaterFilling, false>},
    Entry{"max_sum_throughput", kAgnostic, MakeTotal<false, false>},
    Entry{"max_sum_throughput_perf", kAware, MakeTotal<false, false>},
    Entry{"max_sum_throughput_packed", kPacked, MakeTotal<false, false>},
    Entry{"max_sum_throughput_normalized_by_cost", kAgnostic, MakeTotal<true, false>},
    Entry{"max_sum_throughput_normalized_by_cost_perf", kAware, MakeTotal<true, false>},
    Entry{"max_sum_throughput_normalized_by_cost_packed", kPacked, MakeTotal<true, false>},
    Entry{"max_sum_throughput_normalized_by_cost_SLOs", kAgnostic, MakeTotal<true, true>},
    Entry{"max_sum_throughput_normalized_by_cost_perf_SLOs", kAware, MakeTotal<true, true>},
    Entry{"max_sum_throughput_normalized_by_cost_packed_SLOs", kPacked, MakeTotal<true, true>},
    Entry{"min_total_duration", kAgnostic, Make<Makespan>},
    Entry{"min_total_duration_perf", kAware, Make<Makespan>},
    Entry{"min_total_duration_packed", kPacked, Make<Makespan>},
};

}  // namespace

std::vector<std::string_view> GavelPolicyNames() {
  std::vector<std::string_view> names = JobOrderNames();
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<GavelPolicy>> MakeGavelPolicy(std::string_view name) {
  const auto* const entry = std::find_if(kEntries.begin(), kEntries.end(),
                                         [&](const Entry& each) { return each.name == name; });
  if (entry != kEntries.end()) return entry->make(entry->view);
  if (auto made = MakeJobOrder(name)) return made;
  return Fail(ErrorCode::kInvalid, fmt::format("unknown policy '{}'; known policies: {}", name,
                                               fmt::join(GavelPolicyNames(), ", ")));
}

}  // namespace synergy
