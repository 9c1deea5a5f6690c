#include <algorithm>
#include <optional>

#include "cluster/namespace_limits.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

Namespace ReadNamespaceObject(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  return {ReadText(fields, metadata["name"]), ReadLabels(fields, metadata["labels"])};
}

template <>
struct Kind<Namespace> {
  static constexpr std::string_view kName = "namespace";
  static Namespace Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadNamespaceObject(fields, object);
  }
};

template struct KindReader<Namespace>;

namespace {

std::optional<MilliCpu> Read(FieldReader& fields, Value amount, MilliCpu) {
  if (amount.absent()) return std::nullopt;
  return ToMilliCpu(fields.Amount(amount), kLargestRequest);
}
std::optional<Bytes> Read(FieldReader& fields, Value amount, Bytes) {
  if (amount.absent()) return std::nullopt;
  return ToBytes(fields.Amount(amount), kLargestRequest);
}

// Reads CPU and memory of a list; an absent one leaves `amounts` unchanged.
void ReadInto(FieldReader& fields, Value list, ResourceVector& amounts) {
  list = fields.Object(list);
  amounts.cpu = Read(fields, list["cpu"], amounts.cpu).value_or(amounts.cpu);
  amounts.memory = Read(fields, list["memory"], amounts.memory).value_or(amounts.memory);
}

// Reads one key of a quota. Several keys may bound the same sum; the lowest counts.
template <class Amount>
void ReadSum(FieldReader& fields, Value hard, Value used, const char* key,
             Amount ResourceVector::* dimension, QuotaSum& sum) {
  const std::optional<Amount> most = Read(fields, hard[key], Amount());
  if (!most || *most >= sum.hard.*dimension) return;
  sum.hard.*dimension = *most;
  sum.used.*dimension = Read(fields, used[key], Amount()).value_or(*most);
}

bool IsBestEffortScope(std::string_view scope) {
  return scope == "BestEffort" || scope == "NotBestEffort";
}

bool ReadByQos(FieldReader& fields, Value spec) {
  bool by_qos = false;
  fields.Array(spec["scopes"]).ForEachElement([&](Value scope) {
    by_qos |= IsBestEffortScope(fields.Text(scope));
  });
  const Value selector = fields.Object(spec["scopeSelector"]);
  fields.Array(selector["matchExpressions"]).ForEachElement([&](Value expression) {
    by_qos |= IsBestEffortScope(fields.Text(fields.Object(expression)["scopeName"]));
  });
  return by_qos;
}

}  // namespace

template <>
struct Kind<LimitRange> {
  static constexpr std::string_view kName = "limit range";
  static LimitRange Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    LimitRange range;
    range.uid = ReadText(fields, metadata["uid"]);
    range.pod_namespace = ReadText(fields, metadata["namespace"]);
    range.name = ReadText(fields, metadata["name"]);
    fields.Array(fields.Object(object["spec"])["limits"]).ForEachElement([&](Value item) {
      item = fields.Object(item);
      const std::string_view type = fields.Text(item["type"]);
      if (type != "Container" && type != "Pod") return;
      AmountBounds bounds;
      ReadInto(fields, item["min"], bounds.least);
      ReadInto(fields, item["max"], bounds.most);
      AmountBounds& known = type == "Pod" ? range.pod : range.container;
      known = {LargerOf(known.least, bounds.least), LesserOf(known.most, bounds.most)};
      const Value ratio = fields.Object(item["maxLimitRequestRatio"]);
      range.cpu_ratio |= !ratio["cpu"].absent();
      range.memory_ratio |= !ratio["memory"].absent();
    });
    return range;
  }
};

template struct KindReader<LimitRange>;

template <>
struct Kind<ResourceQuota> {
  static constexpr std::string_view kName = "resource quota";
  static ResourceQuota Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    ResourceQuota quota;
    quota.uid = ReadText(fields, metadata["uid"]);
    quota.pod_namespace = ReadText(fields, metadata["namespace"]);
    quota.name = ReadText(fields, metadata["name"]);
    const Value spec = fields.Object(object["spec"]);
    const Value hard = fields.Object(spec["hard"]);
    const Value used = fields.Object(fields.Object(object["status"])["used"]);
    for (const char* key : {"requests.cpu", "cpu"})
      ReadSum(fields, hard, used, key, &ResourceVector::cpu, quota.requests);
    for (const char* key : {"requests.memory", "memory"})
      ReadSum(fields, hard, used, key, &ResourceVector::memory, quota.requests);
    ReadSum(fields, hard, used, "limits.cpu", &ResourceVector::cpu, quota.limits);
    ReadSum(fields, hard, used, "limits.memory", &ResourceVector::memory, quota.limits);
    quota.by_qos = ReadByQos(fields, spec);
    return quota;
  }
};

template struct KindReader<ResourceQuota>;

}  // namespace synergy::wire
