#include "wire/kueue/stoppable_job.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/kueue/kueue_readers.h"

namespace synergy::wire {
namespace {

// Conditions that show that a Job, a JobSet or a Workload has ended, or is about to.
constexpr std::array<std::string_view, 6> kEnded = {
    "Complete", "Completed", "Failed", "FailureTarget", "SuccessCriteriaMet", "Finished"};

// The field that stops objects of the kind, and its value when stopped.
struct Switch {
  std::string_view field;
  bool stopped;
};
Switch SwitchOf(std::string_view kind) {
  return kind == kWorkloadKind ? Switch{"active", false} : Switch{"suspend", true};
}

std::optional<std::string> ReadRetries(FieldReader& fields, Value annotations) {
  const Value value = annotations[kRetriesAnnotation];
  if (value.absent()) return std::nullopt;
  return std::string(fields.Text(value).substr(0, kLongestRetries));
}

// Returns whether pods of the Job, or of a Job of the JobSet, train independently.
bool HasIndependentParts(FieldReader& fields, Value object, std::string_view kind) {
  if (kind == "Job") return HasIndependentCompletions(object);
  bool independent = false;
  fields.Array(object["spec"]["replicatedJobs"]).ForEachElement([&](Value replicated) {
    const Value job = fields.Object(fields.Object(replicated)["template"]);
    const Value spec = fields.Object(job["spec"]);
    constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
    const bool is_array =
        !spec["completions"].absent() &&
        fields.Integer(spec["completions"], 0, kAny) !=
            (spec["parallelism"].absent() ? 1 : fields.Integer(spec["parallelism"], 0, kAny));
    independent |= is_array || !spec["backoffLimitPerIndex"].absent();
  });
  return independent;
}

StoppableJob Read(FieldReader& fields, Value object, std::string_view kind) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value annotations = fields.Object(metadata["annotations"]);
  const Value spec = fields.Object(object["spec"]);
  const Switch by = SwitchOf(kind);
  const Value field = spec[by.field];
  const WorkloadOwner owner = ReadOwner(fields, metadata);
  return {.kind = std::string(kind),
          .job_namespace = ReadText(fields, metadata["namespace"]),
          .name = ReadText(fields, metadata["name"]),
          .uid = ReadText(fields, metadata["uid"]),
          .resource_version = ReadText(fields, metadata["resourceVersion"]),
          .owner = {owner.api_version, owner.kind, owner.name, owner.uid},
          .retries = ReadRetries(fields, annotations),
          .stopped_for = ReadText(fields, annotations[kStoppedAnnotation]),
          .stopped = !field.absent() && fields.Truth(field) == by.stopped,
          .finished = HasEnded(fields, fields.Object(object["status"])["conditions"]),
          .independent_completions = HasIndependentParts(fields, object, kind)};
}

}  // namespace

bool HasEnded(FieldReader& fields, Value conditions) {
  bool ended = false;
  fields.Array(conditions).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    ended |=
        fields.Text(condition["status"]) == "True" &&
        std::find(kEnded.begin(), kEnded.end(), fields.Text(condition["type"])) != kEnded.end();
  });
  return ended;
}

Result<StoppableJob> ReadStoppableJob(std::string_view text, std::string_view kind) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  if (!document->root().IsObject()) return Fail(ErrorCode::kInvalid, "not an object");
  FieldReader fields(document->root());
  return Read(fields, document->root(), kind);
}

Result<std::vector<StoppableJob>> ReadStoppableWorkloads(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  if (!document->root().IsObject()) return Fail(ErrorCode::kInvalid, "not an object");
  FieldReader fields(document->root());
  std::vector<StoppableJob> all;
  fields.Array(document->root()["items"]).ForEachElement([&](Value item) {
    all.push_back(Read(fields, fields.Object(item), kWorkloadKind));
  });
  return all;
}

Result<std::optional<std::string>> ReadRetriesAnnotation(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value metadata = fields.Object(fields.Object(document->root())["metadata"]);
  return ReadRetries(fields, fields.Object(metadata["annotations"]));
}

std::string WriteStop(const StoppableJob& job, std::string_view decision) {
  const Switch by = SwitchOf(job.kind);
  return fmt::format(
      R"({{"metadata":{{"uid":{},"resourceVersion":{},"annotations":{{"{}":{}}}}},"spec":{{"{}":{}}}}})",
      Quoted(job.uid), Quoted(job.resource_version), kStoppedAnnotation, Quoted(decision), by.field,
      by.stopped);
}

std::string WriteResume(std::string_view kind) {
  const Switch by = SwitchOf(kind);
  return fmt::format(R"({{"spec":{{"{}":{}}}}})", by.field, !by.stopped);
}

}  // namespace synergy::wire
