#include "wire/kueue/prerun.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/kueue/kueue.h"
#include "wire/kueue/kueue_readers.h"
#include "wire/kueue/stoppable_job.h"
#include "wire/objects/kind.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kMostTimeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
constexpr std::string_view kLastCondition = "Finished";

// Labels that the Job controller writes into the template of its Job. Also labels and annotations
// that make a pod a member of a gang or reserve a place for it.
constexpr std::array<std::string_view, 7> kNotCopied = {"controller-uid",
                                                        "job-name",
                                                        annotations::kGang,
                                                        annotations::kGangSize,
                                                        annotations::kGpuProduct,
                                                        annotations::kTensorSkew,
                                                        "scheduling.x-k8s.io/pod-group"};
constexpr std::array<std::string_view, 2> kPrefixesNotCopied = {"kueue.x-k8s.io/",
                                                                "batch.kubernetes.io/"};

// Members of a pod's spec that a trial has instead of those of its Job.
constexpr std::array<std::string_view, 4> kSpecNotCopied = {"priorityClassName", "priority",
                                                            "preemptionPolicy", "restartPolicy"};

bool IsCopied(std::string_view key) {
  return std::find(kNotCopied.begin(), kNotCopied.end(), key) == kNotCopied.end() &&
         std::none_of(kPrefixesNotCopied.begin(), kPrefixesNotCopied.end(),
                      [key](std::string_view prefix) { return key.starts_with(prefix); });
}

std::optional<std::string> ReadAnnotation(FieldReader& fields, Value annotations,
                                          std::string_view key) {
  const Value value = annotations[key];
  if (value.absent()) return std::nullopt;
  return std::string(fields.Text(value).substr(0, kLongestPrerunText));
}

std::string ReadNote(FieldReader& fields, Value annotations, std::string_view key) {
  return ReadAnnotation(fields, annotations, key).value_or("");
}

bool IsZero(Value amount) { return amount.text().empty() || amount.text() == "0"; }

// Returns whether a container of the list requests GPUs.
bool RequestsGpus(Value containers, std::string_view gpu_resource) {
  bool any = false;
  containers.ForEachElement([&](Value container) {
    const Value resources = container["resources"];
    any |=
        !IsZero(resources["limits"][gpu_resource]) || !IsZero(resources["requests"][gpu_resource]);
  });
  return any;
}

void WriteValue(Writer& out, Value value) {
  std::string text;
  json::AppendValue(text, value);
  out.Raw(text);
}

// Writes the members of the object that `keep` accepts.
template <class Keep>
void WriteSome(Writer& out, Value object, Keep keep) {
  out.BeginObject();
  object.ForEachMember([&](std::string_view key, Value value) {
    if (!keep(key)) return;
    out.Key(key);
    WriteValue(out, value);
  });
  out.EndObject();
}

void WriteResources(Writer& out, Value resources, const TrialRequest& request,
                    std::string_view gpu_resource) {
  out.BeginObject();
  resources.ForEachMember([&](std::string_view part, Value amounts) {
    out.Key(part);
    if (part != "limits" && part != "requests") return WriteValue(out, amounts);
    out.BeginObject();
    amounts.ForEachMember([&](std::string_view name, Value amount) {
      const bool is_gpu = name == gpu_resource && !IsZero(amount);
      out.Key(is_gpu ? std::string_view(request.resource) : name);
      is_gpu ? out.Text("1") : WriteValue(out, amount);
    });
    out.EndObject();
  });
  out.EndObject();
}

void WriteEnvironment(Writer& out, Value variables) {
  out.BeginArray();
  variables.ForEachElement([&](Value variable) {
    if (variable["name"].text() != kPrerunVariable) WriteValue(out, variable);
  });
  out.BeginObject();
  out.Key("name");
  out.Text(kPrerunVariable);
  out.Key("value");
  out.Text("1");
  out.EndObject();
  out.EndArray();
}

void WriteContainers(Writer& out, Value containers, const TrialRequest& request,
                     std::string_view gpu_resource) {
  out.BeginArray();
  containers.ForEachElement([&](Value container) {
    out.BeginObject();
    container.ForEachMember([&](std::string_view key, Value value) {
      if (key == "env") return;
      out.Key(key);
      key == "resources" ? WriteResources(out, value, request, gpu_resource)
                         : WriteValue(out, value);
    });
    out.Key("env");
    WriteEnvironment(out, container["env"]);
    out.EndObject();
  });
  out.EndArray();
}

