#include "json/pod_event.h"

#include <chrono>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "json/objects.h"

namespace synergy::json {
namespace {

// metav1.Time: whole seconds.
std::string Rfc3339(WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)));
}

void AppendField(std::string& out, std::string_view before, std::string_view value) {
  out += before;
  AppendJsonString(out, value);
}

}  // namespace

std::string WritePodEvent(const PodEvent& event) {
  std::string out;
  AppendField(out, R"({"apiVersion":"v1","kind":"Event","metadata":{"name":)", event.name);
  AppendField(out, R"(,"namespace":)", event.pod_namespace);
  AppendField(out, R"(},"involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":)",
              event.pod_namespace);
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

std::string WritePodEventRepeat(uint64_t count, WallTime last) {
  return fmt::format(R"({{"count":{},"lastTimestamp":"{}"}})", count, Rfc3339(last));
}

}  // namespace synergy::json
