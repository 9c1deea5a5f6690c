#include "wire/kueue/kueue.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "admission/workload.h"
#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "wire/base/json_words.h"
#include "wire/base/member_text.h"
#include "wire/base/metadata.h"
#include "wire/base/resource_list.h"
#include "wire/kueue/kueue_members.h"
#include "wire/kueue/kueue_readers.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"
#include "wire/objects/product_affinity.h"

namespace synergy::wire {

namespace {

// Kinds with spec.suspend or a similar field, by which Kueue stops a job's pods and starts them
// again. Kueue deletes plain pods and groups of pods instead.
constexpr std::array<std::string_view, 12> kSuspended = {
    "AppWrapper", "JAXJob",           "Job",   "JobSet",   "MPIJob",    "PaddleJob", "PyTorchJob",
    "RayJob",     "SparkApplication", "TFJob", "TrainJob", "XGBoostJob"};

constexpr int64_t kMostPods = std::numeric_limits<int32_t>::max();
constexpr int64_t kMostLimit = std::numeric_limits<int32_t>::max();
// How long the pods of a workload may take to end once Kueue has stopped the workload: the default
// grace period, and time to notice the stop.
constexpr Duration kTimeToEnd = std::chrono::minutes(1);
// The message about a workload that Kueue admits once the pods of others are ready
// (waitForPodsReady.blockAdmission).
constexpr std::string_view kBlocked = "waiting for all admitted workloads";
// Longer than any note that Synergy writes.
constexpr size_t kLongestNote = 4096;

int64_t GpusOfContainer(FieldReader& fields, Value container, std::string_view gpu_resource) {
  const Value resources = fields.Object(fields.Object(container)["resources"]);
  const auto of = [&](const char* key) {
    return ResourceList::Read(fields, resources[key]).Units(gpu_resource, kLargestRequest);
  };
  // A missing request defaults to the limit.
  const Value requested = fields.Object(resources["requests"])[gpu_resource];
  return requested.absent() ? of("limits") : of("requests");
}

int64_t GpusOfPod(FieldReader& fields, Value spec, std::string_view gpu_resource) {
  int64_t sum = 0;
  int64_t first = 0;
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    sum += GpusOfContainer(fields, container, gpu_resource);
  });
  fields.Array(spec["initContainers"]).ForEachElement([&](Value container) {
    first = std::max(first, GpusOfContainer(fields, container, gpu_resource));
  });
  return std::max(sum, first);
}

int64_t ReadGeneration(FieldReader& fields, Value value) {
  return fields.Integer(value, 0, std::numeric_limits<int64_t>::max());
}

WallTime ReadTime(FieldReader& fields, Value value) {
  if (value.absent()) return {};
  const auto time = ParseTime(fields.Text(value));
  if (!time) fields.Report(value, "is not a time");
  return time.value_or(WallTime());
}

// `generation`: of the object.
void ReadConditions(FieldReader& fields, Value status, int64_t generation, Workload& workload) {
  fields.Array(status["conditions"]).ForEachElement([&](Value condition) {
    condition = fields.Object(condition);
    const std::string_view type = fields.Text(condition["type"]);
    const bool is_so = fields.Text(condition["status"]) == "True";
    if (type == "QuotaReserved") {
      workload.has_quota = is_so;
      workload.quota_since = ReadTime(fields, condition["lastTransitionTime"]);
      const Value tried = condition["observedGeneration"];
      workload.inadmissible = !is_so && !tried.absent() &&
                              ReadGeneration(fields, tried) == generation &&
                              !fields.Text(condition["message"]).starts_with(kBlocked);
    } else if (type == "Evicted") {
      workload.evicted = is_so;
    } else if (type == "Finished") {
      workload.finished = is_so;
    }
  });
}

// Reads counts, by the name of the pod set.
std::map<std::string_view, int64_t> ReadCounts(FieldReader& fields, Value list) {
  std::map<std::string_view, int64_t> counts;
  fields.Array(list).ForEachElement([&](Value entry) {
    entry = fields.Object(entry);
    if (const Value count = entry["count"]; !count.absent())
      counts[fields.Text(entry["name"])] = fields.Integer(count, 0, kMostPods);
  });
  return counts;
}

