#pragma once

// Labels and annotations that Synergy's programs exchange with each other, with users and with
// other tools. docs/internals/sizing.md explains each of them.
//
// Threading: constants.

#include <array>
#include <string_view>

namespace synergy::annotations {

// Labels that users set.
inline constexpr std::string_view kProfile = "synergy.io/profile";                 // on pods
inline constexpr std::string_view kDefaultProfile = "synergy.io/default-profile";  // namespaces
inline constexpr std::string_view kEnforcement = "synergy.io/enforcement";  // pods, namespaces
inline constexpr std::string_view kGpuProduct = "synergy.io/gpu-product";   // pods
inline constexpr std::string_view kWorkload = "synergy.io/workload";        // pods of one workload
inline constexpr std::string_view kFungible = "synergy.io/fungible";   // "false": do not change it
inline constexpr std::string_view kManaged = "synergy.io/managed";     // namespaces: "true"
inline constexpr std::string_view kGang = "synergy.io/gang";           // pods
inline constexpr std::string_view kGangSize = "synergy.io/gang-size";  // pods
inline constexpr std::string_view kTensorSkew = "synergy.io/tensor-skew";  // pods of a gang
// On nodes. "true": a resize there removes no container's devices; "false": it may remove them.
inline constexpr std::string_view kDevicesSafe = "synergy.io/devices-safe";
// A pod label with this prefix requests management.
inline constexpr std::string_view kPrefix = "synergy.io/";

// Set by Kueue on pods that it manages one by one. Kueue deletes them when their containers change.
inline constexpr std::string_view kKueuePod = "kueue.x-k8s.io/managed";  // "true"
// Set by Kueue on the pods of every workload that it has admitted.
inline constexpr std::string_view kKueuePodSet = "kueue.x-k8s.io/podset";
// The annotation in which LimitRanger lists the amounts that it filled in.
inline constexpr std::string_view kLimitRanger = "kubernetes.io/limit-ranger";

// Annotations that users set to specify where to read a pod's progress
// (docs/internals/progress.md).
inline constexpr std::string_view kProgressPattern = "synergy.io/progress-pattern";
inline constexpr std::string_view kProgressCounter = "synergy.io/progress-counter";
inline constexpr std::string_view kProgressPort = "synergy.io/progress-port";
inline constexpr std::string_view kProgressPath = "synergy.io/progress-path";
inline constexpr std::string_view kProgressFile = "synergy.io/progress-file";  // "true"
// With kProgressFile the webhook adds an emptyDir volume of this name to the pod. The training
// writes this file there.
inline constexpr std::string_view kProgressVolume = "synergy-progress";
inline constexpr std::string_view kProgressFileName = "progress";

// An annotation that users set on pods: their estimate of how long the training takes, such as
// "90m" (docs/start-time.md).
inline constexpr std::string_view kExpectedDuration = "synergy.io/expected-duration";

// An annotation that users set on pods. "true": the pod may be suspended for its turns on GPUs even
// if it has several GPUs or is in a gang (docs/internals/sharing.md).
inline constexpr std::string_view kSuspend = "synergy.io/suspend";
// "true": while the pod takes turns on a GPU, it may run at the same time as another such pod.
inline constexpr std::string_view kPacking = "synergy.io/packing";
// The most memory of a GPU that the pod takes, such as "12Gi".
inline constexpr std::string_view kGpuMemory = "synergy.io/gpu-memory";

// Annotations that the webhook writes. Amounts are written as {"cpu":"1500m","memory":"4Gi"}, and
// belong to the container that has the GPUs.
inline constexpr std::string_view kContainer = "synergy.io/container";
inline constexpr std::string_view kDemand = "synergy.io/demand";
inline constexpr std::string_view kFairShare = "synergy.io/fair-share";
inline constexpr std::string_view kFloor = "synergy.io/floor";
inline constexpr std::string_view kOriginal = "synergy.io/original";  // the container's resources
inline constexpr std::string_view kProfileGeneration = "synergy.io/profile-generation";
// Marks the amounts as placeholders, with the reason as its text; the controller replaces them.
inline constexpr std::string_view kPlaceholder = "synergy.io/placeholder";
// SpreadCost: the speed that the pod's gang loses when spread over nodes or racks, according to its
// profile.
inline constexpr std::string_view kSpreadCost = "synergy.io/spread-cost";
// Warnings for the creator of the pod, one per line.
inline constexpr std::string_view kWarnings = "synergy.io/warnings";
// Looser identities of the pod's workload (LooserIdentities as text).
inline constexpr std::string_view kWorkloadAlike = "synergy.io/workload-alike";
// The profile was measured on a workload that is only similar, by "arguments" or "owner".
inline constexpr std::string_view kProfileHint = "synergy.io/profile-hint";
// The profile, the enforcement, the GPU product and the workload in use are annotations with the
// same names as the labels.

// Annotations that the extender and the tuner write.
inline constexpr std::string_view kChange = "synergy.io/change";   // ChangeRecord
inline constexpr std::string_view kKeptPlace = "synergy.io/hold";  // Waiting::kept_node, kept_until
// On a waiting pod: the time at which Synergy found room for it and triggered kube-scheduler.
inline constexpr std::string_view kRoomSeen = "synergy.io/room-seen";
inline constexpr std::string_view kUnshrinkableUntil = "synergy.io/unshrinkable-until";
// On the waiting pods of a job: PublishedReservation, the next GPUs that the job gets.
inline constexpr std::string_view kGpuReservation = "synergy.io/gpu-reservation";
// On a waiting pod: the seconds within which its training ends, as measured for its workload.
inline constexpr std::string_view kLongestRun = "synergy.io/longest-run";
// On a running pod: CpuProbe, which the node's agent carries out (docs/internals/profiling.md).
inline constexpr std::string_view kProbe = "synergy.io/probe";

// On a running pod: GpuTurn, which the node's agent follows (docs/internals/sharing.md).
inline constexpr std::string_view kTurn = "synergy.io/turn";

// On a running pod, permanently: an OOM kill followed a change of its memory, so its memory is not
// changed again.
inline constexpr std::string_view kMemoryLetBe = "synergy.io/memory-let-be";
// MemoryReading, which the node agent writes.
inline constexpr std::string_view kMemoryInUse = "synergy.io/memory-in-use";
// DeviceReading, which the node agent writes.
inline constexpr std::string_view kDevices = "synergy.io/devices";

// All pod annotations that programs act on. The webhook removes or recomputes each of them when a
// pod is created. Afterwards an admission policy allows only Synergy to change them
// (charts/synergy/templates/admission-policies.yaml).
inline constexpr std::array kWrittenByPrograms = {kContainer,
                                                  kDemand,
                                                  kFairShare,
                                                  kFloor,
                                                  kOriginal,
                                                  kProfile,
                                                  kProfileGeneration,
                                                  kEnforcement,
                                                  kGpuProduct,
                                                  kPlaceholder,
                                                  kChange,
                                                  kKeptPlace,
                                                  kRoomSeen,
                                                  kGpuReservation,
                                                  kLongestRun,
                                                  kUnshrinkableUntil,
                                                  kMemoryLetBe,
                                                  kMemoryInUse,
                                                  kDevices,
                                                  kWarnings,
                                                  kWorkload,
                                                  kProbe,
                                                  kTurn,
                                                  kSpreadCost,
                                                  kWorkloadAlike,
                                                  kProfileHint};

// The field manager with which the extender and the tuner write pods. The API server records the
// writer of each amount and annotation in a pod's metadata.managedFields.
inline constexpr std::string_view kFieldManager = "synergy";
// The field manager with which the node agent writes pods/status.
inline constexpr std::string_view kNodeAgentManager = "synergy-node-agent";

}  // namespace synergy::annotations
