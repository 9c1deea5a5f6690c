#include "wire/pods/gpu_reservation.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "cluster/gang.h"
#include "core/text/duration_text.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// Room for places on as many nodes as a gang has members, with names of maximum length.
constexpr size_t kMostText = size_t{128} << 10;
constexpr size_t kMostPlaces = kMostGangMembers;
constexpr int64_t kMostGpus = 1'000'000;
constexpr int64_t kMostAmount = std::numeric_limits<int64_t>::max();
// Limits times to ten years, because the API server accepts any number.
constexpr int64_t kMostSeconds = int64_t{10} * 366 * 86400;

std::optional<PublishedReservation> TrustedReservation(Value metadata, Value spec,
                                                       const ClaimRules& rules) {
  const auto written = WrittenBySynergy(metadata, annotations::kGpuReservation);
  if (!written || !IsManaged(spec, rules)) return std::nullopt;
  auto reservation =
      ReadGpuReservation(metadata["annotations"][annotations::kGpuReservation].text());
  if (reservation) {
    reservation->until = std::min(reservation->until, *written + PublishedReservation::kLifetime);
  }
  return reservation;
}

std::optional<Duration> TrustedLongestRun(Value metadata, Value spec, const ClaimRules& rules) {
  if (!WrittenBySynergy(metadata, annotations::kLongestRun) || !IsManaged(spec, rules))
    return std::nullopt;
  const std::string_view text = metadata["annotations"][annotations::kLongestRun].text();
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (seconds <= 0 || seconds > kMostSeconds) return std::nullopt;
  return std::chrono::seconds(seconds);
}

std::optional<Duration> ReadExpected(std::string_view text) {
  const Result<Duration> expected = ParseGoDuration(text);
  if (!expected || *expected <= Duration::zero()) return std::nullopt;
  return std::min<Duration>(*expected, std::chrono::seconds(kMostSeconds));
}

}  // namespace

std::optional<Duration> PodTimes::Bound() const {
  if (!learnt || !longest) return learnt ? learnt : longest;
  return std::min(*learnt, *longest);
}

std::string WriteLongestRun(Duration learnt) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(learnt).count();
  return fmt::to_string(std::clamp<int64_t>(seconds, 1, kMostSeconds));
}

std::optional<Duration> ReadLongestRun(FieldReader& fields, Value spec) {
  const Value deadline = spec["activeDeadlineSeconds"];
  if (deadline.absent()) return std::nullopt;
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  const auto seconds = [&](Value value) {
    return std::chrono::seconds(std::min(fields.Integer(value, 0, kAny), kMostSeconds));
  };
  return seconds(deadline) + seconds(spec["terminationGracePeriodSeconds"]);
}

std::string WriteGpuReservation(const PublishedReservation& reservation) {
  Writer out;
  const auto time = [&out](std::string_view key, WallTime value) {
    out.Key(key);
    out.Text(ToTimeText(value));
  };
  out.BeginObject();
  out.Key("job");
  out.Text(reservation.job);
  out.Key("priority");
  out.Integer(reservation.priority);
  out.Key("places");
  out.BeginArray();
  for (const GpuReservation::Place& place : reservation.places) {
    out.BeginObject();
    out.Key("node");
    out.Text(place.node);
    out.Key("gpus");
    out.Integer(place.gpus.count());
    out.Key("milliCpu");
    out.Integer(place.cpu.count());
    out.Key("memory");
    out.Integer(place.memory.count());
    out.EndObject();
  }
  out.EndArray();
  time("earliest", reservation.earliest);
  time("likely", reservation.likely);
  time("latest", reservation.latest);
  out.Key("waitsFor");
  out.BeginArray();
  for (const std::string& job : reservation.waits_for) out.Text(job);
  out.EndArray();
  time("until", reservation.until);
  out.EndObject();
  return out.Take();
}

std::optional<PublishedReservation> ReadGpuReservation(std::string_view text) {
  if (text.size() > kMostText) return std::nullopt;
  const Result<Document> document = Document::Parse(text);
  if (!document || !document->root().IsObject()) return std::nullopt;
  const Value root = document->root();
  FieldReader fields(root);
  bool is_whole = true;
  const auto name = [&](Value value) {
    std::string read = ReadText(fields, value);
    is_whole &= !read.empty();
    return read;
  };
  const auto time = [&](Value value) {
    const std::optional<WallTime> read = ParseTime(fields.Text(value));
    is_whole &= read.has_value();
    return read.value_or(WallTime{});
  };
  PublishedReservation reservation;
  reservation.job = name(root["job"]);
  reservation.priority = static_cast<int32_t>(fields.Integer(
      root["priority"], std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  fields.Array(root["places"]).ForEachElement([&](Value place) {
    place = fields.Object(place);
    const Gpus gpus(fields.Integer(place["gpus"], 0, kMostGpus));
    is_whole &= gpus > Gpus(0);
    reservation.places.push_back({name(place["node"]), gpus,
                                  MilliCpu(fields.Integer(place["milliCpu"], 0, kMostAmount)),
                                  Bytes(fields.Integer(place["memory"], 0, kMostAmount))});
  });
  reservation.earliest = time(root["earliest"]);
  reservation.likely = time(root["likely"]);
  reservation.latest = time(root["latest"]);
  fields.Array(root["waitsFor"]).ForEachElement([&](Value job) {
    reservation.waits_for.push_back(name(job));
  });
  reservation.until = time(root["until"]);
  const bool is_valid = fields.ok() && is_whole && !reservation.places.empty() &&
                        reservation.places.size() <= kMostPlaces &&
                        reservation.waits_for.size() <= PublishedReservation::kMostAwaited &&
                        reservation.earliest <= reservation.likely &&
                        reservation.likely <= reservation.latest;
  return is_valid ? std::optional(std::move(reservation)) : std::nullopt;
}

std::optional<Duration> ReadLongestRun(std::string_view pod) {
  const Result<Document> document = Document::Parse(pod);
  if (!document) return std::nullopt;
  FieldReader lenient(document->root());
  return ReadLongestRun(lenient, document->root()["spec"]);
}

std::optional<PublishedReservation> ReadReservationOf(std::string_view pod,
                                                      const std::string& scheduler_name) {
  const Result<Document> document = ParseObject(pod, kObjectRules);
  if (!document) return std::nullopt;
  const Value root = document->root();
  return TrustedReservation(root["metadata"], root["spec"], {.scheduler_name = scheduler_name});
}

template <>
struct Kind<PodTimes> {
  static constexpr std::string_view kName = "pod";
  static PodTimes Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    // Record no problems, because the watch of all pods reports them.
    FieldReader lenient(object);
    PodTimes times;
    times.uid = ReadText(fields, metadata["uid"]);
    times.owner = ReadControllerUid(metadata);
    times.longest = ReadLongestRun(lenient, spec);
    times.learnt = TrustedLongestRun(metadata, spec, rules.claims);
    times.expected =
        ReadExpected(ReadText(lenient, metadata["annotations"][annotations::kExpectedDuration]));
    times.started = ParseTime(lenient.Text(status["startTime"]));
    times.succeeded = lenient.Text(status["phase"]) == "Succeeded";
    times.reservation = TrustedReservation(metadata, spec, rules.claims);
    return times;
  }
};

template struct KindReader<PodTimes>;

}  // namespace synergy::wire
