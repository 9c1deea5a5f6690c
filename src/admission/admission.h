#pragma once

// Decides a pod's CPU and memory when the pod is created. The amounts stay as written, or become
// the floor, which is guaranteed to the pod. All programs use these figures later
// (docs/internals/sizing.md).
//
// Threading: pure if the Surroundings are.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/pod_to_admit.h"
#include "cluster/claims.h"
#include "cluster/managed_container.h"
#include "cluster/namespace_limits.h"
#include "cluster/node_selection.h"
#include "core/gpu_amount.h"
#include "core/resources.h"
#include "profile/measured/workload_identities.h"
#include "profile/profile_object.h"

namespace synergy {

struct AdmissionSettings {
  std::string gpu_resource = "nvidia.com/gpu";  // for messages
  std::string scheduler_name = kDefaultSchedulerName;
  Scope scope = Scope::kOptIn;
  // Within the scope, pods of these schedulers move to Synergy's scheduler, as do pods that name
  // it.
  std::vector<std::string> managed_schedulers{"default-scheduler"};
  std::vector<std::string> excluded_namespaces{"kube-system"};
  Enforcement enforcement = Enforcement::kShared;
  double max_speed_up = kDefaultMaxSpeedUp;
  bool profiling = false;  // measure workloads without a profile while they train
  // Whether pods in Kueue's queues get no more than Kueue counted against their quota.
  bool within_counted = false;
  // The amounts that a future node is assumed to have per GPU.
  ResourceVector unplaced_per_gpu{Gpus(0), Cores(3), GiB(10)};
};

// The identities by which measurements of a workload are looked up: the exact one first, then the
// looser ones.
struct WorkloadSought {
  std::string exact;
  LooserIdentities alike;
};

struct MeasuredFound {
  std::shared_ptr<const KnownProfile> profile;   // null: none
  std::optional<LooserIdentity> by_looser = {};  // the profile is a hint
};

// The cluster around the pod.
class AdmissionSurroundings {
 public:
  virtual ~AdmissionSurroundings() = default;
  // Whether nodes, pods, namespaces and profiles have been listed.
  virtual bool Complete() const = 0;
  // Returns the value of the namespace's label; empty if there is none.
  virtual std::string NamespaceLabel(const std::string& name, std::string_view key) const = 0;
  // Returns null if there is none.
  virtual std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                          const std::string& name) const = 0;
  // Returns the measurements of a workload with this number of GPUs of `gpu_product`, in gangs of
  // that size. An empty product means the product that the pod can get. Returns null if there are
  // none, or if the product is not determined yet.
  virtual MeasuredFound FindMeasured(const std::string& profile_namespace,
                                     const WorkloadSought& workload, Gpus gpus, int32_t gang_size,
                                     const std::string& gpu_product,
                                     const NodeSelection& selection) const = 0;
  // Never null.
  virtual std::shared_ptr<const NamespaceLimits> Limits() const = 0;
  // Returns LeastFairShare() of the present cluster, without headroom.
  virtual std::optional<ResourceVector> FairShare(const NodeSelection& selection,
                                                  const GpuAmount& gpus,
                                                  const std::string& gpu_product) const = 0;
};

// Why a pod is as it is after admission.
enum class AdmissionOutcome : uint8_t {
  kManaged,  // set to the floor
  // Left as written:
  kNoGpus,
  kOptedOut,           // label synergy.io/fungible: "false"
  kExcludedNamespace,  // by configuration
  kNotAsked,           // out of scope, and management was not requested
  kInference,          // it serves models, and only its namespace requested management
  kOtherScheduler,
  kHasNode,            // bound by its creator
  kStatic,             // the mirror of a static pod
  kPodLevelResources,  // spec.resources
  kSeveralContainers,  // with GPUs
  kQuotaByQos,         // the namespace's quotas count BestEffort pods separately, and this is one
  kStarting,           // the cluster is not known yet
  kFullAnnotations,    // no room for ours
};
inline constexpr size_t kAdmissionOutcomes =
    static_cast<size_t>(AdmissionOutcome::kFullAnnotations) + 1;

// Returns one of a few fixed words: "managed", "no_gpus", ...
std::string_view ToString(AdmissionOutcome outcome);

// Amounts for the container that has the GPUs.
struct AdmissionFigures {
  size_t container = 0;  // in spec.containers
  std::string container_name;
  ResourceVector demand;
  ResourceVector fair_share;
  ResourceVector floor;               // its new request
  std::optional<Bytes> memory_limit;  // the limit to add
  // The most CPU that it may get, for its data loaders, if the effect of CPU on its speed is
  // unknown.
  std::optional<MilliCpu> most_cpu;
  // Why the floor is only a placeholder, which the pod requests until it can be sized; empty if it
  // is the real floor.
  std::string placeholder;
  Enforcement enforcement = Enforcement::kShared;
  std::string profile;  // empty: none
  int64_t profile_generation = 0;
  std::string gpu_product;  // required product of its GPUs; empty: any
  std::string workload;     // WorkloadOf() of the pod
  LooserIdentities alike;   // LooserIdentitiesOf() of the pod
  // Set if the profile is a hint: its workload is alike only in this respect.
  std::optional<LooserIdentity> hint;
  SpreadCost spread;  // of its gang, according to the profile
  // Whether the pod gets a volume for the file in which the training reports its progress.
  bool progress_file = false;
};

struct AdmissionDecision {
  AdmissionOutcome outcome = AdmissionOutcome::kNoGpus;
  std::optional<AdmissionFigures> figures;  // kManaged
  std::vector<std::string> warnings;        // for the creator of the pod
  int32_t gang_size = 0;  // the value to write on the pod, as its owner requires; 0: none
  // Further values to write on the pod: the gang's name and its bounds; empty: nothing.
  std::string gang_name = {};
  std::string gang_within = {};
};

// Returns whether the extender may later place a pod with this outcome. If so, its gang matters,
// and labels may be added to it.
bool MayJoinGang(const PodToAdmit& pod, AdmissionOutcome outcome,
                 const AdmissionSettings& settings);

AdmissionDecision Admit(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
                        const AdmissionSettings& settings);

// Amounts to write into a pod template that omits them; absent: the template stays as written.
struct TemplateRequests {
  size_t container = 0;  // in spec.containers
  std::optional<MilliCpu> cpu;
  std::optional<Bytes> memory;
};

// Returns what pods of a template will request, so that Kueue counts it. `pod`: the template, as a
// pod. Omits amounts that a quota of the namespace might refuse.
TemplateRequests SizeTemplate(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
                              const AdmissionSettings& settings);

}  // namespace synergy
