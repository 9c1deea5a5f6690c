#include "wire/agents/failures.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "wire/base/config_map.h"
#include "wire/base/member_text.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/objects/container_end.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {

void Members(auto& each, Like<ObjectOwner> auto& owner) {
  auto& [api_version, kind, name, uid] = owner;
  each("apiVersion", api_version);
  each("kind", kind);
  each("name", name);
  each("uid", uid);
}

void Members(auto& each, Like<FailureRecord> auto& record) {
  auto& [at, pod, uid, container, run, node, owner, queue, user, rank, category, cause, behaviour,
         advice, act, rule, evidence, exit_code, reason, gpu_seconds, attempt, leads, started,
         workload, image_id, iterations, shared_gpu, created, to_suspend, suspended, chosen_memory,
         fair_memory, profile, enlarged, larger, unsaved, startup] = record;
  each("at", at);
  each("pod", pod);
  each("uid", uid);
  each("container", container);
  each("run", run);
  each("node", node);
  each("owner", owner);
  each("queue", queue);
  each("user", user);
  each("rank", rank);
  each("category", category);
  each("cause", cause);
  each("behaviour", behaviour);
  each("advice", advice);
  each("act", act);
  each("rule", rule);
  each("evidence", evidence);
  each("exitCode", exit_code);
  each("reason", reason);
  each("gpuSeconds", gpu_seconds);
  each("attempt", attempt);
  each("leads", leads);
  each("started", started);
  each("workload", workload);
  each("imageID", image_id);
  each("iterations", iterations);
  each("sharedGpu", shared_gpu);
  each("created", created);
  each("toSuspend", to_suspend);
  each("suspended", suspended);
  each("chosenMemory", chosen_memory);
  each("fairMemory", fair_memory);
  each("profile", profile);
  each("enlarged", enlarged);
  each("larger", larger);
  each("unsaved", unsaved);
  each("startup", startup);
}

void Members(auto& each, Like<AvoidedNode> auto& entry) {
  auto& [of_namespace, workload, node, until] = entry;
  each("namespace", of_namespace);
  each("workload", workload);
  each("node", node);
  each("until", until);
}

