#include <algorithm>
#include <array>

#include "failure/rules.h"

namespace synergy {
namespace {

constexpr Outcome kRegistryFailed = {Cause::kInfrastructure, Behaviour::kTransient, Advice::kRetry};
constexpr Outcome kInterrupted = {Cause::kUser, Behaviour::kUnknown, Advice::kRetry};

// Reasons that the kubelet gives if a container cannot be created or started. The message contains
// the cause.
constexpr const char* kNoStart =
    "StartError|ContainerCannotRun|RunContainerError|CreateContainerError|RunInitContainerError|"
    "FailedCreate|PostStartHookError";
constexpr const char* kNoImage =
    "ErrImagePull|ImagePullBackOff|ImageInspectError|InvalidImageName|ErrImageNeverPull|"
    "RegistryUnavailable|SignatureValidationFailed|ErrImagePullBackOff|ImagePullFailed";
constexpr const char* kGivenUp =
    "Evicted|NodeLost|Terminated|NodeShutdown|Shutdown|OutOf.*|UnexpectedAdmissionError|"
    "TopologyAffinityError|NodeAffinity|NodePorts|PodTopologySpread|NodeUnschedulable|NodeNotReady|"
    "PodOSNotSupported|TerminationByKubelet|DeletionByTaintManager|EvictionByEvictionAPI|"
    "DeletionByPodGC|TaintManagerEviction|NodeFailure|NodeFailures";

// The first match counts.
constexpr std::array kReasons = {
    PlatformRule{"oom-killed", Category::kHostOom, "OOMKilled|OOMKilling|ContainerOOMKilled"},
    PlatformRule{
        "evicted-own-storage", Category::kDiskFull, kGivenUp,
        R"((?i)ephemeral local storage usage exceeds|exceeded its local ephemeral storage limit|emptydir volume .*exceeds the limit|exceeds? .*(?:ephemeral|emptydir).*limit)"},
    PlatformRule{"evicted", Category::kEvicted, kGivenUp},
    PlatformRule{"preempted", Category::kPreempted,
                 "Preempting|Preempted|PreemptionByScheduler|PreemptionBy.*|.*DueToPreemption|"
                 "InClusterQueue|InCohortReclamation|InCohortFairSharing|"
                 "InCohortReclaimWhileBorrowing|PodsReadyTimeout|ClusterQueueStopped|"
                 "LocalQueueStopped|AdmissionCheck|WorkloadEvicted.*|Requeued"},
    PlatformRule{"deadline-exceeded", Category::kDeadline,
                 "DeadlineExceeded|.*MaximumExecutionTimeExceeded|ActiveDeadlineExceeded|"
                 "JobDeadlineExceeded"},
    PlatformRule{"config-error", Category::kConfiguration, "CreateContainerConfigError"},
    PlatformRule{
        "registry-failed", Category::kImage, kNoImage,
        R"((?i)\b50[0-9]\b|\b429\b|too ?many ?requests|rate limit|time(?:d)? ?-?out|deadline exceeded|connection (?:refused|reset)|no such host|temporary failure|i/o timeout|unexpected EOF|\bEOF\b|server misbehaving|service unavailable|bad gateway|no route to host|(?:network|host) is unreachable|registry is unavailable|QPS exceeded|no space left on device|disk quota exceeded|cannot allocate memory|too many open files|input/output error|read-only file system|connection lost|closed network connection|broken pipe|context canceled|INTERNAL_ERROR|stream error|failed size validation|unexpected commit digest|code = (?:Unavailable|Canceled|Aborted)\b)",
        kRegistryFailed},
    PlatformRule{"image", Category::kImage, kNoImage},
    PlatformRule{"start-oom", Category::kHostOom, kNoStart,
                 R"((?i)container init was OOM-killed|oom[- ]kill)"},
    PlatformRule{"start-disk-full", Category::kDiskFull, kNoStart,
                 R"((?i)no space left on device|disk quota exceeded)"},
    PlatformRule{"start-cuda-version", Category::kCudaVersion, kNoStart,
                 R"((?i)unsatisfied condition: *(?:cuda|driver|brand)|requirement error)"},
    PlatformRule{
        "start-no-gpu", Category::kCudaInit, kNoStart,
        R"((?i)nvidia-container-cli|nvml error|unknown device|nvidia-container-runtime|CDI (?:host )?device|/dev/nvidia|/run/nvidia/|adding custom device)"},
    PlatformRule{
        "start-node", Category::kCommand, kNoStart,
        R"((?i)input/output error|stale (?:nfs )?file handle|endpoint is not connected|cgroup config|apply cgroup|/sys/fs/cgroup|ttrpc: |dbus: |org\.freedesktop|resource temporarily unavailable|too many open files|cannot allocate memory|read-only file system.*containerd|failed to reserve|code = Unavailable)",
        kRegistryFailed},
    PlatformRule{"start-mount", Category::kConfiguration, kNoStart,
                 R"((?i)error mounting|failed to mount)"},
    PlatformRule{
        "start-command", Category::kCommand, kNoStart,
        R"((?i)executable file not found|exec format error|no such file or directory|permission denied|is a directory|not a directory|exec:|chdir to cwd|no command specified)"},
    PlatformRule{"start-failed", Category::kCommand, "StartError|ContainerCannotRun"},
};

constexpr std::array kConditions = {
    PlatformRule{"condition-preempted", Category::kPreempted,
                 "DisruptionTarget/PreemptionBy.*|DisruptionTarget/Preempt.*|"
                 "(?:.*/)?Preempted(?:/.*)?|Evicted/(?:Preempted|PodsReadyTimeout|AdmissionCheck|"
                 "ClusterQueueStopped|LocalQueueStopped|InactiveWorkload|Deactivated)|"
                 "TerminationTarget/.*Preempt.*|DisruptionTarget/(?:.*Kueue.*|.*Evicted.*)"},
    PlatformRule{"condition-deadline", Category::kDeadline,
                 ".*/DeadlineExceeded|.*/.*MaximumExecutionTimeExceeded"},
    PlatformRule{
        "condition-own-storage", Category::kDiskFull, "DisruptionTarget/.*",
        R"((?i)ephemeral local storage usage exceeds|exceeded its local ephemeral storage limit|emptydir volume .*exceeds the limit)"},
    PlatformRule{"condition-evicted", Category::kEvicted, "DisruptionTarget/.*|Evicted/.*"},
};

constexpr std::array kExits = {
    CodeRule{"exit-126", Category::kCommand, 126},
    CodeRule{"exit-127", Category::kCommand, 127},
    CodeRule{"exit-128", Category::kCommand, 128},
    CodeRule{"exit-130", Category::kKilled, 130, kInterrupted},
    CodeRule{"exit-132", Category::kAbort, 132,
             Outcome{Cause::kEngine, Behaviour::kDeterministic, Advice::kRetryElsewhere}},
    CodeRule{"exit-134", Category::kAbort, 134},
    CodeRule{"exit-136", Category::kAbort, 136,
             Outcome{Cause::kEngine, Behaviour::kDeterministic, Advice::kFix}},
    CodeRule{"exit-137", Category::kKilled, 137},
    CodeRule{"exit-139", Category::kSegfault, 139},
    CodeRule{"exit-141", Category::kKilled, 141},
    CodeRule{"exit-143", Category::kKilled, 143},
};

constexpr std::array kXidRows = {
    CodeRule{"xid-48", Category::kGpuMemoryFault, 48},
    CodeRule{"xid-63", Category::kGpuMemoryFault, 63},
    CodeRule{"xid-64", Category::kGpuMemoryFault, 64},
    CodeRule{"xid-94", Category::kGpuMemoryFault, 94},
    CodeRule{"xid-95", Category::kGpuMemoryFault, 95},
    CodeRule{"xid-140", Category::kGpuMemoryFault, 140},
    CodeRule{"xid-156", Category::kGpuMemoryFault, 156},
    CodeRule{"xid-79", Category::kGpuLost, 79},
    CodeRule{"xid-119", Category::kGpuLost, 119},
    CodeRule{"xid-120", Category::kGpuLost, 120},
    CodeRule{"xid-62", Category::kGpuLost, 62},
    CodeRule{"xid-143", Category::kGpuLost, 143},
    CodeRule{"xid-46", Category::kGpuLost, 46},
    CodeRule{"xid-110", Category::kGpuLost, 110},
    CodeRule{"xid-158", Category::kGpuLost, 158},
    CodeRule{"xid-74", Category::kNvlink, 74},
    CodeRule{"xid-136", Category::kNvlink, 136},
    CodeRule{"xid-155", Category::kNvlink, 155},
    // Errors of an application, which count only if nothing else is known.
    CodeRule{"xid-13", Category::kDeviceAssert, 13},
    CodeRule{"xid-31", Category::kIllegalAccess, 31},
};

}  // namespace

bool IsOomKill(std::string_view rule) {
  return std::any_of(kReasons.begin(), kReasons.end(), [&](const PlatformRule& each) {
    return each.category == Category::kHostOom && each.name == rule;
  });
}

std::span<const PlatformRule> ReasonRules() { return kReasons; }
std::span<const PlatformRule> ConditionRules() { return kConditions; }
std::span<const CodeRule> ExitRules() { return kExits; }
std::span<const CodeRule> XidRules() { return kXidRows; }

Strength StrengthOf(Category category) {
  switch (category) {
    case Category::kCollectiveTimeout:
    case Category::kPeerLost:
    case Category::kNetwork:
    case Category::kMpi:
      return Strength::kCascade;
    case Category::kSegfault:
      return Strength::kCrash;
    case Category::kAbort:
    case Category::kKilled:
      return Strength::kSignal;
    case Category::kUnknown:
      return Strength::kNone;
    default:
      return Strength::kSpecific;
  }
}

}  // namespace synergy