// Restricts the workload to the products that this template also allows.
void Allow(std::vector<std::string> products, Workload& workload) {
  if (!workload.products) {
    workload.products = std::move(products);
    return;
  }
  std::erase_if(*workload.products, [&](const std::string& known) {
    return std::find(products.begin(), products.end(), known) == products.end();
  });
}

// Reads the pods' conditions on nodes. Ignores taints, because Kueue adds the tolerations of
// flavors.
void ReadWhere(FieldReader& fields, Value labels, Value spec, Workload& workload) {
  const std::string_view product = fields.Text(fields.Object(labels)[annotations::kGpuProduct]);
  if (!product.empty()) Allow({std::string(product)}, workload);
  NodeSelection selection = ReadNodeSelection(fields, spec);
  selection.tolerations.clear();
  if (selection != NodeSelection()) workload.selections.push_back(std::move(selection));
}

// Returns the workload of the container with GPUs, as admission derives it from the pod
// (admission/workload.h).
std::string ReadAlike(FieldReader& fields, Value metadata, Value spec,
                      std::string_view gpu_resource) {
  const std::string_view label =
      fields.Text(fields.Object(metadata["labels"])[annotations::kWorkload]);
  if (!label.empty()) return std::string(label);
  PodToAdmit pod;
  fields.Array(spec["containers"]).ForEachElement([&](Value container) {
    if (GpusOfContainer(fields, container, gpu_resource) <= 0 || !pod.gpu_containers.empty())
      return;
    GpuContainer& read = pod.gpu_containers.emplace_back();
    read.image = ReadText(fields, container["image"]);
    const auto texts = [&](const char* key, std::vector<std::string>& out) {
      fields.Array(container[key]).ForEachElement([&](Value text) {
        out.push_back(ReadText(fields, text));
      });
    };
    texts("command", read.command);
    texts("args", read.args);
  });
  return WorkloadOf(pod);
}

// Reads the needs of a pod set with GPUs: the GPUs that it may have, its workload and its deadline.
void ReadTypeNeeds(FieldReader& fields, std::string_view name, Value metadata, Value spec,
                   int64_t gpus, std::string_view gpu_resource, Workload& workload) {
  if (workload.gpu_sets.empty()) {
    workload.pod_gpus = Gpus(gpus);
    workload.alike = ReadAlike(fields, metadata, spec, gpu_resource);
    workload.profile = ReadText(fields, fields.Object(metadata["labels"])[annotations::kProfile]);
  }
  workload.gpu_sets.emplace_back(name);
  ReadWhere(fields, metadata["labels"], spec, workload);
  // A malformed time counts as none, because nothing here could report it to its author.
  const auto deadline =
      ParseTime(fields.Text(fields.Object(metadata["annotations"])[kDeadlineAnnotation]));
  if (deadline && (!workload.deadline || *deadline < *workload.deadline))
    workload.deadline = *deadline;
}

void ReadChecks(FieldReader& fields, Value status, Workload& workload) {
  fields.Array(status["admissionChecks"]).ForEachElement([&](Value check) {
    check = fields.Object(check);
    CheckState& read = workload.checks.emplace_back();
    read.name = ReadText(fields, check["name"]);
    read.state = ReadText(fields, check["state"]);
    read.message = ReadText(fields, check["message"]);
    read.since = ReadTime(fields, check["lastTransitionTime"]);
    fields.Array(check["podSetUpdates"]).ForEachElement([&](Value update) {
      const std::string_view product =
          fields.Text(fields.Object(fields.Object(update)["nodeSelector"])[kProductLabel]);
      if (!product.empty()) read.product = product;
    });
  });
}

