#pragma once

// The labels and annotations that Synergy's programs exchange with each other, users and other
// tools. docs/internals/sizing.md explains each of them.
//
// Threading: constants.

#include <array>
#include <string_view>

namespace synergy::annotations {

// Labels that people set.
inline constexpr std::string_view kProfile = "synergy.io/profile";                 // on pods
inline constexpr std::string_view kDefaultProfile = "synergy.io/default-profile";  // namespaces
inline constexpr std::string_view kEnforcement = "synergy.io/enforcement";  // pods, namespaces
inline constexpr std::string_view kGpuProduct = "synergy.io/gpu-product";   // pods
inline constexpr std::string_view kWorkload = "synergy.io/workload";        // pods: one workload
inline constexpr std::string_view kFungible = "synergy.io/fungible";        // "false": hands off
inline constexpr std::string_view kManaged = "synergy.io/managed";          // namespaces: "true"
inline constexpr std::string_view kGang = "synergy.io/gang";                // pods
inline constexpr std::string_view kGangSize = "synergy.io/gang-size";       // pods
inline constexpr std::string_view kTensorSkew = "synergy.io/tensor-skew";   // pods: of a gang
// On nodes: "true", a resize costs no container its devices there; "false", it may.
inline constexpr std::string_view kDevicesSafe = "synergy.io/devices-safe";
// A pod label with this prefix requests management.
inline constexpr std::string_view kPrefix = "synergy.io/";

// Set by Kueue on pods that it manages one by one. It deletes them when their containers change.
inline constexpr std::string_view kKueuePod = "kueue.x-k8s.io/managed";  // "true"
// Set by Kueue on the pods of every workload that it has admitted.
inline constexpr std::string_view kKueuePodSet = "kueue.x-k8s.io/podset";
// An annotation of LimitRanger: what it has filled in.
inline constexpr std::string_view kLimitRanger = "kubernetes.io/limit-ranger";

// Annotations that users set: where to read a pod's progress (docs/internals/progress.md).
inline constexpr std::string_view kProgressPattern = "synergy.io/progress-pattern";
inline constexpr std::string_view kProgressCounter = "synergy.io/progress-counter";
inline constexpr std::string_view kProgressPort = "synergy.io/progress-port";
inline constexpr std::string_view kProgressPath = "synergy.io/progress-path";
inline constexpr std::string_view kProgressFile = "synergy.io/progress-file";  // "true"
// With kProgressFile the webhook adds an emptyDir volume of this name to the pod. The training
// writes this file in it.
inline constexpr std::string_view kProgressVolume = "synergy-progress";
inline constexpr std::string_view kProgressFileName = "progress";

// An annotation that users set on pods: how long the training takes, in their estimate, such as
// "90m" (docs/start-time.md).
inline constexpr std::string_view kExpectedDuration = "synergy.io/expected-duration";

// An annotation that users set on pods, "true": the pod may be suspended for its turns on GPUs even
// if it has several of them or is in a gang (docs/internals/sharing.md).
inline constexpr std::string_view kSuspend = "synergy.io/suspend";

// Annotations that the webhook writes. Amounts are {"cpu":"1500m","memory":"4Gi"}, those of the
// container that has the GPUs.
inline constexpr std::string_view kContainer = "synergy.io/container";
inline constexpr std::string_view kDemand = "synergy.io/demand";
inline constexpr std::string_view kFairShare = "synergy.io/fair-share";
inline constexpr std::string_view kFloor = "synergy.io/floor";
inline constexpr std::string_view kOriginal = "synergy.io/original";  // the container's resources
inline constexpr std::string_view kProfileGeneration = "synergy.io/profile-generation";
// The amounts are placeholders, for the reason in its text; the controller replaces them.
inline constexpr std::string_view kPlaceholder = "synergy.io/placeholder";
// SpreadCost: the loss of the pod's gang when it is spread, by its profile.
inline constexpr std::string_view kSpreadCost = "synergy.io/spread-cost";
// Warnings for the creator of the pod, one per line.
inline constexpr std::string_view kWarnings = "synergy.io/warnings";
// Looser identities of the pod's workload (LooserIdentities as text).
inline constexpr std::string_view kWorkloadAlike = "synergy.io/workload-alike";
// The profile was measured of a workload that is only alike: by "arguments" or "owner".
inline constexpr std::string_view kProfileHint = "synergy.io/profile-hint";
// The profile, the enforcement and the GPU product that were used are annotations with the names of
// the labels; so is the workload (below).

// Annotations that the extender and the tuner write.
inline constexpr std::string_view kChange = "synergy.io/change";   // ChangeRecord
inline constexpr std::string_view kKeptPlace = "synergy.io/hold";  // Waiting::kept_node, kept_until
// On a waiting pod: when there was room for it and kube-scheduler was reminded.
inline constexpr std::string_view kRoomSeen = "synergy.io/room-seen";
inline constexpr std::string_view kUnshrinkableUntil = "synergy.io/unshrinkable-until";
// On the waiting pods of a job: PublishedReservation, the GPUs that it gets next.
inline constexpr std::string_view kGpuReservation = "synergy.io/gpu-reservation";
// On a waiting pod: the seconds in which its training ends, as measured of its workload.
inline constexpr std::string_view kLongestRun = "synergy.io/longest-run";
// On a running pod: CpuProbe, which the agent of its node carries out
// (docs/internals/profiling.md).
inline constexpr std::string_view kProbe = "synergy.io/probe";

// On a running pod: GpuTurn, which the agent of its node follows (docs/internals/sharing.md).
inline constexpr std::string_view kTurn = "synergy.io/turn";

// On a running pod, permanent: an OOM kill has followed a change of its memory, which is not
// changed again.
inline constexpr std::string_view kMemoryLetBe = "synergy.io/memory-let-be";
// MemoryReading, written by the node agent.
inline constexpr std::string_view kMemoryInUse = "synergy.io/memory-in-use";
// DeviceReading, written by the node agent.
inline constexpr std::string_view kDevices = "synergy.io/devices";

// All annotations of pods that programs act on. The webhook removes or recomputes each of them when
// a pod is created. After that an admission policy allows only Synergy to change them
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

}  // namespace synergy::annotations
