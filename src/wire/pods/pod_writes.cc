#include "wire/pods/pod_writes.h"

#include <algorithm>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/resource_list.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
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

// Returns the members that the API server compares with the stored pod.
std::string Identity(const std::string& uid, uint64_t resource_version) {
  std::string out = R"("uid":)";
  AppendJsonString(out, uid);
  if (resource_version != 0) out += fmt::format(R"(,"resourceVersion":"{}")", resource_version);
  return out;
}

// Never lowers an author's limit, nor a limit in force, because memory cannot be taken from a
// process. A limit may be lowered if it is not in force yet because the kubelet has deferred the
// growth. A Guaranteed pod's limit stays equal to its request, which keeps its QoS class. So does
// the limit that Synergy has added, before the container runs.
Bytes MemoryLimit(const ManagedContainer& fungible, Bytes request) {
  const Bytes limit = *fungible.memory_limit;
  if (fungible.enforcement == Enforcement::kShared) return std::max(request, limit);
  const bool added = !fungible.written.memory_limit && limit == fungible.requested.memory;
  if (fungible.guaranteed || (added && !fungible.reported)) return request;
  return std::max(request, fungible.memory_limit_in_force.value_or(limit));
}

}  // namespace

std::string WriteResize(const std::string& uid, const ManagedContainer& fungible,
                        const ResourceVector& amounts, Resized resized, uint64_t unchanged_since) {
  const bool cpu = resized != Resized::kMemory;
  const bool memory = resized != Resized::kCpu;
  std::string out = R"({"metadata":{)" + Identity(uid, unchanged_since);
  out += R"(},"spec":{"containers":[{"name":)";
  AppendJsonString(out, fungible.container);
  out += R"(,"resources":{"requests":)";
  out += cpu && memory ? WriteAmounts(amounts)
         : cpu         ? fmt::format(R"({{"cpu":"{}"}})", ToQuantityText(amounts.cpu))
                       : fmt::format(R"({{"memory":"{}"}})", ToQuantityText(amounts.memory));
  const bool strict = fungible.enforcement == Enforcement::kStrict;
  std::string limits;
  if (cpu && strict && fungible.cpu_limit) {
    limits += fmt::format(R"("cpu":"{}")", ToQuantityText(amounts.cpu));
  }
  if (memory && fungible.memory_limit) {
    limits += fmt::format(R"({}"memory":"{}")", limits.empty() ? "" : ",",
                          ToQuantityText(MemoryLimit(fungible, amounts.memory)));
  }
  if (!limits.empty()) out += R"(,"limits":{)" + limits + '}';
  out += "}}]}}";
  return out;
}

AnnotationChanges ProfileOf(const AdmissionFigures& figures) {
  const bool none = figures.profile.empty();
  return {{annotations::kDemand, WriteAmounts(figures.demand)},
          {annotations::kFloor, WriteAmounts(figures.floor)},
          {annotations::kProfile, none ? std::nullopt : std::optional(figures.profile)},
          {annotations::kProfileGeneration,
           none ? std::nullopt : std::optional(fmt::format("{}", figures.profile_generation))},
          {annotations::kProfileHint,
           figures.hint ? std::optional(std::string(ToString(*figures.hint))) : std::nullopt}};
}

AnnotationChanges FiguresOf(const AdmissionFigures& figures) {
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  AnnotationChanges changes = ProfileOf(figures);
  changes.insert(changes.end(),
                 {{annotations::kFairShare, WriteAmounts(figures.fair_share)},
                  {annotations::kEnforcement, std::string(ToString(figures.enforcement))},
                  {annotations::kGpuProduct, unless_empty(figures.gpu_product)},
                  {annotations::kWorkload, unless_empty(figures.workload)},
                  {annotations::kWorkloadAlike, unless_empty(ToText(figures.alike))},
                  {annotations::kPlaceholder, unless_empty(figures.placeholder)},
                  {annotations::kSpreadCost, unless_empty(ToText(figures.spread))}});
  return changes;
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
                         const AnnotationChanges& annotations, uint64_t unchanged_since) {
  std::string out = R"({"apiVersion":"v1","kind":"Binding","metadata":{"namespace":)";
  AppendJsonString(out, pod_namespace);
  out += R"(,"name":)";
  AppendJsonString(out, name);
  out += R"(,"uid":)";
  AppendJsonString(out, uid);
  if (unchanged_since != 0) out += fmt::format(R"(,"resourceVersion":"{}")", unchanged_since);
  if (!annotations.empty()) {
    out += ',';
    AppendAnnotations(out, annotations);
  }
  out += R"(},"target":{"apiVersion":"v1","kind":"Node","name":)";
  AppendJsonString(out, node);
  out += "}}";
  return out;
}

