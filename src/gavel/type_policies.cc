#include "gavel/type_policies.h"

#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace synergy {
namespace {

constexpr std::string_view kPrefix = "gavel-";
constexpr std::string_view kAgnosticEnd = "-agnostic";

constexpr std::array<TypePolicyName, 8> kTypePolicyNames = {{
    {"gavel-fifo", "who came first, on the fastest type that has room"},
    {"gavel-sjf", "who can end soonest, on the fastest type that has room"},
    {"gavel-las", "equal shares of what each would get on all types in turn"},
    {"gavel-water-filling", "the same, and what the worst-off cannot use is shared likewise"},
    {"gavel-ftf", "worst finish time against that with a part of the cluster least"},
    {"gavel-makespan", "the end of the last job soonest"},
    {"gavel-throughput", "the most work in total"},
    {"gavel-cost", "the most work for its price"},
}};

struct Forms {
  TypePolicy agnostic;
  TypePolicy aware;
};

// As kTypePolicyNames.
constexpr std::array<Forms, 8> kForms = {{
    {{.program = "fifo", .whole_types = true, .fifo = true},
     {.program = "fifo_perf", .whole_types = true, .fifo = true}},
    {{.program = "shortest_job_first", .whole_types = true},
     {.program = "shortest_job_first_perf", .whole_types = true}},
    {{.program = "max_min_fairness"}, {.program = "max_min_fairness_perf"}},
    {{.program = "max_min_fairness_water_filling"},
     {.program = "max_min_fairness_water_filling_perf"}},
    {{.program = "finish_time_fairness"}, {.program = "finish_time_fairness_perf"}},
    {{.program = "min_total_duration"}, {.program = "min_total_duration_perf"}},
    {{.program = "max_sum_throughput"}, {.program = "max_sum_throughput_perf"}},
    {{.program = "max_sum_throughput_normalized_by_cost",
      .with_deadlines = "max_sum_throughput_normalized_by_cost_SLOs",
      .by_cost = true},
     {.program = "max_sum_throughput_normalized_by_cost_perf",
      .with_deadlines = "max_sum_throughput_normalized_by_cost_perf_SLOs",
      .by_cost = true}},
}};

}  // namespace

std::span<const TypePolicyName> TypePolicyNames() { return kTypePolicyNames; }

bool IsTypePolicy(std::string_view name) { return name.starts_with(kPrefix); }

Result<TypePolicy> ParseTypePolicy(std::string_view name) {
  const bool aware = !name.ends_with(kAgnosticEnd);
  std::string_view plain = name;
  if (!aware) plain.remove_suffix(kAgnosticEnd.size());
  std::vector<std::string_view> names;
  for (size_t at = 0; at < kTypePolicyNames.size(); ++at) {
    if (kTypePolicyNames.at(at).name != plain) {
      names.push_back(kTypePolicyNames.at(at).name);
      continue;
    }
    TypePolicy policy = aware ? kForms.at(at).aware : kForms.at(at).agnostic;
    policy.aware = aware;
    return policy;
  }
  return Fail(ErrorCode::kInvalid,
              fmt::format("no policy '{}' of GPU types: one of {}, each also with -agnostic", name,
                          fmt::join(names, ", ")));
}

}  // namespace synergy