void WriteTemplate(Writer& out, Value pod, const TrialRequest& request,
                   std::string_view gpu_resource) {
  out.BeginObject();
  out.Key("metadata");
  out.BeginObject();
  for (const char* const part : {"labels", "annotations"}) {
    out.Key(part);
    WriteSome(out, pod["metadata"][part], IsCopied);
  }
  out.EndObject();
  out.Key("spec");
  out.BeginObject();
  pod["spec"].ForEachMember([&](std::string_view key, Value value) {
    if (std::find(kSpecNotCopied.begin(), kSpecNotCopied.end(), key) != kSpecNotCopied.end())
      return;
    out.Key(key);
    if (key == "containers" || key == "initContainers") {
      WriteContainers(out, value, request, gpu_resource);
    } else if (key == "nodeSelector") {
      // The queue for trials determines the GPU product.
      WriteSome(out, value, [](std::string_view label) { return label != kGpuProductLabel; });
    } else {
      WriteValue(out, value);
    }
  });
  // Kueue also derives the Workload's priority from this class.
  out.Key("priorityClassName");
  out.Text(request.priority_class);
  out.Key("restartPolicy");
  out.Text("Never");
  out.EndObject();
  out.EndObject();
}

// Returns a merge patch that sets the annotation `note` to `value`; `rest` follows the metadata.
std::string Patch(const PrerunWorkload& workload, std::string_view note, std::string_view value,
                  std::string_view rest) {
  return fmt::format(
      R"({{"metadata":{{"uid":{},"resourceVersion":{},"annotations":{{"{}":{}}}}}{}}})",
      Quoted(workload.uid), Quoted(workload.resource_version), note, Quoted(value), rest);
}

}  // namespace

template <>
struct Kind<PrerunWorkload> {
  static constexpr std::string_view kName = "workload";
  static PrerunWorkload Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value annotations = fields.Object(metadata["annotations"]);
    const WorkloadOwner owner = ReadOwner(fields, metadata);
    PrerunWorkload workload{.uid = ReadText(fields, metadata["uid"]),
                            .its_namespace = ReadText(fields, metadata["namespace"]),
                            .name = ReadText(fields, metadata["name"]),
                            .resource_version = ReadText(fields, metadata["resourceVersion"]),
                            .job = {owner.api_version, owner.kind, owner.name, owner.uid},
                            .queue = ReadText(fields, spec["queueName"]),
                            .trial = ReadNote(fields, annotations, kTrialNote),
                            .stopped = ReadNote(fields, annotations, kPrerunStopNote)};
    if (const auto created = ParseTime(fields.Text(metadata["creationTimestamp"])))
      workload.created = *created;
    workload.active = spec["active"].absent() || fields.Truth(spec["active"]);
    const Value conditions = fields.Object(object["status"])["conditions"];
    fields.Array(conditions).ForEachElement([&](Value condition) {
      condition = fields.Object(condition);
      const std::string_view type = fields.Text(condition["type"]);
      const bool holds = fields.Text(condition["status"]) == "True";
      if (type == "QuotaReserved") workload.has_quota = holds;
      if (type == "Evicted") workload.had_quota = true;
      if (type == kLastCondition) workload.finished = holds;
    });
    return workload;
  }
};

template struct KindReader<PrerunWorkload>;

template <>
struct Kind<PrerunQueue> {
  static constexpr std::string_view kName = "local queue";
  static PrerunQueue Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value annotations = fields.Object(metadata["annotations"]);
    return {.its_namespace = ReadText(fields, metadata["namespace"]),
            .name = ReadText(fields, metadata["name"]),
            .cluster_queue = ReadText(fields, fields.Object(object["spec"])["clusterQueue"]),
            .prerun = ReadAnnotation(fields, annotations, kPrerunAnnotation),
            .trial_queue = ReadNote(fields, annotations, kTrialQueueAnnotation),
            .trial_resource = ReadNote(fields, annotations, kTrialResourceAnnotation)};
  }
};

template struct KindReader<PrerunQueue>;

template <>
struct Kind<PrerunTrial> {
  static constexpr std::string_view kName = "job";
  static PrerunTrial Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    return {.uid = ReadText(fields, metadata["uid"]),
            .its_namespace = ReadText(fields, metadata["namespace"]),
            .name = ReadText(fields, metadata["name"]),
            .job_uid = ReadText(fields, fields.Object(metadata["labels"])[kTrialLabel]),
            .finished = HasEnded(fields, fields.Object(object["status"])["conditions"]),
            .deleting = ReadDeleting(fields, metadata)};
  }
};

