#include "json/pod_writes.h"

#include <fmt/format.h>

#include "core/quantity_text.h"
#include "core/wall_time.h"
#include "json/amounts.h"
#include "json/objects.h"

namespace synergy::json {
namespace {

void AppendAnnotations(std::string& out, const AnnotationChanges& changes) {
  out += R"("annotations":{)";
  for (const auto& [key, value] : changes) {
    if (out.back() != '{') out += ',';
    AppendJsonString(out, key);
    out += ':';
    if (value) {
      AppendJsonString(out, *value);
    } else {
      out += "null";
    }
  }
  out += '}';
}

// The API server holds both against the pod that it has.
std::string Identity(const std::string& uid, uint64_t resource_version) {
  std::string out = R"("uid":)";
  AppendJsonString(out, uid);
  if (resource_version != 0) out += fmt::format(R"(,"resourceVersion":"{}")", resource_version);
  return out;
}

}  // namespace

std::string WriteResize(const std::string& uid, const Fungible& fungible,
                        const ResourceVector& amounts, uint64_t unchanged_since) {
  std::string out = R"({"metadata":{)" + Identity(uid, unchanged_since);
  out += R"(},"spec":{"containers":[{"name":)";
  AppendJsonString(out, fungible.container);
  out += R"(,"resources":{"requests":)" + WriteAmounts(amounts);
  const bool strict = fungible.enforcement == Enforcement::kStrict;
  std::string limits;
  if (strict && fungible.cpu_limit) {
    limits += fmt::format(R"("cpu":"{}")", ToQuantityText(amounts.cpu));
  }
  if (fungible.memory_limit) {
    limits += fmt::format(R"({}"memory":"{}")", limits.empty() ? "" : ",",
                          ToQuantityText(amounts.memory));
  }
  if (!limits.empty()) out += R"(,"limits":{)" + limits + '}';
  out += "}}]}}";
  return out;
}

std::string WriteAnnotationChanges(const std::string& uid, const AnnotationChanges& changes,
                                   uint64_t unchanged_since) {
  std::string out = R"({"metadata":{)" + Identity(uid, unchanged_since) + ',';
  AppendAnnotations(out, changes);
  out += "}}";
  return out;
}

std::string WriteBinding(const std::string& pod_namespace, const std::string& name,
                         const std::string& uid, const std::string& node,
                         const AnnotationChanges& annotations) {
  std::string out = R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":)";
  AppendJsonString(out, pod_namespace);
  out += R"(,"name":)";
  AppendJsonString(out, name);
  out += R"(,"uid":)";
  AppendJsonString(out, uid);
  if (!annotations.empty()) {
    out += ',';
    AppendAnnotations(out, annotations);
  }
  out += R"(},"target":{"apiVersion":"v1","kind":"Node","name":)";
  AppendJsonString(out, node);
  out += "}}";
  return out;
}

std::string WriteChange(const ChangeRecord& change) {
  std::string out =
      fmt::format(R"({{"kind":"{}","from":{},"to":{},"at":"{}","why":)", ToString(change.kind),
                  WriteAmounts(change.from), WriteAmounts(change.to), ToTimeText(change.at));
  AppendJsonString(out, change.why);
  out += '}';
  return out;
}

std::string WriteHold(const std::string& node, WallTime until) {
  std::string out = R"({"node":)";
  AppendJsonString(out, node);
  out += fmt::format(R"(,"until":"{}"}})", ToTimeText(until));
  return out;
}

}  // namespace synergy::json
