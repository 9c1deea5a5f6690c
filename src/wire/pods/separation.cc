#include "cluster/separation.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// Limits on a pod's terms of each kind, and on the requirements and values of a term's selector.
// Trainings have fewer. A plan ignores the rest, which only refusals of kube-scheduler then reveal.
constexpr size_t kMostSeparations = 16;
constexpr size_t kMostRequirements = 64;

// Adds the term unless the limits are exceeded.
template <class Term>
void Keep(Term term, std::vector<Term>& terms) {
  size_t asked = 0;
  for (const auto& requirement : term.selector.requirements) asked += 1 + requirement.values.size();
  if (asked <= kMostRequirements && terms.size() < kMostSeparations)
    terms.push_back(std::move(term));
}

void ReadHostPorts(FieldReader& fields, Value container, std::vector<HostPort>& ports) {
  fields.Array(container["ports"]).ForEachElement([&](Value port) {
    port = fields.Object(port);
    const auto number = static_cast<int32_t>(
        fields.Integer(port["hostPort"], 0, std::numeric_limits<int32_t>::max()));
    if (number <= 0 || ports.size() >= kMostSeparations) return;
    std::string ip = ReadText(fields, port["hostIP"]);
    std::string protocol = ReadText(fields, port["protocol"]);
    if (ip.empty()) ip = "0.0.0.0";
    if (protocol.empty()) protocol = "TCP";
    ports.push_back({std::move(ip), std::move(protocol), number});
  });
}

// Returns whether the term applies to pods of `pod_namespace`. Ignores selectors of namespaces,
// except the empty one.
bool IsAbout(FieldReader& fields, Value term, const std::string& pod_namespace) {
  const Value selector = fields.Object(term["namespaceSelector"]);
  bool any = false;
  bool named = false;
  fields.Array(term["namespaces"]).ForEachElement([&](Value name) {
    any = true;
    named |= fields.Text(name) == pod_namespace;
  });
  if (named) return true;
  if (selector.missing()) return !any;
  // An empty selector selects all namespaces.
  return ReadLabelSelector(fields, selector).requirements.empty();
}

TopologySpread ReadSpread(FieldReader& fields, Value constraint, const Pod& pod) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  TopologySpread spread;
  spread.topology_key = ReadText(fields, constraint["topologyKey"]);
  spread.max_skew = static_cast<int32_t>(fields.Integer(constraint["maxSkew"], 0, kLargest));
  if (!constraint["minDomains"].missing()) {
    spread.min_domains =
        static_cast<int32_t>(fields.Integer(constraint["minDomains"], 1, kLargest));
  }
  spread.selector = ReadLabelSelector(fields, constraint["labelSelector"]);
  fields.Array(constraint["matchLabelKeys"]).ForEachElement([&](Value key) {
    const std::string_view name = fields.Text(key);
    if (const auto value = FindLabel(pod.labels, name)) {
      spread.selector.requirements.push_back(
          {std::string(name), LabelSelector::Operator::kIn, {std::string(*value)}});
    }
  });
  spread.honors_affinity = fields.Text(constraint["nodeAffinityPolicy"]) != "Ignore";
  spread.honors_taints = fields.Text(constraint["nodeTaintsPolicy"]) == "Honor";
  return spread;
}

}  // namespace

std::shared_ptr<const Separation> ReadSeparation(FieldReader& fields, Value spec, const Pod& pod) {
  Separation separation;
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    ReadHostPorts(fields, fields.Object(container), separation.host_ports);
  });
  fields.Array(spec["initContainers"]).ForEachElement([&](Value container) {
    container = fields.Object(container);
    if (fields.Text(container["restartPolicy"]) != "Always") return;
    ReadHostPorts(fields, container, separation.host_ports);
  });
  const Value affinity = fields.Object(fields.Object(spec["affinity"])["podAntiAffinity"]);
  fields.Array(affinity["requiredDuringSchedulingIgnoredDuringExecution"])
      .ForEachElement([&](Value term) {
        term = fields.Object(term);
        if (!IsAbout(fields, term, pod.pod_namespace)) return;
        Keep(AntiAffinity{ReadText(fields, term["topologyKey"]),
                          ReadLabelSelector(fields, term["labelSelector"])},
             separation.anti_affinity);
      });
  fields.Array(spec["topologySpreadConstraints"]).ForEachElement([&](Value constraint) {
    constraint = fields.Object(constraint);
    if (fields.Text(constraint["whenUnsatisfiable"]) == "ScheduleAnyway") return;
    Keep(ReadSpread(fields, constraint, pod), separation.spread);
  });
  if (separation == Separation{}) return nullptr;
  return std::make_shared<const Separation>(std::move(separation));
}

}  // namespace synergy::wire
