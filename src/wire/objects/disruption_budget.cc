#include "cluster/disruption_budget.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

using Requirement = LabelSelector::Requirement;
using Operator = LabelSelector::Operator;

std::optional<Operator> ParseOperator(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, Operator>, 4> kOperators = {{
      {"In", Operator::kIn},
      {"NotIn", Operator::kNotIn},
      {"Exists", Operator::kExists},
      {"DoesNotExist", Operator::kDoesNotExist},
  }};
  const auto* const it = std::find_if(kOperators.begin(), kOperators.end(),
                                      [text](const auto& entry) { return entry.first == text; });
  if (it == kOperators.end()) return std::nullopt;
  return it->second;
}

// The most expressions and values of a selector, and the most pods under eviction, to read from a
// budget, because each preemption goes through all of them.
constexpr size_t kMostOfBudget = 1000;

Requirement ReadRequirement(FieldReader& fields, Value expression, size_t& asked) {
  expression = fields.Object(expression);
  Requirement requirement;
  requirement.key = ReadText(fields, expression["key"]);
  fields.Array(expression["values"]).ForEachElement([&](Value value) {
    if (++asked <= kMostOfBudget) requirement.values.push_back(ReadText(fields, value));
  });
  const size_t findings_before = fields.count();
  const Value op = expression["operator"];
  const std::string_view op_text = fields.Text(op);
  if (const std::optional<Operator> parsed = ParseOperator(op_text)) {
    requirement.op = *parsed;
  } else if (op.absent()) {
    fields.ReportMissing(expression, "operator");
  } else if (op.IsString()) {
    fields.Report(op, Quoted(op_text) + " is not an operator of label selectors");
  }
  const bool needs_values = requirement.op == Operator::kIn || requirement.op == Operator::kNotIn;
  if (fields.count() == findings_before && needs_values == requirement.values.empty()) {
    fields.Report(expression, needs_values ? "must list values" : "must not list values");
  }
  return requirement;
}

// Returns a requirement that no labels satisfy.
Requirement Nothing() { return Requirement{std::string(), Operator::kIn, {}}; }

}  // namespace

LabelSelector ReadLabelSelector(FieldReader& fields, Value selector) {
  LabelSelector read;
  const size_t findings_before = fields.count();
  const Value object = fields.Object(selector);
  for (const auto& [key, value] : ReadLabels(fields, object["matchLabels"])) {
    read.requirements.push_back(Requirement{key, Operator::kIn, {value}});
  }
  size_t asked = 0;
  fields.Array(object["matchExpressions"]).ForEachElement([&](Value expression) {
    if (++asked <= kMostOfBudget)
      read.requirements.push_back(ReadRequirement(fields, expression, asked));
  });
  if (asked > kMostOfBudget)
    fields.TooMuch(
        fmt::format("more than {} expressions and values in its selector", kMostOfBudget));
  if (object.missing() || fields.count() > findings_before) read.requirements = {Nothing()};
  return read;
}

template <>
struct Kind<DisruptionBudget> {
  static constexpr std::string_view kName = "disruption budget";
  static DisruptionBudget Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    DisruptionBudget budget;
    budget.uid = ReadText(fields, metadata["uid"]);
    budget.pod_namespace = ReadText(fields, metadata["namespace"]);
    budget.name = ReadText(fields, metadata["name"]);
    budget.selector = ReadLabelSelector(fields, spec["selector"]);
    budget.disruptions_allowed =
        fields.Integer(status["disruptionsAllowed"], 0, std::numeric_limits<int32_t>::max());
    fields.Object(status["disruptedPods"]).ForEachMember([&](std::string_view name, Value) {
      if (budget.disrupted_pods.size() < kMostOfBudget) budget.disrupted_pods.emplace_back(name);
    });
    return budget;
  }
};

template struct KindReader<DisruptionBudget>;

}  // namespace synergy::wire