template struct KindReader<PrerunTrial>;

Result<PrerunJob> ReadPrerunJob(std::string_view text, std::string_view gpu_resource) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  if (!document->root().IsObject()) return Fail(ErrorCode::kInvalid, "not an object");
  const Value object = document->root();
  FieldReader fields(object);
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = object["spec"];
  const Value pod = spec["template"]["spec"];
  PrerunJob job{
      .uid = ReadText(fields, metadata["uid"]),
      .prerun = ReadAnnotation(fields, fields.Object(metadata["annotations"]), kPrerunAnnotation),
      .independent_completions = HasIndependentCompletions(object)};
  // A trial has no trial of its own, whatever its queue requests.
  if (!fields.Object(metadata["labels"])[kTrialLabel].absent()) job.prerun = "off";
  bool has_claims = false;
  pod["resourceClaims"].ForEachElement([&](Value) { has_claims = true; });
  if (!spec["managedBy"].absent() && spec["managedBy"].text() != "kubernetes.io/job-controller") {
    job.problem = "another controller carries it out (spec.managedBy)";
  } else if (has_claims) {
    job.problem = "its pods get devices by ResourceClaims (spec.template.spec.resourceClaims)";
  } else if (!RequestsGpus(pod["containers"], gpu_resource)) {
    job.problem = fmt::format("its containers request no {}", gpu_resource);
  }
  return job;
}

std::string TrialName(std::string_view job_uid) { return fmt::format("prerun-{}", job_uid); }

Result<std::string> WriteTrial(std::string_view job_text, const TrialRequest& request,
                               std::string_view gpu_resource) {
  const Result<Document> document = Document::Parse(job_text);
  if (!document) return Fail(document.error());
  const Value job = document->root();
  const Value metadata = job["metadata"];
  const std::string_view uid = metadata["uid"].text();
  if (uid.empty() || !job["spec"]["template"].IsObject())
    return Fail(ErrorCode::kInvalid, "not a Job");
  Writer out;
  const auto text = [&out](std::string_view key, std::string_view value) {
    out.Key(key);
    out.Text(value);
  };
  const auto integer = [&out](std::string_view key, int64_t value) {
    out.Key(key);
    out.Integer(value);
  };
  out.BeginObject();
  text("apiVersion", "batch/v1");
  text("kind", "Job");
  out.Key("metadata");
  out.BeginObject();
  text("name", TrialName(uid));
  text("namespace", metadata["namespace"].text());
  out.Key("labels");
  out.BeginObject();
  text(kQueueLabel, request.queue);
  text(kMostTimeLabel,
       fmt::format("{}", std::chrono::duration_cast<std::chrono::seconds>(request.limit).count()));
  text(kTrialLabel, uid);
  out.EndObject();
  out.Key("ownerReferences");
  out.BeginArray();
  out.BeginObject();
  text("apiVersion", "batch/v1");
  text("kind", "Job");
  text("name", metadata["name"].text());
  text("uid", uid);
  out.EndObject();
  out.EndArray();
  out.EndObject();
  out.Key("spec");
  out.BeginObject();
  // Kueue starts the trial.
  out.Key("suspend");
  out.Truth(true);
  integer("parallelism", 1);
  integer("completions", 1);
  integer("backoffLimit", 0);
  if (const Value mode = job["spec"]["completionMode"]; !mode.absent())
    text("completionMode", mode.text());
  out.Key("template");
  WriteTemplate(out, job["spec"]["template"], request, gpu_resource);
  out.EndObject();
  out.EndObject();
  return out.Take();
}

std::string WriteTrialDeletion(const PrerunTrial& trial) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background","preconditions":{{"uid":{}}}}})",
      Quoted(trial.uid));
}

std::string WriteTrialNote(const PrerunWorkload& workload, std::string_view trial_uid) {
  return Patch(workload, kTrialNote, trial_uid, "");
}

std::string WritePrerunStop(const PrerunWorkload& workload, std::string_view trial_uid) {
  return Patch(workload, kPrerunStopNote, trial_uid, R"(,"spec":{"active":false})");
}

}  // namespace synergy::wire