std::string WriteEviction(const std::string& pod_namespace, const std::string& name,
                          const std::string& uid, bool dry_run) {
  std::string out = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"namespace":)";
  AppendJsonString(out, pod_namespace);
  out += R"(,"name":)";
  AppendJsonString(out, name);
  out += R"(},"deleteOptions":{"preconditions":{"uid":)";
  AppendJsonString(out, uid);
  out += dry_run ? R"(},"dryRun":["All"]}})" : "}}}";
  return out;
}

std::string WriteChange(const ChangeRecord& change) {
  std::string out =
      fmt::format(R"({{"kind":"{}","from":{},"to":{},"at":"{}",)", ToString(change.kind),
                  WriteAmounts(change.from), WriteAmounts(change.to), ToTimeText(change.at));
  if (change.memory_changed_before) {
    out += fmt::format(R"("memoryChangedBefore":"{}",)", ToTimeText(*change.memory_changed_before));
  }
  if (change.borrowed != MilliCpu(0)) {
    out += fmt::format(R"("borrowed":"{}",)", ToQuantityText(change.borrowed));
  }
  if (!change.borrower.empty()) {
    out += R"("borrower":)";
    AppendJsonString(out, change.borrower);
    out += ',';
  }
  out += R"("why":)";
  AppendJsonString(out, change.why);
  out += '}';
  return out;
}

std::string WriteMemoryReading(const MemoryReading& reading) {
  return fmt::format(R"({{"memory":"{}","at":"{}"{}}})", ToQuantityText(reading.in_use),
                     ToTimeText(reading.at), reading.node_short ? R"(,"nodeShort":true)" : "");
}

std::string WriteDevices(const DeviceReading& reading) {
  std::string out = fmt::format(R"({{"safety":"{}"{},"why":)", ToString(reading.safety),
                                reading.resized ? R"(,"resized":true)" : "");
  AppendJsonString(out, reading.why);
  out += R"(,"container":)";
  AppendJsonString(out, reading.container);
  return out + "}";
}

std::string WriteProbe(const CpuProbe& probe) {
  return fmt::format(R"({{"cpu":"{}","until":"{}"{}}})", ToQuantityText(probe.cpu),
                     ToTimeText(probe.until), probe.burst ? R"(,"burst":true)" : "");
}

std::string WriteTurn(const GpuTurn& turn) {
  const auto ms = [](Duration offset) { return offset / std::chrono::milliseconds(1); };
  std::string runs;
  for (const GpuTurn::Part& part : turn.runs)
    runs += fmt::format("{}[{},{}]", runs.empty() ? "" : ",", ms(part.begin), ms(part.end));
  std::string out = fmt::format(R"({{"epoch":"{}","cycleMs":{},"runsMs":[{}],"with":[)",
                                ToTimeText(turn.epoch), ms(turn.cycle), runs);
  for (const std::string& uid : turn.with) {
    if (&uid != turn.with.data()) out += ',';
    AppendJsonString(out, uid);
  }
  out += ']';
  if (!turn.beside.empty()) {
    out += R"(,"beside":)";
    AppendJsonString(out, turn.beside);
  }
  return out + '}';
}

std::string WriteKeptPlace(const std::string& node, WallTime until) {
  std::string out = R"({"node":)";
  AppendJsonString(out, node);
  out += fmt::format(R"(,"until":"{}"}})", ToTimeText(until));
  return out;
}

}  // namespace synergy::wire