namespace {

constexpr size_t kMostEnds = 16;  // ended containers of a pod to read, and waiting ones
constexpr size_t kMostConditions = 32;
constexpr int64_t kMostGrace = int64_t{366} * 86400;  // seconds
constexpr std::string_view kData = "failures.json";
constexpr std::string_view kAvoidedData = "nodes.json";

struct Records {
  std::vector<FailureRecord> failures;
};
void Members(auto& each, Like<Records> auto& records) { each("failures", records.failures); }
struct AvoidedEntries {
  std::vector<AvoidedNode> avoided;
};
void Members(auto& each, Like<AvoidedEntries> auto& entries) { each("avoided", entries.avoided); }

// Returns the beginning of the text.
std::string ReadShort(FieldReader& fields, Value value, size_t longest) {
  return std::string(fields.Text(value).substr(0, longest));
}

// Returns the name; empty if it is too long. No name of an existing object is too long.
std::string ReadName(FieldReader& fields, Value value, size_t longest) {
  const std::string_view text = fields.Text(value);
  return text.size() <= longest ? std::string(text) : std::string();
}

// Returns whether the text is short, consists of graphic ASCII, and needs no escapes in JSON.
bool IsPlain(std::string_view text, size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

WallTime ReadTimeOf(FieldReader& fields, Value value) {
  return ParseTime(fields.Text(value)).value_or(WallTime{});
}

// The API server accepts any text in ownerReferences. An invalid owner counts as none.
ObjectOwner ReadController(FieldReader& fields, Value metadata) {
  ObjectOwner owner;
  fields.Array(metadata["ownerReferences"]).ForEachElement([&](Value reference) {
    reference = fields.Object(reference);
    if (!fields.Truth(reference["controller"])) return;
    const std::string_view api_version = fields.Text(reference["apiVersion"]);
    const std::string_view kind = fields.Text(reference["kind"]);
    const std::string_view name = fields.Text(reference["name"]);
    const std::string_view uid = fields.Text(reference["uid"]);
    if (IsPlain(api_version, kLongestApiVersion) && IsPlain(kind, kLongestLabel) &&
        IsPlain(name, kLongestObjectName) && IsPlain(uid, kLongestUid)) {
      owner = {std::string(api_version), std::string(kind), std::string(name), std::string(uid)};
    }
  });
  return owner;
}

// Returns the digest of a container's image: the text after the name, if any.
std::string ReadImageId(FieldReader& fields, Value value) {
  std::string_view id = fields.Text(value);
  id.remove_prefix(id.rfind('@') + 1);
  return IsPlain(id, kLongestImageId) ? std::string(id) : std::string();
}

// Returns the first of these labels that the object has.
std::string FirstLabel(FieldReader& fields, Value labels,
                       std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (std::string text = ReadName(fields, labels[key], kLongestLabel); !text.empty()) return text;
  }
  return {};
}

void ReadEnds(FieldReader& fields, Value statuses, std::vector<ContainerEnd>& ends) {
  fields.Array(statuses).ForEachElement([&](Value status) {
    status = fields.Object(status);
    const std::optional<LastEnd> last = ReadLastEnd(fields, status);
    if (!last || ends.size() >= kMostEnds) return;
    const Value end = last->terminated;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const auto code = static_cast<int32_t>(fields.Integer(end["exitCode"], -kMost, kMost));
    if (code == 0) return;
    const WallTime finished = ReadTimeOf(fields, end["finishedAt"]);
    // A container runtime records the start time when its call to start the container returns,
    // which may be after the container's end.
    WallTime started = ReadTimeOf(fields, end["startedAt"]);
    if (finished != WallTime{}) started = std::min(started, finished);
    std::string reason = ReadShort(fields, end["reason"], kLongestFailureReason);
    // For a container that it could not start, containerd reports a start in 1970.
    if (started == WallTime{} && reason == "StartError") started = finished;
    ends.push_back({ReadName(fields, status["name"], kLongestLabel), last->run, code,
                    std::move(reason), ReadShort(fields, end["message"], kLongestFailureMessage),
                    started, finished, ReadImageId(fields, status["imageID"])});
  });
}

// Omits containers that are only about to be created.
void ReadWaits(FieldReader& fields, Value statuses, std::vector<ContainerWait>& waits) {
  fields.Array(statuses).ForEachElement([&](Value status) {
    status = fields.Object(status);
    const Value waiting = fields.Object(fields.Object(status["state"])["waiting"]);
    const Value before = fields.Object(fields.Object(status["lastState"])["terminated"]);
    const std::string reason = ReadShort(fields, waiting["reason"], kLongestFailureReason);
    if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return;
    if (!before.absent() || waits.size() >= kMostEnds) return;
    waits.push_back({ReadName(fields, status["name"], kLongestLabel), reason,
                     ReadShort(fields, waiting["message"], kLongestFailureMessage)});
  });
}

void ReadTrueConditions(FieldReader& fields, Value conditions, EndedPod& pod) {
  fields.Array(conditions).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    pod.last_condition =
        std::max(pod.last_condition, ReadTimeOf(fields, condition["lastTransitionTime"]));
    if (fields.Text(condition["status"]) != "True" || pod.conditions.size() >= kMostConditions)
      return;
    const std::string type = ReadShort(fields, condition["type"], kLongestFailureReason);
    pod.conditions.push_back(
        fmt::format("{}/{}", type, ReadShort(fields, condition["reason"], kLongestFailureReason)));
    if (type == "DisruptionTarget")
      pod.condition_message = ReadShort(fields, condition["message"], kLongestFailureMessage);
  });
}

// REQUIRES: the container's author wrote no memory limit.
void ReadChosenMemory(const ManagedContainer& managed, EndedPod& pod) {
  pod.profile = managed.profile.size() <= kLongestObjectName ? managed.profile : "";
  if (managed.memory_limit) {
    pod.limit_chosen = managed.enforcement == Enforcement::kStrict;
    if (pod.limit_chosen) pod.chosen_memory = managed.memory_limit;
  } else if (managed.requested.memory > managed.written.memory_request.value_or(Bytes(0))) {
    pod.chosen_memory = managed.requested.memory;
    pod.fair_memory = managed.fair_share.memory;
  }
}

