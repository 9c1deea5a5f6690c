#include "gavel/type_policies.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

constexpr std::array kTypePolicies = {
    TypePolicyName{"gavel-fifo",
                   "first come, first served, on the fastest type that has room",
                   {.program = "fifo", .whole_types = true, .fifo = true},
                   {.program = "fifo_perf", .whole_types = true, .fifo = true}},
    TypePolicyName{"gavel-sjf",
                   "shortest job first, on the fastest type that has room",
                   {.program = "shortest_job_first", .whole_types = true},
                   {.program = "shortest_job_first_perf", .whole_types = true}},
    TypePolicyName{"gavel-las",
                   "all jobs get equal shares, added up over all types",
                   {.program = "max_min_fairness"},
                   {.program = "max_min_fairness_perf"}},
    TypePolicyName{"gavel-water-filling",
                   "shares as in las; what the worst-off jobs cannot use is shared in the same way",
                   {.program = "max_min_fairness_water_filling"},
                   {.program = "max_min_fairness_water_filling_perf"}},
    TypePolicyName{"gavel-ftf",
                   "lowest worst-case finish time, relative to an equal part of the cluster",
                   {.program = "finish_time_fairness"},
                   {.program = "finish_time_fairness_perf"}},
    TypePolicyName{"gavel-makespan",
                   "earliest end of the last job",
                   {.program = "min_total_duration"},
                   {.program = "min_total_duration_perf"}},
    TypePolicyName{"gavel-throughput",
                   "most work in total",
                   {.program = "max_sum_throughput"},
                   {.program = "max_sum_throughput_perf"}},
    TypePolicyName{"gavel-cost",
                   "most work per cost",
                   {.program = "max_sum_throughput_normalized_by_cost",
                    .with_deadlines = "max_sum_throughput_normalized_by_cost_SLOs",
                    .by_cost = true},
                   {.program = "max_sum_throughput_normalized_by_cost_perf",
                    .with_deadlines = "max_sum_throughput_normalized_by_cost_perf_SLOs",
                    .by_cost = true}},
};

}  // namespace

std::span<const TypePolicyName> TypePolicyNames() { return kTypePolicies; }

bool IsTypePolicy(std::string_view name) { return name.starts_with(kTypePolicyPrefix); }

std::string TypePolicyOf(std::string_view order, bool aware) {
  return fmt::format("{}{}{}", kTypePolicyPrefix, order, aware ? "" : kAgnosticEnd);
}

Result<TypePolicy> ParseTypePolicy(std::string_view name) {
  const bool aware = !name.ends_with(kAgnosticEnd);
  std::string_view plain = name;
  if (!aware) plain.remove_suffix(kAgnosticEnd.size());
  std::vector<std::string_view> names;
  for (const TypePolicyName& known : kTypePolicies) {
    if (known.name == plain) {
      TypePolicy policy = aware ? known.with_speeds : known.agnostic;
      policy.aware = aware;
      return policy;
    }
    names.push_back(known.name);
  }
  return Fail(
      ErrorCode::kInvalid,
      fmt::format("unknown policy '{}' of GPU types: use one of {}, each also with -agnostic", name,
                  fmt::join(names, ", ")));
}

}  // namespace synergy
