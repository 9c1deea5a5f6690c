#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "cluster/node_selection.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

NodeRequirement::Operator ParseOperator(std::string_view text) {
  using Operator = NodeRequirement::Operator;
  if (text == "In") return Operator::kIn;
  if (text == "NotIn") return Operator::kNotIn;
  if (text == "Exists") return Operator::kExists;
  if (text == "DoesNotExist") return Operator::kDoesNotExist;
  if (text == "Gt") return Operator::kGt;
  if (text == "Lt") return Operator::kLt;
  return Operator::kUnknown;
}

// The most conditions on nodes to read from a pod, because each pass of a plan goes through all of
// them.
constexpr size_t kMostAsked = 1000;

void ReadRequirements(FieldReader& fields, Value list, bool is_field, size_t& asked,
                      NodeSelectorTerm& term) {
  fields.Array(list).ForEachElement([&](Value expression) {
    expression = fields.Object(expression);
    if (++asked > kMostAsked) return;
    NodeRequirement& requirement = term.emplace_back();
    requirement.key = ReadText(fields, expression["key"]);
    requirement.op = ParseOperator(fields.Text(expression["operator"]));
    requirement.is_field = is_field;
    fields.Array(expression["values"]).ForEachElement([&](Value value) {
      if (++asked <= kMostAsked) requirement.values.push_back(ReadText(fields, value));
    });
  });
}

// Returns whether the pod's author prefers some of the possible nodes.
bool ReadPrefers(FieldReader& fields, Value spec) {
  bool prefers = false;
  const Value affinity = fields.Object(spec["affinity"]);
  for (const char* kind : {"nodeAffinity", "podAffinity", "podAntiAffinity"}) {
    const Value of_kind = fields.Object(affinity[kind]);
    fields.Array(of_kind["preferredDuringSchedulingIgnoredDuringExecution"])
        .ForEachElement([&](Value) { prefers = true; });
  }
  fields.Array(spec["topologySpreadConstraints"]).ForEachElement([&](Value constraint) {
    prefers |= fields.Text(fields.Object(constraint)["whenUnsatisfiable"]) == "ScheduleAnyway";
  });
  return prefers;
}

}  // namespace

NodeSelection ReadNodeSelection(FieldReader& fields, Value spec) {
  NodeSelection selection;
  selection.node_selector = ReadLabels(fields, spec["nodeSelector"]);
  const Value required = fields.Object(fields.Object(fields.Object(
      spec["affinity"])["nodeAffinity"])["requiredDuringSchedulingIgnoredDuringExecution"]);
  selection.has_affinity = !required.missing();
  size_t asked = 0;
  fields.Array(required["nodeSelectorTerms"]).ForEachElement([&](Value term) {
    term = fields.Object(term);
    if (++asked > kMostAsked) return;
    NodeSelectorTerm& requirements = selection.terms.emplace_back();
    ReadRequirements(fields, term["matchExpressions"], false, asked, requirements);
    ReadRequirements(fields, term["matchFields"], true, asked, requirements);
  });
  fields.Array(spec["tolerations"]).ForEachElement([&](Value toleration) {
    toleration = fields.Object(toleration);
    if (++asked > kMostAsked) return;
    selection.tolerations.push_back(
        {ReadText(fields, toleration["key"]), ReadText(fields, toleration["value"]),
         ReadText(fields, toleration["effect"]), fields.Text(toleration["operator"]) == "Exists"});
  });
  if (asked > kMostAsked) {
    fields.TooMuch(fmt::format("more than {} terms, values and tolerations that nodes are to meet",
                               kMostAsked));
  }
  return selection;
}

std::shared_ptr<const Waiting> ReadWaiting(FieldReader& fields, Value metadata, Value spec,
                                           Value status, const ClaimRules* claims,
                                           bool placed_by_us) {
  static const auto kAnywhere = std::make_shared<const NodeSelection>();
  auto waiting = std::make_shared<Waiting>();
  waiting->scheduler = ReadText(fields, spec["schedulerName"]);
  waiting->nominated_node = ReadText(fields, status["nominatedNodeName"]);
  waiting->selection = kAnywhere;
  if (!placed_by_us) return waiting;
  fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    if (fields.Text(condition["type"]) != "PodScheduled") return;
    waiting->unschedulable = fields.Text(condition["status"]) == "False" &&
                             fields.Text(condition["reason"]) == "Unschedulable";
    waiting->message = ReadText(fields, condition["message"]);
    waiting->since = ParseTime(fields.Text(condition["lastTransitionTime"])).value_or(WallTime{});
  });
  // A malformed annotation reserves no place.
  const auto claimed =
      claims != nullptr ? ClaimedUntil(metadata, annotations::kKeptPlace, *claims) : std::nullopt;
  if (claimed) {
    const Value kept = metadata["annotations"][annotations::kKeptPlace];
    if (const Result<Document> document = Document::Parse(kept.text())) {
      const Value root = document->root();
      const std::optional<WallTime> until = ParseTime(root["until"].text());
      if (until && root["node"].IsString()) {
        waiting->kept_node = root["node"].text();
        waiting->kept_until = std::min(*until, *claimed);
      }
    }
  }
  waiting->never_preempts = fields.Text(spec["preemptionPolicy"]) == "Never";
  waiting->prefers = ReadPrefers(fields, spec);
  waiting->selection = std::make_shared<const NodeSelection>(ReadNodeSelection(fields, spec));
  return waiting;
}

}  // namespace synergy::wire
