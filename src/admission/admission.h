#pragma once

// What becomes of a pod's CPU and memory when it is created: left as written, or set to the floor,
// which is what it is guaranteed, with the figures that everybody goes by later
// (docs/companion.md).
//
// Threading: pure, as far as the Surroundings are.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/pod_to_admit.h"
#include "cluster/claims.h"
#include "cluster/fungible.h"
#include "cluster/namespace_limits.h"
#include "cluster/node_selection.h"
#include "core/resources.h"
#include "profile/profile_object.h"

namespace synergy {

struct AdmissionSettings {
  std::string gpu_resource = "nvidia.com/gpu";  // for messages
  std::string scheduler_name = kDefaultSchedulerName;
  Scope scope = Scope::kOptIn;
  // Within the scope, pods of these schedulers become ours, and those that ask for ours by name.
  std::vector<std::string> managed_schedulers{"default-scheduler"};
  std::vector<std::string> excluded_namespaces{"kube-system"};
  Enforcement enforcement = Enforcement::kShared;
  double max_speed_up = kDefaultMaxSpeedUp;
  bool profiling = false;  // workloads without a profile are measured while they train
};

// What is known of the cluster around the pod.
class AdmissionSurroundings {
 public:
  virtual ~AdmissionSurroundings() = default;
  // Whether nodes, pods, namespaces and profiles have been listed.
  virtual bool Complete() const = 0;
  // The namespace's label; empty where there is none.
  virtual std::string NamespaceLabel(const std::string& name, std::string_view key) const = 0;
  // Null when there is none.
  virtual std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                          const std::string& name) const = 0;
  // What was measured of a workload with so many GPUs of `gpu_product`, in gangs of that size;
  // where the product is empty, of the one that the pod can get. Null: nothing, or nobody knows
  // which product it will be.
  virtual std::shared_ptr<const KnownProfile> FindMeasured(
      const std::string& profile_namespace, const std::string& workload, Gpus gpus,
      int32_t gang_size, const std::string& gpu_product, const NodeSelection& selection) const = 0;
  // Never null.
  virtual std::shared_ptr<const NamespaceLimits> Limits() const = 0;
  // LeastFairShare() of the present cluster, without headroom.
  virtual std::optional<ResourceVector> FairShare(const NodeSelection& selection, Gpus gpus,
                                                  const std::string& gpu_product) const = 0;
};

// Why a pod is as it is after admission.
enum class AdmissionOutcome : uint8_t {
  kManaged,  // set to the floor
  // Left as written:
  kNoGpus,
  kOptedOut,           // label synergy.io/fungible: "false"
  kExcludedNamespace,  // by configuration
  kNotAsked,           // out of scope: nobody asked for management
  kOtherScheduler,
  kHasNode,            // bound by whoever created it
  kStatic,             // the mirror of a static pod
  kPodLevelResources,  // spec.resources
  kSeveralContainers,  // with GPUs
  kQuotaByQos,         // the namespace's quotas count BestEffort pods apart, and the pod is one
  kNoNode,             // none that it may go to has so many GPUs, and it cannot be sized later
  kStarting,           // we do not know the cluster yet
  kFullAnnotations,    // no room for ours
};
inline constexpr size_t kAdmissionOutcomes = 13;

// One of few fixed words: "managed", "no_gpus", ...
std::string_view ToString(AdmissionOutcome outcome);

// For a container's GPUs.
struct AdmissionFigures {
  size_t container = 0;  // in spec.containers
  std::string container_name;
  ResourceVector demand;
  ResourceVector fair_share;
  ResourceVector floor;               // what it requests from now on
  std::optional<Bytes> memory_limit;  // to be added
  // Where nobody knows how its speed depends on CPU: what it may come to have, for loaders.
  std::optional<MilliCpu> most_cpu;
  // Why the floor is none yet, but a placeholder; empty: it is the floor.
  std::string placeholder;
  Enforcement enforcement = Enforcement::kShared;
  std::string profile;  // empty: none
  int64_t profile_generation = 0;
  std::string gpu_product;  // that its GPUs have to be of; empty: any
  std::string workload;     // WorkloadOf() the pod
  SpreadCost spread;        // of its gang, by the profile
};

struct AdmissionDecision {
  AdmissionOutcome outcome = AdmissionOutcome::kNoGpus;
  std::optional<AdmissionFigures> figures;  // kManaged
  std::vector<std::string> warnings;        // for whoever creates the pod
  int32_t gang_size = 0;  // to be written on the pod, because its owner says so; 0: none
  // Likewise, beside the size: the gang's name, and within what it is to be; empty: nothing.
  std::string gang_name = {};
  std::string gang_within = {};
};

// Whether a pod with this outcome is one that the extender may come to place, so that its gang
// matters, and whose labels may be added to.
bool MayJoinGang(const PodToAdmit& pod, AdmissionOutcome outcome,
                 const AdmissionSettings& settings);

AdmissionDecision Admit(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
                        const AdmissionSettings& settings);

}  // namespace synergy
