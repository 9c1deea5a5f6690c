#include "wire/training_profile.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/gang.h"
#include "core/text/quantity_text.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

// JobProfile refuses unusable amounts and names the point; this bound prevents an earlier overflow.
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostCount = std::numeric_limits<int32_t>::max();
// The limit of the CustomResourceDefinition, which does not apply to reviews.
constexpr size_t kMostPoints = 1024;
constexpr size_t kMostMemories = 64;
constexpr std::string_view kGoodPack = "Good";
constexpr std::string_view kRefusedPack = "Refused";

// The label on profiles that the controller creates.
constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
constexpr std::string_view kUs = "synergy-controller";

// Returns nullopt, and records a finding, for a value that is not a finite number.
std::optional<double> ReadNumber(FieldReader& fields, Value value) {
  const std::string_view text = value.text();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (!value.IsNumber() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(number)) {
    fields.Report(value, value.IsNumber()
                             ? Quoted(text) + " is outside the supported range"
                             : fmt::format("must be a number, not {}", value.DescribeKind()));
    return std::nullopt;
  }
  return number;
}

// Calls visit(element) for each element, or reports that there are too many. Returns their number.
template <class Visit>
size_t ForEachOf(FieldReader& fields, Value array, size_t most, Visit visit) {
  size_t count = 0;
  array.ForEachElement([&](Value) { ++count; });
  if (count > most) {
    fields.Report(array, fmt::format("has {} elements: at most {} are read", count, most));
  } else {
    array.ForEachElement(visit);
  }
  return count;
}

class SpecReader {
 public:
  explicit SpecReader(Value object) : fields_(object), spec_(fields_.Object(object["spec"])) {
    if (spec_.missing() && fields_.ok()) fields_.ReportMissing(object, "spec");
  }

  bool to_be_measured() const { return to_be_measured_; }

  void Read(ProfileObject& object) {
    TrainingProfile& training = object.training;
    training.model = object.name;
    if (!spec_.missing()) {
      training.gpu_product = ReadText(fields_, spec_["gpuProduct"]);
      if (const Value gpus = spec_["gpus"]; !gpus.absent())
        training.gpus = Gpus(fields_.Integer(gpus, 1, kMostGpus));
      object.tolerance = ReadTolerance(spec_["tolerance"]);
      object.workload = ReadText(fields_, spec_["workload"]);
      object.checkpoints = fields_.Truth(spec_["checkpoints"]);
      if (const Value size = spec_["gangSize"]; !size.absent())
        object.gang_size = static_cast<int32_t>(fields_.Integer(size, 1, kMostGangMembers));
      training.spread = ReadSpread();
      training.process_memory = ReadBytes(spec_["processMemory"]);
      ReadCache(training);
      to_be_measured_ = !object.workload.empty() && spec_["points"].absent();
      if (!to_be_measured_) ReadPoints(training);
      if (to_be_measured_ && (training.cached || training.process_memory)) {
        fields_.Report(spec_,
                       "datasetSize, storageBandwidth, bytesPerSample, memories and processMemory "
                       "need points: measurements of memory are in the status");
      }
      if (!to_be_measured_ && object.gang_size > 1) {
        fields_.Report(spec_["gangSize"],
                       "is only for measurements of Synergy: remove it if there are points");
      }
    }
    object.problems = fields_.findings();
    if (fields_.count() > object.problems.size()) {
      object.problems.push_back(
          fmt::format("and {} more", fields_.count() - object.problems.size()));
    }
    if (!object.problems.empty() || to_be_measured_) return;
    Result<JobProfile> profile = MakeJobProfile(training);
    if (profile) {
      object.profile = std::make_shared<const JobProfile>(std::move(*profile));
    } else {
      object.problems.push_back("spec.points: " + profile.error().message);
    }
  }

 private:
  static constexpr int64_t kMostGpus = 1 << 16;

