#include "cluster/node_selection.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "cluster/labels.h"

namespace synergy {
namespace {

std::optional<int64_t> ToInteger(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Compare(const NodeRequirement& requirement, std::optional<std::string_view> value) {
  if (!value || requirement.values.size() != 1) return false;
  const auto mine = ToInteger(*value);
  const auto limit = ToInteger(requirement.values.front());
  if (!mine || !limit) return false;
  return requirement.op == NodeRequirement::Operator::kGt ? *mine > *limit : *mine < *limit;
}

bool Holds(const NodeRequirement& requirement, const std::string& node, const Labels& labels) {
  using Operator = NodeRequirement::Operator;
  std::optional<std::string_view> value;
  if (requirement.is_field) {
    if (requirement.key != "metadata.name") return false;
    value = node;
  } else {
    value = FindLabel(labels, requirement.key);
  }
  const auto listed = [&] {
    return value && std::find(requirement.values.begin(), requirement.values.end(), *value) !=
                        requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return listed();
    case Operator::kNotIn:
      return !listed();
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value.has_value();
    case Operator::kGt:
    case Operator::kLt:
      return Compare(requirement, value);
    case Operator::kUnknown:
      break;
  }
  return false;
}

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.key.empty() && !toleration.exists) return false;
  return toleration.exists || toleration.value == taint.value;
}

}  // namespace

bool MayGoTo(const NodeSelection& selection, const std::string& node, const Labels& labels,
             const std::vector<Taint>& taints) {
  for (const auto& [key, value] : selection.node_selector) {
    if (FindLabel(labels, key) != std::optional<std::string_view>(value)) return false;
  }
  if (selection.has_affinity &&
      std::none_of(selection.terms.begin(), selection.terms.end(), [&](const auto& term) {
        return !term.empty() && std::all_of(term.begin(), term.end(), [&](const auto& requirement) {
          return Holds(requirement, node, labels);
        });
      })) {
    return false;
  }
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") return true;
    return std::any_of(selection.tolerations.begin(), selection.tolerations.end(),
                       [&](const Toleration& toleration) { return Tolerates(toleration, taint); });
  });
}

}  // namespace synergy