void ReadPodSets(FieldReader& fields, Value spec, Value status, std::string_view gpu_resource,
                 Workload& workload) {
  const auto assigned = ReadCounts(fields, fields.Object(status["admission"])["podSetAssignments"]);
  const auto reclaimed = ReadCounts(fields, status["reclaimablePods"]);
  bool all_checkpoint = true;
  std::vector<std::string> to_ask;
  fields.Array(spec["podSets"]).ForEachElement([&](Value set) {
    set = fields.Object(set);
    const Value pod = fields.Object(set["template"]);
    const int64_t gpus = GpusOfPod(fields, fields.Object(pod["spec"]), gpu_resource);
    if (gpus <= 0) return;
    const std::string_view name = fields.Text(set["name"]);
    int64_t count = fields.Integer(set["count"], 0, kMostPods);
    if (const auto given = assigned.find(name); given != assigned.end()) count = given->second;
    if (const auto back = reclaimed.find(name); back != reclaimed.end())
      count = std::max<int64_t>(count - back->second, 0);
    workload.pods += count;
    // Limit the number to more GPUs than any cluster has, so that the product cannot overflow.
    const Gpus of_set = Gpus(std::min(gpus, kMostPods)) * count;
    workload.gpus = std::min(workload.gpus + std::min(of_set, Gpus(kMostPods)), Gpus(kMostPods));
    const Value metadata = fields.Object(pod["metadata"]);
    ReadTypeNeeds(fields, name, metadata, fields.Object(pod["spec"]), gpus, gpu_resource, workload);
    const Value checkpoint = fields.Object(metadata["annotations"])[kCheckpointAnnotation];
    const std::string_view profile =
        fields.Text(fields.Object(metadata["labels"])[annotations::kProfile]);
    if (checkpoint.absent() && !profile.empty()) {
      to_ask.emplace_back(profile);
    } else {
      all_checkpoint &= fields.Text(checkpoint) == "true";
    }
  });
  workload.may_lose_turn &= all_checkpoint;
  if (!workload.may_lose_turn || to_ask.empty()) return;
  workload.may_lose_turn = false;
  workload.profiles_to_ask = std::move(to_ask);
}

// Reads the longest time for which the workload can run once it has quota again. A workload that
// was evicted has used up part of its limit. Deadlines of pods are ignored, because the job may
// replace the pods.
std::optional<Duration> ReadLongest(FieldReader& fields, Value spec, Value status) {
  const Value limit = spec["maximumExecutionTimeSeconds"];
  if (limit.absent()) return std::nullopt;
  const Value past = status["accumulatedPastExecutionTimeSeconds"];
  const int64_t left = fields.Integer(limit, 0, kMostLimit) -
                       (past.absent() ? 0 : fields.Integer(past, 0, kMostLimit));
  return std::chrono::seconds(std::max<int64_t>(left, 0)) + kTimeToEnd;
}

Gpus ReadGpus(FieldReader& fields, Value value) {
  return Gpus(std::clamp<int64_t>(fields.Amount(value).ToUnits(), 0, kMostPods));
}

// Calls `each` with the flavor and the object of each quota of GPUs in spec.resourceGroups.
void ForEachQuota(FieldReader& fields, Value spec, std::string_view gpu_resource, auto each) {
  fields.Array(spec["resourceGroups"]).ForEachElement([&](Value group) {
    fields.Array(fields.Object(group)["flavors"]).ForEachElement([&](Value flavor) {
      fields.Array(fields.Object(flavor)["resources"]).ForEachElement([&](Value resource) {
        if (fields.Text(fields.Object(resource)["name"]) == gpu_resource)
          each(ReadText(fields, flavor["name"]), resource);
      });
    });
  });
}

void AppendHead(std::string& out, const Workload& workload) {
  out += R"({"metadata":{"uid":)";
  AppendJsonString(out, workload.uid);
  out += R"(,"resourceVersion":)";
  AppendJsonString(out, workload.resource_version);
  out += R"(,"annotations":{")";
  out += kRoundsAnnotation;
  out += R"(":)";
}

}  // namespace