  std::optional<double> ReadTolerance(Value value) {
    if (value.absent()) return std::nullopt;
    const std::optional<double> tolerance = ReadNumber(fields_, value);
    if (tolerance && (*tolerance < 0 || *tolerance >= 1)) {
      fields_.Report(value, "must be at least 0 and below 1");
      return std::nullopt;
    }
    return tolerance;
  }

  // Accepts 0 to 1, but for a speed only values above 0; otherwise returns nullopt and records a
  // finding.
  std::optional<double> ReadPart(Value value, bool is_speed) {
    if (value.absent()) return std::nullopt;
    const std::optional<double> part = ReadNumber(fields_, value);
    if (part && (*part < 0 || *part > 1 || (is_speed && *part == 0))) {
      fields_.Report(value, is_speed ? "must be above 0 and at most 1" : "must be from 0 to 1");
      return std::nullopt;
    }
    return part;
  }

  SpreadCost ReadSpread() {
    SpreadCost spread;
    spread.tensor_skew = ReadPart(spec_["tensorSkew"], false);
    const Value speed = fields_.Object(spec_["spreadSpeed"]);
    if (speed.missing()) return spread;
    if (speed["nodes"].absent()) fields_.ReportMissing(speed, "nodes");
    spread.nodes = ReadPart(speed["nodes"], true);
    spread.racks = ReadPart(speed["racks"], true);
    if (spread.nodes && spread.racks && *spread.racks > *spread.nodes)
      fields_.Report(speed["racks"], "must be at most nodes");
    return spread;
  }

