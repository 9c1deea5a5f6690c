#include "wire/kueue/gang_owner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "cluster/gang_name.h"
#include "cluster/labels.h"
#include "wire/base/json_words.h"
#include "wire/kueue/kueue_readers.h"

namespace synergy::wire {
namespace {

constexpr std::string_view kPodGroupLabel = "scheduling.x-k8s.io/pod-group";
constexpr std::string_view kKueueGroupLabel = "kueue.x-k8s.io/pod-group-name";
constexpr std::string_view kJobSetLabel = "jobset.sigs.k8s.io/jobset-name";
constexpr std::string_view kReplicasLabel = "jobset.sigs.k8s.io/replicatedjob-replicas";
constexpr std::string_view kIndexLabel = "batch.kubernetes.io/job-completion-index";
// Labels with the role of a pod: Kubeflow's training operator writes the first, the MPI operator
// the second.
constexpr std::string_view kReplicaTypeLabel = "training.kubeflow.org/replica-type";
constexpr std::string_view kJobRoleLabel = "training.kubeflow.org/job-role";
constexpr std::string_view kReplicaIndexLabel = "training.kubeflow.org/replica-index";
constexpr std::string_view kTrainingJobLabel = "training.kubeflow.org/job-name";
constexpr std::string_view kOperatorLabel = "training.kubeflow.org/operator-name";
constexpr std::string_view kMpiOperator = "mpi-operator";
constexpr std::string_view kLauncher = "launcher";
constexpr std::string_view kRayGroupLabel = "ray.io/group";
constexpr std::string_view kRayTypeLabel = "ray.io/node-type";
constexpr std::string_view kRayIndexLabel = "ray.io/worker-group-replica-index";
constexpr std::string_view kSetLabel = "leaderworkerset.sigs.k8s.io/name";
constexpr std::string_view kSetGroupLabel = "leaderworkerset.sigs.k8s.io/group-index";

struct KnownOwner {
  std::string_view api_version;
  std::string_view kind;
  std::string_view plural;
  GangOwnerKind means;
};
constexpr std::array<KnownOwner, 5> kKnownOwners = {
    {{"batch/v1", "Job", "jobs", GangOwnerKind::kJob},
     {"kubeflow.org/v1", "PyTorchJob", "pytorchjobs", GangOwnerKind::kPyTorchJob},
     {"kubeflow.org/v1", "MPIJob", "mpijobs", GangOwnerKind::kMpiJob},
     {"kubeflow.org/v2beta1", "MPIJob", "mpijobs", GangOwnerKind::kMpiJob},
     {"ray.io/v1", "RayCluster", "rayclusters", GangOwnerKind::kRayCluster}}};

bool IsKubeflows(GangOwnerKind kind) {
  return kind == GangOwnerKind::kPyTorchJob || kind == GangOwnerKind::kMpiJob;
}

// A pod's creator chooses its owner and labels. So an invalid name must not lead to another path.
bool IsName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 253 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

std::optional<int64_t> CountIn(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

// Reads a number, but not a string of digits.
std::optional<int64_t> CountOf(Value value) {
  if (value.IsString()) return std::nullopt;
  return CountIn(value.text());
}

bool IsPositive(Value value) { return CountOf(value).value_or(0) > 0; }

// Returns 1 for a size that makes no gang, or a gang that is too large to place.
int32_t Within(int64_t size) {
  return size > 1 && size <= kMostGangMembers ? static_cast<int32_t>(size) : 1;
}

// Returns the number of pods of a Job that train together; 0 if they train separately. `is_named`:
// the pods name their gang.
int64_t TogetherByJob(Value spec, bool is_named) {
  const auto completions = CountOf(spec["completions"]);
  const auto parallelism = CountOf(spec["parallelism"]);
  const bool find_each_other = spec["completionMode"].text() == "Indexed" &&
                               !spec["template"]["spec"]["subdomain"].text().empty();
  const bool together = completions && completions == parallelism && (find_each_other || is_named);
  return together && *parallelism >= 1 && *parallelism <= kMostGangMembers ? *parallelism : 0;
}

GangSize SizeByJob(Value job, const GangOwner& owner) {
  const int64_t together = TogetherByJob(job["spec"], owner.is_named);
  return {.size = together > 0 ? Within(together * owner.replicas) : 1,
          .begun = IsPositive(job["status"]["active"])};
}

// Returns whether the claims that are made for a pod give the container GPUs, by the rules of
// admission/pod_to_admit.h.
bool ClaimsGpus(Value pod_spec, Value container, const GpusInTemplates& gpus) {
  if (!gpus.of_claim) return false;
  std::optional<Gpus> sum = Gpus(0);
  pod_spec["resourceClaims"].ForEachElement([&](Value claim) {
    const std::string_view from = claim["resourceClaimTemplateName"].text();
    bool uses = false;
    container["resources"]["claims"].ForEachElement(
        [&](Value used) { uses |= used["name"].text() == claim["name"].text(); });
    if (from.empty() || !uses) return;
    const std::optional<Gpus> more = gpus.of_claim(from);
    sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
  });
  return sum && *sum > Gpus(0);
}

bool AsksForGpus(Value pod_template, const GpusInTemplates& gpus) {
  const Value spec = pod_template["spec"];
  bool asks = false;
  spec["containers"].ForEachElement([&](Value container) {
    for (const char* list : {"requests", "limits"}) {
      const Value amount = container["resources"][list][gpus.resource];
      asks |= !amount.text().empty() && amount.text() != "0";
    }
    asks = asks || ClaimsGpus(spec, container, gpus);
  });
  return asks;
}

// Summarises the parts of the template that determine whether the extender places its pods.
std::string SchedulerKey(Value pod_template) {
  std::string scheduler(pod_template["spec"]["schedulerName"].text());
  bool asks = false;
  pod_template["metadata"]["labels"].ForEachMember([&](std::string_view key, Value value) {
    asks |= key.starts_with(annotations::kPrefix);
    if (key == annotations::kFungible) scheduler += fmt::format(" {}", value.text());
  });
  return scheduler + (asks ? " asks" : "");
}

// `also`: the type of replicas that train together with the workers; empty: none.
GangSize SizeByReplicas(Value specs, Value statuses, const GpusInTemplates& gpus,
                        std::string_view also) {
  GangSize gang;
  int64_t size = 0;
  std::optional<std::string> scheduler;
  for (const std::string_view type : {also, std::string_view("Worker")}) {
    const Value spec = specs[type];
    if (!spec.IsObject()) continue;
    const Value pod_template = spec["template"];
    if (!AsksForGpus(pod_template, gpus)) continue;
    // Another scheduler places the other pods, so no scheduler would count the whole gang.
    if (scheduler && *scheduler != SchedulerKey(pod_template)) return {};
    scheduler = SchedulerKey(pod_template);
    const auto replicas = spec["replicas"].absent() ? 1 : CountOf(spec["replicas"]);
    if (!replicas || *replicas < 0 || *replicas > kMostGangMembers) return {};
    size += *replicas;
    gang.begun |= IsPositive(statuses[type]["active"]);
  }
  gang.size = Within(size);
  return gang;
}

// torchrun starts with the workers of the lowest indices; the others may join later.
GangSize SizeByElasticJob(Value spec, Value statuses, const GpusInTemplates& gpus) {
  const Value replicas = spec["pytorchReplicaSpecs"];
  GangSize all = SizeByReplicas(replicas, statuses, gpus, "");
  const int64_t least = CountOf(spec["elasticPolicy"]["minReplicas"]).value_or(1);
  if (all.size == 1 || !replicas["Master"].absent() || least < 1) return {};
  if (least < all.size) all = {.size = Within(least), .begun = all.begun, .below = least};
  return all;
}

// In v2beta1 the launcher also trains if it requests GPUs. A launcher that is created only once the
// workers are ready is not a member, because the workers cannot wait for it.
GangSize SizeByMpiJob(Value job, std::string_view of, const GpusInTemplates& gpus) {
  const Value spec = job["spec"];
  const bool with_launcher = job["apiVersion"].text() == "kubeflow.org/v2beta1" &&
                             spec["launcherCreationPolicy"].text() != "WaitForWorkersReady";
  if (of == kLauncher && !with_launcher) return {};
  return SizeByReplicas(spec["mpiReplicaSpecs"], job["status"]["replicaStatuses"], gpus,
                        with_launcher ? "Launcher" : "");
}

GangSize SizeByRayCluster(Value spec, Value status, const GangOwner& owner) {
  GangSize gang{.begun = IsPositive(status["availableWorkerReplicas"])};
  spec["workerGroupSpecs"].ForEachElement([&](Value each) {
    if (each["groupName"].text() != owner.group) return;
    const auto count = [&each](std::string_view name, int64_t otherwise) {
      return each[name].absent() ? otherwise : CountOf(each[name]).value_or(-1);
    };
    const int64_t least = count("minReplicas", 0);
    const int64_t most = count("maxReplicas", kMostGangMembers + int64_t{1});
    const int64_t hosts = count("numOfHosts", 1);
    int64_t replicas = count("replicas", least);
    if (least < 0 || most < least || replicas < 0 || hosts < 1 || hosts > kMostGangMembers) return;
    replicas = std::clamp(replicas, least, most);
    const bool has_more = spec["enableInTreeAutoscaling"].truth() && least < replicas;
    if (has_more) replicas = least;
    // A worker that is added while this size is still in use has a higher index.
    if (has_more || owner.index) gang.below = replicas;
    if (replicas <= kMostGangMembers) gang.size = Within(replicas * hosts);
  });
  return gang;
}

GangSize SizeByLeaderWorkerSet(Value spec, const GpusInTemplates& gpus) {
  if (spec["startupPolicy"].text() == "LeaderReady") return {};
  const Value group = spec["leaderWorkerTemplate"];
  const auto size = group["size"].absent() ? 1 : CountOf(group["size"]);
  if (!size || *size < 1 || *size > kMostGangMembers) return {};
  const Value workers = group["workerTemplate"];
  const Value leader = group["leaderTemplate"].IsObject() ? group["leaderTemplate"] : workers;
  const bool both = AsksForGpus(leader, gpus) && AsksForGpus(workers, gpus);
  if (both && SchedulerKey(leader) != SchedulerKey(workers)) return {};
  return {.size = Within((AsksForGpus(leader, gpus) ? 1 : 0) +
                         (AsksForGpus(workers, gpus) ? *size - 1 : 0))};
}

bool IsOfJob(const PodToAdmit& pod) {
  return pod.owner.api_version == "batch/v1" && pod.owner.kind == "Job" &&
         !FindLabel(pod.labels, kJobSetLabel) && !FindLabel(pod.labels, kTrainingJobLabel) &&
         !FindLabel(pod.labels, kPodGroupLabel);
}

// Returns whether the pod itself, or Kueue, names the pod's gang. If the gang has only a name, the
// Job determines its size.
bool NamesItsGang(const PodToAdmit& pod) {
  if (FindLabel(pod.labels, annotations::kGangSize) || FindLabel(pod.labels, kKueueGroupLabel))
    return true;
  return FindLabel(pod.labels, annotations::kGang).has_value() && !IsOfJob(pod);
}

std::optional<int64_t> IndexOf(const PodToAdmit& pod, std::string_view label) {
  return CountIn(FindLabel(pod.labels, label).value_or(""));
}

// Finds owners that are named by labels. They are the MPIJob of a launcher with GPUs, whose direct
// owner is a Job, and the LeaderWorkerSet of a pod whose direct owner is a StatefulSet.
std::optional<GangOwner> FindNamedByLabel(const PodToAdmit& pod, GangOwner owner) {
  const auto label = [&](std::string_view key) {
    return FindLabel(pod.labels, key).value_or(std::string_view());
  };
  const std::string_view job = label(kTrainingJobLabel);
  if (label(kOperatorLabel) == kMpiOperator && label(kJobRoleLabel) == kLauncher && IsName(job)) {
    owner.kind = GangOwnerKind::kMpiJob;
    owner.group = kLauncher;
    owner.path =
        fmt::format("/apis/kubeflow.org/v2beta1/namespaces/{}/mpijobs/{}", pod.pod_namespace, job);
    owner.described = fmt::format("MPIJob {}/{}", pod.pod_namespace, job);
    return owner;
  }
  const std::string_view set = label(kSetLabel);
  if (IsName(set) && IndexOf(pod, kSetGroupLabel)) {
    owner.kind = GangOwnerKind::kLeaderWorkerSet;
    owner.path = fmt::format("/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets/{}",
                             pod.pod_namespace, set);
    owner.described = fmt::format("LeaderWorkerSet {}/{}", pod.pod_namespace, set);
    return owner;
  }
  return std::nullopt;
}

// A label's value has at most 63 characters, but an object's name may have more. A longer name is
// truncated and gets a hash (FNV-1a) that distinguishes it from others.
std::string LabelOf(std::string_view name) {
  constexpr size_t kMost = 63;
  if (name.size() <= kMost) return std::string(name);
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}-{:016x}", name.substr(0, kMost - 17), hash);
}

GangSize SizeBySchedulingGroup(Value spec) {
  const Value gang = spec["schedulingPolicy"]["gang"];
  if (!gang.IsObject()) return {.size = 0};
  GangSize size{.size = Within(CountOf(gang["minCount"]).value_or(1))};
  spec["schedulingConstraints"]["topology"].ForEachElement([&](Value constraint) {
    const std::string_view key = constraint["key"].text();
    if (!key.empty()) size.within = key == "kubernetes.io/hostname" ? "node" : "rack";
  });
  return size;
}

// If a replicated job depends on other replicated jobs, or follows them in order, JobSet creates
// its pods only once the others are ready or done.
GangSize SizeByStages(Value spec, std::string_view gang) {
  const bool in_order = spec["startupPolicy"]["startupPolicyOrder"].text() == "InOrder";
  std::set<std::string, std::less<>>
      waited_for;  // replicated jobs of the gang, and those that wait for them
  bool staged = false;
  spec["replicatedJobs"].ForEachElement([&](Value job) {
    const Value pod_labels = job["template"]["spec"]["template"]["metadata"]["labels"];
    const bool is_of_gang = pod_labels[annotations::kGang].text() == gang;
    bool waits = in_order && !waited_for.empty();
    job["dependsOn"].ForEachElement(
        [&](Value other) { waits |= waited_for.contains(other["name"].text()); });
    staged |= waits && is_of_gang;
    if (waits || is_of_gang) waited_for.emplace(job["name"].text());
  });
  return {.size = staged ? 1 : 0};
}

}  // namespace

bool HasIndependentCompletions(Value job) {
  const Value spec = job["spec"];
  const int64_t parallelism = CountOf(spec["parallelism"]).value_or(1);
  // Without completions, each pod takes work from a queue.
  const int64_t pods = CountOf(spec["completions"]).value_or(parallelism);
  if (pods <= 1) return false;
  const bool is_named = !spec["template"]["metadata"]["labels"][annotations::kGang].text().empty();
  return TogetherByJob(spec, is_named) == 0 || !spec["backoffLimitPerIndex"].absent();
}

std::optional<GangOwner> FindJobSet(const PodToAdmit& pod) {
  const auto gang = FindLabel(pod.labels, annotations::kGang);
  const auto set = FindLabel(pod.labels, kJobSetLabel);
  if (!gang || gang->empty() || !set || !IsName(*set) || !IsName(pod.pod_namespace))
    return std::nullopt;
  GangOwner owner{.kind = GangOwnerKind::kJobSet, .label = std::string(*gang)};
  owner.gang = fmt::format("{}/{}", pod.pod_namespace, *gang);
  owner.path = fmt::format("/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets/{}",
                           pod.pod_namespace, *set);
  owner.described = fmt::format("JobSet {}/{}", pod.pod_namespace, *set);
  return owner;
}

std::optional<GangOwner> FindSchedulingGroup(const PodToAdmit& pod) {
  const std::string& group = pod.scheduling_group;
  if (!IsName(group) || !IsName(pod.pod_namespace) || NamesItsGang(pod) ||
      FindLabel(pod.labels, annotations::kGang)) {
    return std::nullopt;
  }
  GangOwner owner{.kind = GangOwnerKind::kSchedulingGroup, .label = LabelOf(group)};
  owner.gang = fmt::format("{}/{}", pod.pod_namespace, owner.label);
  owner.path = fmt::format("/apis/scheduling.k8s.io/v1beta1/namespaces/{}/podgroups/{}",
                           pod.pod_namespace, group);
  owner.described = fmt::format("PodGroup {}/{}", pod.pod_namespace, group);
  return owner;
}

std::optional<GangOwner> FindGangOwner(const PodToAdmit& pod) {
  const auto label = [&](std::string_view key) {
    return FindLabel(pod.labels, key).value_or(std::string_view());
  };
  if (NamesItsGang(pod)) return std::nullopt;
  GangOwner owner{.gang = GangNameOf(pod.pod_namespace, label)};
  if (owner.gang.empty() || !IsName(pod.pod_namespace)) return std::nullopt;

  const auto known =
      std::find_if(kKnownOwners.begin(), kKnownOwners.end(), [&](const KnownOwner& each) {
        return each.api_version == pod.owner.api_version && each.kind == pod.owner.kind;
      });
  const std::string_view group = label(kPodGroupLabel);
  const bool is_kubeflows = known != kKnownOwners.end() && IsKubeflows(known->means);
  if (!group.empty() && !is_kubeflows) {
    // A group of several replicated jobs may start in stages, which the PodGroup does not show.
    if (!IsName(group) || !label(kJobSetLabel).empty()) return std::nullopt;
    owner.kind = GangOwnerKind::kPodGroup;
    owner.path = fmt::format("/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{}/podgroups/{}",
                             pod.pod_namespace, group);
    owner.described = fmt::format("PodGroup {}/{}", pod.pod_namespace, group);
    return owner;
  }
  if (auto named = FindNamedByLabel(pod, owner)) return named;
  if (known == kKnownOwners.end() || !IsName(pod.owner.name)) return std::nullopt;
  owner.is_named = !label(annotations::kGang).empty();
  // This condition excludes nearly all Jobs, which therefore need no request.
  const bool may_be_one = (pod.has_subdomain && !label(kIndexLabel).empty()) || owner.is_named;
  if (known->means == GangOwnerKind::kJob && !may_be_one) return std::nullopt;
  if (is_kubeflows) {
    const std::string_view type =
        label(kReplicaTypeLabel).empty() ? label(kJobRoleLabel) : label(kReplicaTypeLabel);
    const bool is_master = known->means == GangOwnerKind::kPyTorchJob && type == "master";
    if (type != "worker" && !is_master) return std::nullopt;
    owner.index = IndexOf(pod, kReplicaIndexLabel);
  } else if (known->means == GangOwnerKind::kRayCluster) {
    if (label(kRayTypeLabel) != "worker" || label(kRayGroupLabel).empty()) return std::nullopt;
    owner.group = label(kRayGroupLabel);
    owner.index = IndexOf(pod, kRayIndexLabel);
  } else if (!label(kJobSetLabel).empty()) {
    const auto replicas = CountIn(label(kReplicasLabel));
    if (!replicas || *replicas < 1 || *replicas > kMostGangMembers) return std::nullopt;
    owner.replicas = static_cast<int32_t>(*replicas);
  }
  owner.kind = known->means;
  owner.uid = pod.owner.uid;
  owner.path = fmt::format("/apis/{}/namespaces/{}/{}/{}", known->api_version, pod.pod_namespace,
                           known->plural, pod.owner.name);
  owner.described = fmt::format("{} {}/{}", known->kind, pod.pod_namespace, pod.owner.name);
  return owner;
}

bool IsMember(const GangSize& gang, const GangOwner& owner) {
  return !gang.below || (owner.index && *owner.index >= 0 && *owner.index < *gang.below);
}

Result<GangSize> ReadGangSize(std::string_view text, const GangOwner& owner,
                              const GpusInTemplates& gpus) {
  const Result<Document> document = Document::Parse(text);
  if (!document) return Fail(document.error());
  const Value root = document->root();
  if (!root.IsObject()) return Fail(ErrorCode::kInvalid, "not an object");
  // Another object has the name, because the pod's own owner is gone.
  if (!owner.uid.empty() && root["metadata"]["uid"].text() != owner.uid) return GangSize();
  const Value spec = root["spec"];
  const Value status = root["status"];
  switch (owner.kind) {
    case GangOwnerKind::kJob:
      return SizeByJob(root, owner);
    case GangOwnerKind::kPyTorchJob:
      if (!spec["elasticPolicy"].absent())
        return SizeByElasticJob(spec, status["replicaStatuses"], gpus);
      return SizeByReplicas(spec["pytorchReplicaSpecs"], status["replicaStatuses"], gpus, "Master");
    case GangOwnerKind::kMpiJob:
      return SizeByMpiJob(root, owner.group, gpus);
    case GangOwnerKind::kRayCluster:
      return SizeByRayCluster(spec, status, owner);
    case GangOwnerKind::kLeaderWorkerSet:
      return SizeByLeaderWorkerSet(spec, gpus);
    case GangOwnerKind::kPodGroup:
      return GangSize{.size = Within(CountOf(spec["minMember"]).value_or(1)),
                      .begun = IsPositive(status["running"])};
    case GangOwnerKind::kSchedulingGroup:
      return SizeBySchedulingGroup(spec);
    case GangOwnerKind::kJobSet:
      return SizeByStages(spec, owner.label);
  }
  return GangSize();
}

}  // namespace synergy::wire
