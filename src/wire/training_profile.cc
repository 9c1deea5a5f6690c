#include "wire/training_profile.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "wire/json_words.h"
#include "wire/object_readers.h"
#include "wire/objects.h"
#include "wire/resource_list.h"

namespace synergy::wire {
namespace {

// Amounts for which JobProfile has no use are refused there, with the point named; this keeps them
// from wrapping before.
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

class SpecReader {
 public:
  explicit SpecReader(Value object) : fields_(object), spec_(fields_.Object(object["spec"])) {
    if (spec_.missing() && fields_.ok()) fields_.ReportMissing(object, "spec");
  }

  void Read(ProfileObject& object) {
    TrainingProfile& training = object.training;
    training.model = object.name;
    if (!spec_.missing()) {
      training.gpu_product = ReadText(fields_, spec_["gpuProduct"]);
      if (const Value gpus = spec_["gpus"]; !gpus.absent())
        training.gpus = Gpus(fields_.Integer(gpus, 1, kMostGpus));
      object.tolerance = ReadTolerance(spec_["tolerance"]);
      training.process_memory = ReadBytes(spec_["processMemory"]);
      ReadCache(training);
      ReadPoints(training);
    }
    object.problems = fields_.findings();
    if (fields_.count() > object.problems.size()) {
      object.problems.push_back(
          fmt::format("and {} more", fields_.count() - object.problems.size()));
    }
    if (!object.problems.empty()) return;
    Result<JobProfile> profile = MakeJobProfile(training);
    if (profile) {
      object.profile = std::make_shared<const JobProfile>(std::move(*profile));
    } else {
      object.problems.push_back("spec.points: " + profile.error().message);
    }
  }

 private:
  static constexpr int64_t kMostGpus = 1 << 16;

  std::optional<double> ReadNumber(Value value) {
    const std::string_view text = value.text();
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!value.IsNumber() || error != std::errc() || end != text.data() + text.size() ||
        !std::isfinite(number)) {
      fields_.Report(value, value.IsNumber()
                                ? Quoted(text) + " is not a number that can be calculated with"
                                : fmt::format("must be a number, not {}", value.DescribeKind()));
      return std::nullopt;
    }
    return number;
  }

  std::optional<double> ReadTolerance(Value value) {
    if (value.absent()) return std::nullopt;
    const std::optional<double> tolerance = ReadNumber(value);
    if (tolerance && (*tolerance < 0 || *tolerance >= 1)) {
      fields_.Report(value, "must be at least 0 and below 1");
      return std::nullopt;
    }
    return tolerance;
  }

  // More than zero; none, and a finding, otherwise.
  std::optional<ExactQuantity> ReadAmount(Value value) {
    const size_t before = fields_.count();
    const ExactQuantity amount = fields_.Amount(value);
    if (fields_.count() != before) return std::nullopt;
    if (amount <= ExactQuantity()) {
      fields_.Report(value, "must be more than zero");
      return std::nullopt;
    }
    return amount;
  }

  std::optional<Bytes> ReadBytes(Value value) {
    if (value.absent()) return std::nullopt;
    const auto amount = ReadAmount(value);
    return amount ? std::optional(ToBytes(*amount, kLargest)) : std::nullopt;
  }

  void ReadCache(TrainingProfile& training) {
    const Value memories = spec_["memories"];
    bool any = !memories.absent();
    for (const char* name : kCacheFields) any |= !spec_[name].absent();
    if (!any) return;
    for (const char* name : kCacheFields) {
      if (spec_[name].absent()) fields_.ReportMissing(spec_, name);
    }
    CachedMeasurements& cached = training.cached.emplace();
    cached.model.data_set = ReadBytes(spec_["datasetSize"]).value_or(Bytes(0));
    cached.model.storage_bandwidth = ReadBytes(spec_["storageBandwidth"]).value_or(Bytes(0));
    cached.model.bytes_per_sample = ReadBytes(spec_["bytesPerSample"]).value_or(Bytes(0));
    fields_.Array(memories).ForEachElement([&](Value memory) {
      if (memory.absent()) return fields_.Report(memory, "must be a quantity, not null");
      cached.memories.push_back(ReadBytes(memory).value_or(Bytes(0)));
    });
  }

  void ReadPoints(TrainingProfile& training) {
    const Value points = fields_.Array(spec_["points"]);
    if (points.missing()) {
      if (spec_["points"].absent()) fields_.ReportMissing(spec_, "points");
      return;
    }
    size_t count = 0;
    points.ForEachElement([&](Value point) { ReadPoint(training, point, count++); });
    if (count == 0) fields_.Report(points, "the list is empty");
  }