WorkloadOwner ReadOwner(FieldReader& fields, Value metadata) {
  WorkloadOwner read;
  fields.Array(metadata["ownerReferences"]).ForEachElement([&](Value owner) {
    owner = fields.Object(owner);
    if (!fields.Truth(owner["controller"])) return;
    read.api_version = ReadText(fields, owner["apiVersion"]);
    read.kind = ReadText(fields, owner["kind"]);
    read.name = ReadText(fields, owner["name"]);
    read.uid = ReadText(fields, owner["uid"]);
  });
  return read;
}

template <>
struct Kind<Workload> {
  static constexpr std::string_view kName = "workload";
  static Workload Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    Workload workload;
    workload.uid = ReadText(fields, metadata["uid"]);
    workload.workload_namespace = ReadText(fields, metadata["namespace"]);
    workload.name = ReadText(fields, metadata["name"]);
    workload.resource_version = ReadText(fields, metadata["resourceVersion"]);
    workload.created = ReadTime(fields, metadata["creationTimestamp"]);
    workload.local_queue = ReadText(fields, spec["queueName"]);
    workload.priority = fields.Integer(spec["priority"], std::numeric_limits<int32_t>::min(),
                                       std::numeric_limits<int32_t>::max());
    workload.active = spec["active"].absent() || fields.Truth(spec["active"]);
    workload.owner = ReadOwner(fields, metadata);
    workload.may_lose_turn =
        std::find(kSuspended.begin(), kSuspended.end(), workload.owner.kind) != kSuspended.end();
    const Value generation = metadata["generation"];
    ReadConditions(fields, status, generation.absent() ? 0 : ReadGeneration(fields, generation),
                   workload);
    workload.requeue_at = ReadTime(fields, fields.Object(status["requeueState"])["requeueAt"]);
    ReadChecks(fields, status, workload);
    ReadPodSets(fields, spec, status, rules.gpu_resource, workload);
    workload.longest = ReadLongest(fields, spec, status);
    const Value annotations = fields.Object(metadata["annotations"]);
    workload.replaces = ReadText(fields, annotations[kReplacesAnnotation]);
    workload.slice = ReadText(fields, annotations[kSliceAnnotation]);
    const std::string_view text = fields.Text(annotations[kRoundsAnnotation]);
    if (!text.empty() && text.size() <= kLongestNote) {
      if (auto note = ReadMembers<RoundNote>(text)) workload.note = *std::move(note);
    }
    return workload;
  }
};

template struct KindReader<Workload>;

template <>
struct Kind<ClusterQueue> {
  static constexpr std::string_view kName = "cluster queue";
  static ClusterQueue Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value spec = fields.Object(object["spec"]);
    ClusterQueue queue;
    queue.name = ReadText(fields, fields.Object(object["metadata"])["name"]);
    queue.cohort = ReadText(fields, spec["cohortName"]);
    queue.preemption = ReadText(fields, fields.Object(spec["preemption"])["withinClusterQueue"]);
    queue.by_usage = !spec["admissionScope"].absent();
    ForEachQuota(fields, spec, rules.gpu_resource, [&](std::string flavor, Value resource) {
      queue.flavors.push_back(std::move(flavor));
      queue.quota += ReadGpus(fields, resource["nominalQuota"]);
      // Limits count only for a queue with one flavor, because others are not ordered.
      const auto limit = [&](const char* name) {
        const Value value = resource[name];
        return value.absent() ? std::nullopt : std::optional(ReadGpus(fields, value));
      };
      queue.borrowing = limit("borrowingLimit");
      queue.lending = limit("lendingLimit");
    });
    const Value checks = fields.Object(spec["admissionChecksStrategy"]);
    fields.Array(checks["admissionChecks"]).ForEachElement([&](Value check) {
      queue.checks.push_back(ReadText(fields, fields.Object(check)["name"]));
    });
    return queue;
  }
};

template struct KindReader<ClusterQueue>;

template <>
struct Kind<LocalQueue> {
  static constexpr std::string_view kName = "local queue";
  static LocalQueue Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const std::string_view stop = fields.Text(spec["stopPolicy"]);
    return {.queue_namespace = ReadText(fields, metadata["namespace"]),
            .name = ReadText(fields, metadata["name"]),
            .cluster_queue = ReadText(fields, spec["clusterQueue"]),
            .stopped = !stop.empty() && stop != "None"};
  }
};

