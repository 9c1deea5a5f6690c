#include "wire/objects/event_about_pod.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

// Formats a metav1.Time, in whole seconds.
std::string Rfc3339(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

void AppendField(std::string& out, std::string_view before, std::string_view value) {
  out += before;
  AppendJsonString(out, value);
}

// Returns the first of the times that is present and valid.
WallTime ReadTime(FieldReader& fields, std::initializer_list<Value> values) {
  for (const Value& value : values) {
    if (const auto time = ParseTime(fields.Text(value))) return *time;
  }
  return {};
}

}  // namespace

template <>
struct Kind<EventAboutPod> {
  static constexpr std::string_view kName = "event";
  static EventAboutPod Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value pod = fields.Object(object["involvedObject"]);
    const Value series = fields.Object(object["series"]);
    EventAboutPod event;
    event.name = ReadText(fields, metadata["name"]);
    event.pod_namespace = ReadText(fields, pod["namespace"]);
    event.pod_name = ReadText(fields, pod["name"]);
    event.pod_uid = ReadText(fields, pod["uid"]);
    event.type = ReadText(fields, object["type"]);
    event.reason = ReadText(fields, object["reason"]);
    event.message = ReadText(fields, object["message"]);
    event.component = ReadText(fields, fields.Object(object["source"])["component"]);
    if (event.component.empty()) event.component = ReadText(fields, object["reportingComponent"]);
    event.instance = ReadText(fields, object["reportingInstance"]);
    // Clients of events.k8s.io use other fields for the same values.
    event.first = ReadTime(
        fields, {object["firstTimestamp"], object["eventTime"], metadata["creationTimestamp"]});
    event.last = ReadTime(fields, {series["lastObservedTime"], object["lastTimestamp"],
                                   object["eventTime"], metadata["creationTimestamp"]});
    const Value count = series["count"].absent() ? object["count"] : series["count"];
    event.count = static_cast<uint64_t>(
        std::max<int64_t>(1, fields.Integer(count, 0, std::numeric_limits<int32_t>::max())));
    return event;
  }
};

template struct KindReader<EventAboutPod>;

std::string WriteEventAboutPod(const EventAboutPod& event) {
  std::string out;
  AppendField(out, R"({"apiVersion":"v1","kind":"Event","metadata":{"name":)", event.name);
  AppendField(out, R"(,"namespace":)", event.pod_namespace);
  AppendField(out, R"(},"involvedObject":{"apiVersion":)", event.api_version);
  AppendField(out, R"(,"kind":)", event.kind);
  if (event.kind != "Node") AppendField(out, R"(,"namespace":)", event.pod_namespace);
  AppendField(out, R"(,"name":)", event.pod_name);
  AppendField(out, R"(,"uid":)", event.pod_uid);
  AppendField(out, R"(},"type":)", event.type);
  AppendField(out, R"(,"reason":)", event.reason);
  AppendField(out, R"(,"message":)", event.message);
  AppendField(out, R"(,"source":{"component":)", event.component);
  AppendField(out, R"(},"reportingComponent":)", event.component);
  AppendField(out, R"(,"reportingInstance":)", event.instance);
  out += fmt::format(R"(,"firstTimestamp":"{}","lastTimestamp":"{}","count":{}}})",
                     Rfc3339(event.first), Rfc3339(event.last), event.count);
  return out;
}

std::string WriteRepeatedEvent(uint64_t count, WallTime last) {
  return fmt::format(R"({{"count":{},"lastTimestamp":"{}"}})", count, Rfc3339(last));
}

}  // namespace synergy::wire