  void ReadPoint(TrainingProfile& training, Value point, size_t index) {
    if (!point.IsObject()) {
      fields_.Report(point, fmt::format("must be an object, not {}", point.DescribeKind()));
      return;
    }
    const Value memory_field = point["memory"];
    for (const char* name : {"cpu", "throughput"}) {
      if (point[name].absent()) fields_.ReportMissing(point, name);
    }
    const auto cpu = point["cpu"].absent() ? std::nullopt : ReadAmount(point["cpu"]);
    const auto memory = ReadBytes(memory_field);
    const double throughput =
        point["throughput"].absent() ? 0 : ReadNumber(point["throughput"]).value_or(0);
    if (throughput < 0) fields_.Report(point["throughput"], "must not be negative");
    if (training.cached && !memory_field.absent()) {
      fields_.Report(memory_field,
                     "points have no memory where datasetSize is set, because they are measured "
                     "with the data set in memory");
    }
    if (!training.cached && memory_field.absent()) {
      fields_.Report(point,
                     "memory is missing; without it datasetSize, storageBandwidth and "
                     "bytesPerSample have to be set");
    }
    if (!cpu) return;
    const MilliCpu milli(cpu->ToMilli());
    const auto [first, is_new] = seen_.try_emplace({milli, memory.value_or(Bytes(0))}, index);
    if (!is_new)
      fields_.Report(point, fmt::format("the same amounts as points[{}]", first->second));
    if (training.cached) {
      training.cached->points.push_back({milli, throughput});
    } else {
      training.points.push_back({milli, memory.value_or(Bytes(0)), throughput});
    }
  }

  static constexpr const char* kCacheFields[] = {"datasetSize", "storageBandwidth",
                                                 "bytesPerSample"};

  FieldReader fields_;
  Value spec_;
  std::map<std::pair<MilliCpu, Bytes>, size_t> seen_;  // with where they stand
};

// What nobody but a controller writes, so what is odd there counts as absent.
ProfileStatus ReadProfileStatus(Value status) {
  FieldReader fields(status);
  ProfileStatus read;
  read.observed_generation = fields.Integer(status["observedGeneration"], 0, kLargest);
  read.demand_cpu = status["demand"]["cpu"].text();
  read.demand_memory = status["demand"]["memory"].text();
  read.speed_up = status["speedUp"].text();
  status["conditions"].ForEachElement([&read](Value condition) {
    if (condition["type"].text() != "Valid") return;
    read.valid = condition["status"].text();
    read.reason = condition["reason"].text();
    read.message = condition["message"].text();
    read.since = condition["lastTransitionTime"].text();
  });
  return read;
}

void AppendTextOrNull(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    AppendJsonString(out, text);
  }
}

}  // namespace

ProfileObject ReadProfileObject(Value object) {
  FieldReader fields(object);
  const Value metadata = object["metadata"];
  ProfileObject read;
  read.uid = metadata["uid"].text();
  read.profile_namespace = metadata["namespace"].text();
  read.name = metadata["name"].text();
  read.generation = fields.Integer(metadata["generation"], 0, kLargest);
  SpecReader(object).Read(read);
  read.status = ReadProfileStatus(object["status"]);
  return read;
}

std::string WriteProfileStatus(const std::string& uid, const ProfileStatus& status) {
  std::string out = R"({"metadata":{"uid":)";
  AppendJsonString(out, uid);
  out +=
      fmt::format(R"(}},"status":{{"observedGeneration":{},"demand":)", status.observed_generation);
  if (status.demand_cpu.empty()) {
    out += "null";
  } else {
    out += fmt::format(R"({{"cpu":"{}","memory":"{}"}})", status.demand_cpu, status.demand_memory);
  }
  out += R"(,"speedUp":)";
  out += status.speed_up.empty() ? "null" : status.speed_up;
  out += R"(,"conditions":[{"type":"Valid","status":)";
  AppendTextOrNull(out, status.valid);
  out += R"(,"reason":)";
  AppendTextOrNull(out, status.reason);
  out += R"(,"message":)";
  AppendJsonString(out, status.message);
  out += R"(,"lastTransitionTime":)";
  AppendTextOrNull(out, status.since);
  out += fmt::format(R"(,"observedGeneration":{}}}]}}}})", status.observed_generation);
  return out;
}

}  // namespace synergy::wire
