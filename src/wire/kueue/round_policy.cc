#include "wire/kueue/round_policy.h"

#include <charconv>
#include <limits>
#include <utility>

#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/base/metadata.h"
#include "wire/kueue/kueue_members.h"
#include "wire/kueue/kueue_readers.h"
#include "wire/objects/kind.h"

namespace synergy::wire {

namespace {

// Types of conditions.
constexpr std::string_view kReady = "Ready";
constexpr std::string_view kDeprecated = "Deprecated";

constexpr int64_t kLongestSeconds = int64_t{366} * 24 * 3600;

void ReadSeconds(FieldReader& fields, Value value, int64_t least, Duration& out) {
  if (!value.absent()) out = std::chrono::seconds(fields.Integer(value, least, kLongestSeconds));
}

double ReadAmount(FieldReader& fields, Value value) {
  const std::string_view text = value.text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!value.IsNumber() || error != std::errc() || end != text.data() + text.size() || number < 0)
    fields.Report(value, "must be a number that is not negative");
  return number;
}

void ReadNumbers(FieldReader& fields, Value list, std::vector<double>& out) {
  if (list.absent()) return;
  out.clear();
  fields.Array(list).ForEachElement(
      [&](Value number) { out.push_back(ReadAmount(fields, number)); });
}

// Reads the status, which only a controller writes; unexpected values count as absent.
RoundPolicyStatus ReadRoundPolicyStatus(Value value) {
  FieldReader fields(value);
  RoundPolicyStatus status;
  status.observed_generation =
      fields.Integer(value["observedGeneration"], 0, std::numeric_limits<int64_t>::max());
  value["conditions"].ForEachElement([&](Value condition) {
    if (condition["type"].text() == kDeprecated) status.warning = condition["message"].text();
    if (condition["type"].text() != kReady) return;
    status.ready = condition["status"].text() == "True";
    status.reason = condition["reason"].text();
    status.message = condition["message"].text();
    status.since = condition["lastTransitionTime"].text();
  });
  value["queues"].ForEachElement([&](Value queue) {
    MemberReader members(fields, queue);
    Members(members, status.queues.emplace_back());
  });
  return status;
}

GpuTypes ReadGpuTypes(FieldReader& fields, Value value) {
  if (value.absent()) return GpuTypes::kNone;
  const std::string_view word = fields.Text(value);
  for (const GpuTypes types : {GpuTypes::kIgnore, GpuTypes::kAware}) {
    if (word == ToString(types)) return types;
  }
  fields.Report(value, "must be Ignore or Aware");
  return GpuTypes::kNone;
}

bool ReadElastic(FieldReader& fields, Value value) {
  if (value.absent()) return false;
  const std::string_view word = fields.Text(value);
  if (word != "Elastic" && word != "Fixed") fields.Report(value, "must be Fixed or Elastic");
  return word == "Elastic";
}

bool ReadBackfill(FieldReader& fields, Value value) {
  if (value.absent()) return false;
  const std::string_view word = fields.Text(value);
  if (word != "InTime" && word != "None") fields.Report(value, "must be None or InTime");
  return word == "InTime";
}

void WriteCondition(Writer& out, const RoundPolicyStatus& status, std::string_view type,
                    bool is_true, std::string_view reason, std::string_view message) {
  out.BeginObject();
  const std::pair<std::string_view, std::string_view> words[] = {
      {"type", type},
      {"status", is_true ? "True" : "False"},
      {"reason", reason},
      {"message", message},
      {"lastTransitionTime", status.since}};
  for (const auto& [key, text] : words) {
    out.Key(key);
    out.Text(text);
  }
  out.Key("observedGeneration");
  out.Integer(status.observed_generation);
  out.EndObject();
}

}  // namespace

template <>
struct Kind<RoundPolicy> {
  static constexpr std::string_view kName = "round policy";
  static RoundPolicy Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    RoundPolicy policy;
    policy.uid = ReadText(fields, metadata["uid"]);
    policy.name = ReadText(fields, metadata["name"]);
    policy.generation =
        fields.Integer(metadata["generation"], 0, std::numeric_limits<int64_t>::max());
    policy.created = ParseTime(fields.Text(metadata["creationTimestamp"])).value_or(policy.created);
    fields.Array(spec["clusterQueues"]).ForEachElement([&](Value name) {
      policy.cluster_queues.push_back(ReadText(fields, name));
    });
    RoundSettings& settings = policy.settings;
    if (const Value name = spec["policy"]; !name.absent()) settings.policy = ReadText(fields, name);
    settings.gpu_types = ReadGpuTypes(fields, spec["gpuTypes"]);
    settings.elastic = ReadElastic(fields, spec["workers"]);
    settings.backfill = ReadBackfill(fields, spec["backfill"]);
    ResolveFormerName(policy);
    ReadSeconds(fields, spec["roundSeconds"], 1, settings.round);
    ReadSeconds(fields, spec["leastRunSeconds"], 0, settings.least_run);
    ReadSeconds(fields, spec["restartCostSeconds"], 0, settings.restart_cost);
    ReadNumbers(fields, spec["queueLimits"], settings.queues.limits);
    if (const Value promote = spec["promote"]; !promote.absent())
      settings.queues.promote = ReadAmount(fields, promote);
    ReadNumbers(fields, spec["sizeHistory"], settings.sizes);
    const Value range = fields.Object(spec["priorities"]);
    const auto read_bound = [&](Value bound, int64_t& out) {
      if (!bound.absent()) {
        out = fields.Integer(bound, std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max());
      }
    };
    read_bound(range["least"], policy.least_priority);
    read_bound(range["most"], policy.most_priority);
    fields.Object(spec["prices"]).ForEachMember([&](std::string_view product, Value price) {
      policy.prices.emplace(product, ReadAmount(fields, price));
    });
    policy.status = ReadRoundPolicyStatus(object["status"]);
    return policy;
  }
};

template struct KindReader<RoundPolicy>;

std::string WriteRoundPolicyStatus(const RoundPolicy& policy, const RoundPolicyStatus& status) {
  Writer out;
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  out.Key("uid");
  out.Text(policy.uid);
  out.EndObject();
  out.Key("status");
  out.BeginObject();
  out.Key("observedGeneration");
  out.Integer(status.observed_generation);
  out.Key("conditions");
  out.BeginArray();
  WriteCondition(out, status, kReady, status.ready, status.reason, status.message);
  if (!status.warning.empty())
    WriteCondition(out, status, kDeprecated, true, "FormerName", status.warning);
  out.EndArray();
  out.Key("queues");
  out.BeginArray();
  for (const RoundPolicyStatus::Queue& queue : status.queues) out.Raw(WriteMembers(queue));
  out.EndArray();
  out.EndObject();
  out.EndObject();
  return out.Take();
}

}  // namespace synergy::wire