// Reads only the identity of a pod that is not managed, because most are not.
EndedPod ReadEnded(FieldReader& fields, Value object, const PodRules& rules) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value spec = fields.Object(object["spec"]);
  const Value status = fields.Object(object["status"]);
  const Value labels = fields.Object(metadata["labels"]);
  const Value annotations = fields.Object(metadata["annotations"]);
  EndedPod pod;
  pod.uid = ReadName(fields, metadata["uid"], kLongestUid);
  pod.pod_namespace = ReadName(fields, metadata["namespace"], kLongestLabel);
  pod.name = ReadName(fields, metadata["name"], kLongestObjectName);
  FieldReader lenient(object);
  const Resources requests =
      ReadPodRequests(lenient, spec, status, PodUse::kAccounted, rules.gpu_resource);
  pod.gpus = requests.main.gpus;
  pod.slices = SlicesOf(requests.other, rules.gpu_resource);
  pod.managed = IsManaged(spec, rules.claims);
  if (!pod.managed) return pod;
  pod.node = ReadName(fields, spec["nodeName"], kLongestObjectName);
  pod.owner = ReadController(fields, metadata);
  pod.job_set = FirstLabel(fields, labels, {"jobset.sigs.k8s.io/jobset-name"});
  pod.queue =
      FirstLabel(fields, labels, {"kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/local-queue-name"});
  pod.user = FirstLabel(fields, labels, {kUserLabel});
  pod.rank = FirstLabel(
      fields, labels,
      {"batch.kubernetes.io/job-completion-index", "training.kubeflow.org/replica-index"});
  pod.container = ReadName(fields, annotations[annotations::kContainer], kLongestLabel);
  pod.workload = ReadName(fields, annotations[annotations::kWorkload], kLongestLabel);
  pod.failed = fields.Text(status["phase"]) == "Failed";
  pod.deleting = ReadDeleting(fields, metadata);
  if (const WallTime gone = ReadTimeOf(fields, metadata["deletionTimestamp"]); gone != WallTime{}) {
    const int64_t grace = fields.Integer(metadata["deletionGracePeriodSeconds"], 0, kMostGrace);
    pod.asked_to_end = gone - std::chrono::seconds(grace);
  }
  pod.reason = ReadShort(fields, status["reason"], kLongestFailureReason);
  pod.message = ReadShort(fields, status["message"], kLongestFailureMessage);
  pod.created = ReadTimeOf(fields, metadata["creationTimestamp"]);
  ReadTrueConditions(fields, status["conditions"], pod);
  ReadEnds(fields, status["containerStatuses"], pod.ends);
  ReadEnds(fields, status["initContainerStatuses"], pod.ends);
  ReadWaits(fields, status["containerStatuses"], pod.waits);
  ReadWaits(fields, status["initContainerStatuses"], pod.waits);
  const auto managed =
      ReadManagedContainer(lenient, metadata, spec, status, PodUse::kAccounted, nullptr, "");
  if (managed && !annotations[annotations::kOriginal].absent() && !managed->written.memory_limit)
    ReadChosenMemory(*managed, pod);
  if (managed && managed->change) {
    const ChangeRecord& change = *managed->change;
    if (change.kind != ChangeKind::kAllocated && change.from.cpu != change.to.cpu)
      pod.cpu_changed = change.at;
    if (change.kind != ChangeKind::kAllocated) pod.memory_changed = change.MemoryChanged();
    if (change.from.memory != change.to.memory) pod.memory_before = change.from.memory;
  }
  return pod;
}

// Returns the records as a member of the ConfigMap's data.
std::string DataOf(const FailureHistory& history) {
  Writer out;
  out.BeginObject();
  out.Key("namespace");
  out.Text(history.of_namespace);
  out.Key(kData);
  out.Text(WriteMembers(Records{history.records}));
  out.EndObject();
  return out.Take();
}