template struct KindReader<LocalQueue>;

template <>
struct Kind<ResourceFlavor> {
  static constexpr std::string_view kName = "resource flavor";
  static ResourceFlavor Read(FieldReader& fields, Value object, const PodRules&) {
    const Value spec = fields.Object(object["spec"]);
    return {.name = ReadText(fields, fields.Object(object["metadata"])["name"]),
            .topology = ReadText(fields, spec["topologyName"]),
            .product = ReadText(fields, fields.Object(spec["nodeLabels"])[kProductLabel])};
  }
};

template struct KindReader<ResourceFlavor>;

template <>
struct Kind<AdmissionCheck> {
  static constexpr std::string_view kName = "admission check";
  static AdmissionCheck Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    AdmissionCheck check{
        .name = ReadText(fields, metadata["name"]),
        .uid = ReadText(fields, metadata["uid"]),
        .controller = ReadText(fields, fields.Object(object["spec"])["controllerName"])};
    const Value conditions = fields.Object(object["status"])["conditions"];
    fields.Array(conditions).ForEachElement([&](Value condition) {
      condition = fields.Object(condition);
      if (fields.Text(condition["type"]) == "Active")
        check.active = fields.Text(condition["status"]) == "True";
    });
    return check;
  }
};

template struct KindReader<AdmissionCheck>;

template <>
struct Kind<Cohort> {
  static constexpr std::string_view kName = "cohort";
  static Cohort Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value spec = fields.Object(object["spec"]);
    Cohort cohort{.name = ReadText(fields, fields.Object(object["metadata"])["name"]),
                  .parent = ReadText(fields, spec["parentName"])};
    ForEachQuota(fields, spec, rules.gpu_resource, [&](const std::string& flavor, Value resource) {
      cohort.quotas[flavor] += ReadGpus(fields, resource["nominalQuota"]);
    });
    return cohort;
  }
};

template struct KindReader<Cohort>;

template <>
struct Kind<QueuedPod> {
  static constexpr std::string_view kName = "pod";
  static QueuedPod Read(FieldReader& fields, Value object, const PodRules& rules) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value status = fields.Object(object["status"]);
    QueuedPod pod;
    pod.uid = ReadText(fields, metadata["uid"]);
    pod.pod_namespace = ReadText(fields, metadata["namespace"]);
    pod.name = ReadText(fields, metadata["name"]);
    const Value annotations = fields.Object(metadata["annotations"]);
    const Value slice = annotations[kSliceAnnotation];
    pod.workload = ReadText(fields, slice.absent() ? annotations[kWorkloadAnnotation] : slice);
    pod.gpus = Gpus(GpusOfPod(fields, spec, rules.gpu_resource));
    pod.has_gpus = pod.gpus > Gpus(0);
    pod.node = ReadText(fields, spec["nodeName"]);
    pod.has_node = !pod.node.empty();
    pod.running = fields.Text(status["phase"]) == "Running" && !ReadDeleting(fields, metadata);
    pod.since = ReadTime(fields, status["startTime"]);
    fields.Array(status["containerStatuses"]).ForEachElement([&](Value container) {
      const Value state = fields.Object(fields.Object(container)["state"]);
      const Value began = fields.Object(state["running"])["startedAt"];
      pod.since = std::max(pod.since, ReadTime(fields, began));
    });
    return pod;
  }
};

template struct KindReader<QueuedPod>;

std::string WritePriority(const Workload& workload, int64_t priority,
                          const std::optional<RoundNote>& note) {
  std::string out;
  AppendHead(out, workload);
  if (note) {
    AppendJsonString(out, WriteMembers(*note));
  } else {
    out += "null";
  }
  return out + fmt::format(R"(}}}},"spec":{{"priority":{}}}}})", priority);
}

std::string WriteNote(const Workload& workload, const RoundNote& note) {
  std::string out;
  AppendHead(out, workload);
  AppendJsonString(out, WriteMembers(note));
  return out + "}}}";
}

}  // namespace synergy::wire