  // Accepts amounts above zero; otherwise returns nullopt and records a finding.
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
    ForEachOf(fields_, fields_.Array(memories), kMostMemories, [&](Value memory) {
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
    size_t index = 0;
    const size_t count = ForEachOf(fields_, points, kMostPoints,
                                   [&](Value point) { ReadPoint(training, point, index++); });
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
        point["throughput"].absent() ? 0 : ReadNumber(fields_, point["throughput"]).value_or(0);
    if (throughput < 0) fields_.Report(point["throughput"], "must not be negative");
    if (training.cached && !memory_field.absent()) {
      fields_.Report(memory_field,
                     "must not be set in points if datasetSize is set, because they are measured "
                     "with the data set in memory");
    }
    if (!training.cached && memory_field.absent()) {
      fields_.Report(
          point, "memory is missing; set it, or datasetSize, storageBandwidth and bytesPerSample");
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
  std::map<std::pair<MilliCpu, Bytes>, size_t> seen_;  // with their positions
  bool to_be_measured_ = false;                        // a workload, and no points
};

MeasuredPoint ReadMeasuredPoint(FieldReader& fields, Value value) {
  value = fields.Object(value);
  MeasuredPoint point;
  point.cpu = MilliCpu(ToMilliCpu(fields.Amount(value["cpu"]), kLargestRequest));
  point.throughput = ReadNumber(fields, value["throughput"]).value_or(0);
  const Result<PointCertainty> certainty = ParsePointCertainty(fields.Text(value["certainty"]));
  if (!certainty) fields.Report(value["certainty"], certainty.error().message);
  point.certainty = certainty ? *certainty : PointCertainty::kGuess;
  point.windows = static_cast<int32_t>(fields.Integer(value["windows"], 0, kMostCount));
  if (!value["spread"].absent()) point.spread = ReadNumber(fields, value["spread"]).value_or(0);
  return point;
}

MeasuredMemory ReadMeasuredMemory(FieldReader& fields, Value value) {
  value = fields.Object(value);
  const auto bytes = [&fields, value](std::string_view name) {
    return ToBytes(fields.Amount(value[name]), kLargestRequest);
  };
  MeasuredMemory memory;
  memory.process = bytes("process");
  memory.data_set = bytes("dataSet");
  memory.bytes_per_iteration = bytes("bytesPerIteration");
  if (!value["storageBandwidth"].absent()) memory.storage_bandwidth = bytes("storageBandwidth");
  memory.confirmed = fields.Truth(value["confirmed"]);
  if (const Value over = value["raiseOver"]; !over.absent()) {
    memory.raise_over = ParseTime(fields.Text(over));
    if (!memory.raise_over) fields.Report(over, "is not a time");
  }
  return memory;
}

MemoryRaise ReadMemoryRaise(FieldReader& fields, Value value) {
  value = fields.Object(value);
  MemoryRaise raise;
  raise.process = ToBytes(fields.Amount(value["process"]), kLargestRequest);
  raise.too_small = ToBytes(fields.Amount(value["tooSmall"]), kLargestRequest);
  raise.times = static_cast<int32_t>(fields.Integer(value["times"], 1, kMostCount));
  const auto at = ParseTime(fields.Text(value["at"]));
  if (!at) fields.Report(value["at"], "is not a time");
  raise.at = at.value_or(WallTime{});
  raise.ran = std::chrono::seconds(fields.Integer(value["ranSeconds"], 0, kMostCount));
  return raise;
}

MeasuredProfile ReadMeasured(FieldReader& fields, Value status, const ProfileObject& object) {
  const Value value = fields.Object(status["measured"]);
  MeasuredProfile measured;
  measured.workload = object.workload;
  measured.gpu_product = object.training.gpu_product;
  measured.gpus = object.training.gpus;
  measured.gang_size = object.gang_size;
  measured.alike = {.arguments = ReadText(fields, value["alike"]["arguments"]),
                    .owner = ReadText(fields, value["alike"]["owner"])};
  if (const Value taken = value["takenFrom"]; !taken.absent()) {
    const auto by = ParseLooserIdentity(fields.Text(taken["by"]));
    if (!by) fields.Report(taken["by"], "is none of: arguments, owner");
    measured.taken = {ReadText(fields, taken["profile"]), by.value_or(LooserIdentity::kArguments)};
  }
  measured.node = ReadText(fields, value["node"]);
  measured.revision = fields.Integer(value["revision"], 1, kLargest);
  const auto at = ParseTime(fields.Text(value["at"]));
  if (!at) fields.Report(value["at"], "is not a time");
  measured.at = at.value_or(WallTime{});
  ForEachOf(fields, fields.Array(value["points"]), kMostPoints,
            [&](Value point) { measured.points.push_back(ReadMeasuredPoint(fields, point)); });
  if (!value["cpuSeconds"].absent()) measured.cpu_seconds = ReadNumber(fields, value["cpuSeconds"]);
  measured.confirmed = fields.Truth(value["confirmed"]);
  measured.drifted = fields.Truth(value["drifted"]);
  measured.censored = fields.Truth(value["censored"]);
  measured.estimate = fields.Truth(value["estimate"]);
  measured.probes = static_cast<int32_t>(fields.Integer(value["probes"], 0, kMostCount));
  if (!value["lostIterations"].absent())
    measured.lost_iterations = ReadNumber(fields, value["lostIterations"]).value_or(0);
  if (!value["memory"].absent()) measured.memory = ReadMeasuredMemory(fields, value["memory"]);
  measured.note = ReadText(fields, value["note"]);
  if (!status["memoryRaise"].absent())
    measured.raise = ReadMemoryRaise(fields, status["memoryRaise"]);
  return measured;
}

// Returns nullopt, and records a finding, for a record that the controller cannot have written.
std::optional<PackRecord> ReadPackRecord(FieldReader& fields, Value value) {
  const size_t before = fields.count();
  value = fields.Object(value);
  const auto speed = [&fields, value](std::string_view name) {
    const std::optional<double> read = ReadNumber(fields, value[name]);
    if (read && (*read < 0 || *read > kMostPackSpeed))
      fields.Report(value[name], fmt::format("must be from 0 to {}", kMostPackSpeed));
    return read.value_or(0);
  };
  const auto time = [&fields, value](std::string_view name) {
    const std::optional<WallTime> read = ParseTime(fields.Text(value[name]));
    // Differences of later times fit into a Duration.
    if (read && *read >= WallTime{}) return *read;
    fields.Report(value[name], "is not a time after 1970");
    return WallTime{};
  };
  PackRecord record;
  record.with = ReadText(fields, value["with"]);
  if (record.with.empty() || record.with.size() > kLongestPackWorkload)
    fields.Report(value["with"], fmt::format("must have 1 to {} characters", kLongestPackWorkload));
  const std::string_view verdict = fields.Text(value["verdict"]);
  record.good = verdict == kGoodPack;
  if (!record.good && verdict != kRefusedPack)
    fields.Report(value["verdict"], fmt::format("is none of: {}, {}", kGoodPack, kRefusedPack));
  record.speed = speed("speed");
  record.other_speed = speed("otherSpeed");
  record.at = time("at");
  if (!record.good) {
    record.refusals =
        static_cast<uint32_t>(fields.Integer(value["refusals"], 1, kMostPackRefusals));
    record.rest = time("refusedUntil") - record.at;
    if (record.rest < Duration::zero() || record.rest > kLongestPackRest)
      fields.Report(value["refusedUntil"], "is before `at`, or more than 4 hours later");
  }
  if (fields.count() != before) return std::nullopt;
  return record;
}

// Skips records that cannot be read, because the rest of the profile does not depend on them.
std::vector<PackRecord> ReadPacking(FieldReader& fields, Value value) {
  std::vector<PackRecord> records;
  std::set<std::string> seen;
  ForEachOf(fields, fields.Array(value), kMostPackRecords, [&](Value each) {
    std::optional<PackRecord> record = ReadPackRecord(fields, each);
    if (!record) return;
    if (seen.insert(record->with).second) {
      records.push_back(std::move(*record));
    } else {
      fields.Report(each, "is of the same workload as another one");
    }
  });
  return records;
}

// REQUIRES: the object has no points of its own.
void TakeMeasured(Value root, ProfileObject& object) {
  const Value status = root["status"];
  if (!object.problems.empty() || status["measured"].absent()) return;
  // If the spec was edited after the measurement, the points belong to another workload or another
  // GPU.
  if (object.name != MeasuredName(object.workload, object.training.gpus,
                                  object.training.gpu_product, object.gang_size)) {
    object.problems.emplace_back(
        "spec: the measurement is of another workload, GPU count, product or size of gang");
    return;
  }
  FieldReader fields(root);
  MeasuredProfile measured = ReadMeasured(fields, status, object);
  object.problems = fields.findings();
  if (!object.problems.empty()) return;
  Result<JobProfile> profile = MakeJobProfile(measured);
  if (!profile) {
    object.problems.push_back("status.measured.points: " + profile.error().message);
    return;
  }
  // The spec contains the cost of spreading, if known.
  *profile = profile->WithSpread(object.training.spread);
  TrainingProfile training = TrainingOf(measured);
  object.training.points = std::move(training.points);
  object.training.cached = std::move(training.cached);
  object.training.process_memory = training.process_memory;
  object.profile = std::make_shared<const JobProfile>(std::move(*profile));
  object.measured = std::move(measured);
}

// Reads the status, which only a controller writes; unexpected values count as absent.
ProfileStatus ReadProfileStatus(Value status) {
  FieldReader fields(status);
  ProfileStatus read;
  read.observed_generation = fields.Integer(status["observedGeneration"], 0, kLargest);
  read.demand_cpu = status["demand"]["cpu"].text();
  read.demand_memory = status["demand"]["memory"].text();
  read.speed_up = status["speedUp"].text();
  status["conditions"].ForEachElement([&read](Value condition) {
    if (condition["type"].text() == "Contradicted" && condition["status"].text() == "True") {
      read.contradiction = condition["message"].text();
      read.contradicted_since = condition["lastTransitionTime"].text();
    }
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

// null removes a value that is no longer known.
void AppendMemory(std::string& out, const std::optional<MeasuredMemory>& memory) {
  if (!memory) {
    out += "null";
    return;
  }
  out += fmt::format(R"({{"process":"{}","dataSet":"{}","bytesPerIteration":"{}")",
                     ToQuantityText(memory->process), ToQuantityText(memory->data_set),
                     ToQuantityText(memory->bytes_per_iteration));
  out += memory->storage_bandwidth ? fmt::format(R"(,"storageBandwidth":"{}")",
                                                 ToQuantityText(*memory->storage_bandwidth))
                                   : R"(,"storageBandwidth":null)";
  out += memory->raise_over ? fmt::format(R"(,"raiseOver":"{}")", ToTimeText(*memory->raise_over))
                            : R"(,"raiseOver":null)";
  out += fmt::format(R"(,"confirmed":{}}})", memory->confirmed);
}

struct Condition {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string_view message;
  std::string_view since;
};

void AppendCondition(std::string& out, const ProfileStatus& about, const Condition& condition) {
  out += R"({"type":)";
  AppendJsonString(out, condition.type);
  out += R"(,"status":)";
  AppendTextOrNull(out, condition.status);
  out += R"(,"reason":)";
  AppendTextOrNull(out, condition.reason);
  out += R"(,"message":)";
  AppendJsonString(out, condition.message);
  out += R"(,"lastTransitionTime":)";
  AppendTextOrNull(out, condition.since);
  out += fmt::format(R"(,"observedGeneration":{}}})", about.observed_generation);
}

}  // namespace

ProfileObject ReadProfileObject(FieldReader& beside, Value object) {
  FieldReader fields(object);
  const Value metadata = object["metadata"];
  ProfileObject read;
  read.uid = metadata["uid"].text();
  read.profile_namespace = metadata["namespace"].text();
  read.name = metadata["name"].text();
  read.resource_version = metadata["resourceVersion"].text();
  read.generation = fields.Integer(metadata["generation"], 0, kLargest);
  read.kept_by_us = metadata["labels"][kManagedBy].text() == kUs;
  SpecReader spec(object);
  spec.Read(read);
  if (spec.to_be_measured()) TakeMeasured(object, read);
  read.packing = ReadPacking(beside, object["status"]["packing"]);
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
    out += fmt::format(R"({{"cpu":"{}","memory":)", status.demand_cpu);
    AppendTextOrNull(out, status.demand_memory);
    out += '}';
  }
  out += R"(,"speedUp":)";
  out += status.speed_up.empty() ? "null" : status.speed_up;
  out += R"(,"conditions":[)";
  AppendCondition(out, status,
                  {"Valid", status.valid, status.reason, status.message, status.since});
  if (!status.contradiction.empty()) {
    out += ',';
    AppendCondition(out, status,
                    {"Contradicted", "True", "MeasuredOtherwise", status.contradiction,
                     status.contradicted_since});
  }
  return out + "]}}";
}

Result<ProfileObject> ReadTrainingProfile(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  return ReadProfileObject(fields, document->root());
}

std::string WriteNewMeasured(const std::string& profile_namespace,
                             const MeasuredProfile& measured) {
  std::string out = R"({"apiVersion":"synergy.io/v1alpha1","kind":"TrainingProfile",)";
  out += R"("metadata":{"namespace":)";
  AppendJsonString(out, profile_namespace);
  out += R"(,"name":)";
  AppendJsonString(out, MeasuredName(measured));
  out += fmt::format(R"(,"labels":{{"{}":"{}"}}}},"spec":{{"workload":)", kManagedBy, kUs);
  AppendJsonString(out, measured.workload);
  out += fmt::format(R"(,"gpus":{})", measured.gpus.count());
  if (measured.gang_size > 1) out += fmt::format(R"(,"gangSize":{})", measured.gang_size);
  if (!measured.gpu_product.empty()) {
    out += R"(,"gpuProduct":)";
    AppendJsonString(out, measured.gpu_product);
  }
  return out + "}}";
}

std::string WriteMeasured(const std::string& uid, const MeasuredProfile& measured) {
  std::string out = R"({"metadata":{"uid":)";
  AppendJsonString(out, uid);
  out += R"(},"status":{"measured":{"node":)";
  AppendJsonString(out, measured.node);
  out += fmt::format(R"(,"revision":{},"at":"{}","points":[)", measured.revision,
                     ToTimeText(measured.at));
  for (const MeasuredPoint& point : measured.points) {
    if (out.back() != '[') out += ',';
    out +=
        fmt::format(R"({{"cpu":"{}","throughput":{},"certainty":"{}","windows":{},"spread":{}}})",
                    ToQuantityText(point.cpu), point.throughput, ToString(point.certainty),
                    point.windows, point.spread);
  }
  // null removes a value that is no longer known.
  out += R"(],"cpuSeconds":)";
  out += measured.cpu_seconds ? fmt::format("{}", *measured.cpu_seconds) : "null";
  out += fmt::format(R"(,"confirmed":{},"drifted":{},"censored":{},"estimate":{},"probes":{},)"
                     R"("lostIterations":{},"note":)",
                     measured.confirmed, measured.drifted, measured.censored, measured.estimate,
                     measured.probes, measured.lost_iterations);
  AppendJsonString(out, measured.note);
  out += R"(,"memory":)";
  AppendMemory(out, measured.memory);
  out += R"(,"alike":{"arguments":)";
  AppendTextOrNull(out, measured.alike.arguments);
  out += R"(,"owner":)";
  AppendTextOrNull(out, measured.alike.owner);
  out += R"(},"takenFrom":)";
  if (measured.taken) {
    out += R"({"profile":)";
    AppendJsonString(out, measured.taken->profile);
    out += fmt::format(R"(,"by":"{}"}})", ToString(measured.taken->by));
  } else {
    out += "null";
  }
  return out + "}}}";
}

std::string WriteMemoryRaise(const ProfileObject& object, const MemoryRaise& raise) {
  std::string out = R"({"metadata":{"uid":)";
  AppendJsonString(out, object.uid);
  out += R"(,"resourceVersion":)";
  AppendJsonString(out, object.resource_version);
  out += fmt::format(
      R"(}},"status":{{"memoryRaise":{{"process":"{}","tooSmall":"{}","times":{},"at":"{}",)"
      R"("ranSeconds":{}}}}}}})",
      ToQuantityText(raise.process), ToQuantityText(raise.too_small), raise.times,
      ToTimeText(raise.at), std::chrono::floor<std::chrono::seconds>(raise.ran).count());
  return out;
}

std::string WritePacking(const ProfileObject& object, const std::vector<PackRecord>& records) {
  std::string out = R"({"metadata":{"uid":)";
  AppendJsonString(out, object.uid);
  out += R"(,"resourceVersion":)";
  AppendJsonString(out, object.resource_version);
  out += R"(},"status":{"packing":[)";
  for (const PackRecord& record : records) {
    if (out.back() != '[') out += ',';
    out += R"({"with":)";
    AppendJsonString(out, record.with);
    out += fmt::format(R"(,"verdict":"{}","speed":{},"otherSpeed":{},"at":"{}")",
                       record.good ? kGoodPack : kRefusedPack, record.speed, record.other_speed,
                       ToTimeText(record.at));
    if (!record.good) {
      out += fmt::format(R"(,"refusals":{},"refusedUntil":"{}")", record.refusals,
                         ToTimeText(record.at + record.rest));
    }
    out += '}';
  }
  return out + "]}}";
}

std::string WriteDeletion(const std::string& uid) {
  std::string out = R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":)";
  AppendJsonString(out, uid);
  return out + "}}";
}

template <>
struct Kind<ProfileObject> {
  static constexpr std::string_view kName = "training profile";
  static ProfileObject Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadProfileObject(fields, object);
  }
};

template struct KindReader<ProfileObject>;

}  // namespace synergy::wire
