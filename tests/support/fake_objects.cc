#include "support/fake_objects.h"

#include <fmt/format.h>

namespace synergy::testing {

std::string ToJson(const FakePod& pod, uint64_t version) {
  const std::string node = pod.node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", pod.node);
  const std::string deletion = pod.deleting ? R"("deletionTimestamp":"2026-01-02T03:04:05Z",)" : "";
  return fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{}",)"
      R"({}"labels":{},"annotations":{}}},"spec":{{{}"schedulerName":"{}","priority":{},"resourceClaims":{},"containers":[{{"name":"main",)"
      R"("image":"image","resources":{{"requests":{}}}}}]}},"status":{{"phase":"{}"}}}})",
      pod.name, pod.pod_namespace, pod.Uid(), version, deletion, pod.labels_json,
      pod.annotations_json, node, pod.scheduler, pod.priority, pod.claims_json, pod.requests_json,
      pod.phase);
}

std::string ToJson(const FakeNode& node, uint64_t version) {
  return fmt::format(
      R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{}","uid":"uid-{}","resourceVersion":"{}","labels":{}}},)"
      R"("spec":{{{}}},"status":{{"capacity":{},"allocatable":{}}}}})",
      node.name, node.name, version, node.labels_json,
      node.unschedulable ? R"("unschedulable":true)" : "", node.allocatable_json,
      node.allocatable_json);
}

std::string ToJson(const FakeDisruptionBudget& budget, uint64_t version) {
  return fmt::format(
      R"({{"kind":"PodDisruptionBudget","apiVersion":"policy/v1","metadata":{{"name":"{}","namespace":"{}",)"
      R"("uid":"uid-{}","resourceVersion":"{}"}},"spec":{{"selector":{}}},"status":{{"disruptionsAllowed":{}}}}})",
      budget.name, budget.pod_namespace, budget.name, version, budget.selector_json,
      budget.disruptions_allowed);
}

std::string ToJson(const FakeNamespace& name_space, uint64_t version) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}","uid":"uid-{}","resourceVersion":"{}",)"
      R"("labels":{}}}}})",
      name_space.name, name_space.name, version, name_space.labels_json);
}

std::string ToJson(const FakeTrainingProfile& profile, uint64_t version) {
  return fmt::format(
      R"({{"apiVersion":"synergy.io/v1alpha1","kind":"TrainingProfile","metadata":{{"name":"{}","namespace":"{}",)"
      R"("uid":"uid-{}","resourceVersion":"{}","generation":1}},"spec":{}}})",
      profile.name, profile.pod_namespace, profile.name, version, profile.spec_json);
}

std::string EventLine(const std::string& type, const std::string& object_json) {
  return fmt::format(R"({{"type":"{}","object":{}}})", type, object_json);
}

std::string StatusJson(int code, const std::string& reason, const std::string& message) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"{}","message":"{}","reason":"{}","code":{}}})",
      code < 400 ? "Success" : "Failure", message, reason, code);
}

}  // namespace synergy::testing