FailureHistory ReadHistory(FieldReader& fields, Value object) {
  const Value metadata = fields.Object(object["metadata"]);
  const Value data = fields.Object(object["data"]);
  FailureHistory history;
  history.resource_version = ReadText(fields, metadata["resourceVersion"]);
  history.of_namespace = ReadText(fields, data["namespace"]);
  // Another client may have written to the ConfigMap.
  if (Result<Records> records = ReadMembers<Records>(fields.Text(data[kData]))) {
    history.records = std::move(records->failures);
  }
  if (history.records.size() > kMostFailureRecords) {
    history.records.erase(history.records.begin(),
                          history.records.end() - static_cast<std::ptrdiff_t>(kMostFailureRecords));
  }
  return history;
}

std::string DataOf(const PublishedAvoidedNodes& avoided) {
  return DataWith(kAvoidedData, WriteMembers(AvoidedEntries{avoided.nodes.All()}));
}

PublishedAvoidedNodes ReadAvoided(FieldReader& fields, Value object) {
  PublishedAvoidedNodes avoided;
  avoided.resource_version = ReadText(fields, fields.Object(object["metadata"])["resourceVersion"]);
  auto entries =
      ReadMembers<AvoidedEntries>(fields.Text(fields.Object(object["data"])[kAvoidedData]));
  if (!entries) return avoided;
  for (AvoidedNode& entry : entries->avoided) avoided.nodes.Add(std::move(entry));
  return avoided;
}

}  // namespace

template <>
struct Kind<EndedPod> {
  static constexpr std::string_view kName = "pod";
  static EndedPod Read(FieldReader& fields, Value object, const PodRules& rules) {
    return ReadEnded(fields, object, rules);
  }
};
template struct KindReader<EndedPod>;

template <>
struct Kind<FailureHistory> {
  static constexpr std::string_view kName = "configmap";
  static FailureHistory Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadHistory(fields, object);
  }
};
template struct KindReader<FailureHistory>;

template <>
struct Kind<PublishedAvoidedNodes> {
  static constexpr std::string_view kName = "configmap";
  static PublishedAvoidedNodes Read(FieldReader& fields, Value object, const PodRules&) {
    return ReadAvoided(fields, object);
  }
};
template struct KindReader<PublishedAvoidedNodes>;

Result<EndedPod> ReadEndedPod(std::string_view text, const PodRules& rules) {
  const Result<Document> document = ParseObject(text, kObjectRules);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  return ReadEnded(fields, document->root(), rules);
}

Result<OwnerFacts> ReadOwnerFacts(std::string_view text) {
  const Result<Document> document = ParseObject(text, kObjectRules);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  const Value metadata = fields.Object(document->root()["metadata"]);
  return OwnerFacts{
      ReadText(fields, metadata["uid"]),
      FirstLabel(fields, fields.Object(metadata["labels"]), {"kueue.x-k8s.io/queue-name"}),
      ReadController(fields, metadata), ReadTimeOf(fields, metadata["creationTimestamp"])};
}

std::string FailureHistoryName(std::string_view of_namespace) {
  return fmt::format("synergy-failures-{}", of_namespace);
}

std::string WriteNewFailureHistory(const FailureHistory& history) {
  return NewConfigMap(FailureHistoryName(history.of_namespace), DataOf(history), kFailuresLabel);
}

std::string WriteFailureHistoryPatch(const FailureHistory& history) {
  return DataPatch(history.resource_version, DataOf(history));
}

std::string WriteFailureHistoryDeletion(const FailureHistory& history) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{{"resourceVersion":{}}}}})",
      Quoted(history.resource_version));
}

Result<FailureHistory> ReadFailureHistory(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  return ReadHistory(fields, document->root());
}

std::string WriteNewAvoidedNodes(const PublishedAvoidedNodes& avoided) {
  return NewConfigMap(kAvoidedNodesName, DataOf(avoided));
}

std::string WriteAvoidedNodesPatch(const PublishedAvoidedNodes& avoided) {
  return DataPatch(avoided.resource_version, DataOf(avoided));
}

Result<PublishedAvoidedNodes> ReadAvoidedNodes(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  FieldReader fields(document->root());
  return ReadAvoided(fields, document->root());
}

}  // namespace synergy::wire
