#pragma once

// What Synergy may change of a pod: the CPU and memory of the one container that has its GPUs, and
// what has become of the changes so far. Read from the pod's annotations, spec and status.
//
// All amounts are that container's; `gpus` in them counts its GPUs.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"

namespace synergy {

// How an allocation is held against a container.
enum class Enforcement : uint8_t {
  kStrict,  // limits = requests = the allocation: what one leaves, nobody uses
  kShared,  // no CPU limits: what one leaves goes to the others by their allocations
};

std::string_view ToString(Enforcement enforcement);
Result<Enforcement> ParseEnforcement(std::string_view text);

// What of a pod is changed in one go: CPU and memory of one that runs are two resizes, because a
// kubelet makes all of one or nothing.
enum class Dimension : uint8_t { kCpu, kMemory };

// Whose pods are managed.
enum class Scope : uint8_t {
  kOptIn,  // those that ask for it: by scheduler, by a label, or by their namespace's label
  kAll,    // all GPU pods
};

std::string_view ToString(Scope scope);
Result<Scope> ParseScope(std::string_view text);

enum class ChangeKind : uint8_t {
  kAllocated,  // at bind, by the extender
  kReclaimed,  // cut, so that another pod has room
  kGrown,
  kDivided,  // cut by a re-division, so that another pod grows
  kUndone,   // put back because the kubelet could not do it
};

std::string_view ToString(ChangeKind kind);
Result<ChangeKind> ParseChangeKind(std::string_view text);

// The last change. A growth is announced on the pod before it is made, so that the extender counts
// what is going to be taken.
struct ChangeRecord {
  ChangeKind kind = ChangeKind::kAllocated;
  ResourceVector from;
  ResourceVector to;
  std::string why;
  WallTime at{};
  // When an earlier change was one of memory.
  std::optional<WallTime> memory_changed_before = std::nullopt;

  // The last time that memory was changed, by this change or one before.
  std::optional<WallTime> MemoryChanged() const {
    return from.memory != to.memory ? at : memory_changed_before;
  }
  bool operator==(const ChangeRecord&) const = default;
};

// What the kubelet says of a resize.
enum class ResizeState : uint8_t {
  kNone,
  kInProgress,
  kDeferred,    // does not fit now
  kInfeasible,  // never fits
  kRefused,     // in progress, and the last try failed: memory in use above the new limit
};

std::string_view ToString(ResizeState state);

// What the node agent says of a running container's memory.
struct MemoryReading {
  Bytes in_use;             // what cannot be taken from it: no page cache that can be given back
  bool node_short = false;  // the node has hardly any memory left: nothing is to be taken there
  WallTime at{};

  bool operator==(const MemoryReading&) const = default;
};

// Whether a container still has its devices when its CPU or memory is changed while it runs.
enum class DeviceSafety : uint8_t {
  kUnknown,
  kSafe,
  kUnsafe,  // a resize takes them away
  kLost,    // a resize on its node has taken a device away
};

std::string_view ToString(DeviceSafety safety);  // "unknown", "safe", "unsafe", "lost"
Result<DeviceSafety> ParseDeviceSafety(std::string_view text);

// A statement about that, with its reason.
struct DeviceReading {
  DeviceSafety safety = DeviceSafety::kUnknown;
  std::string why;

  bool operator==(const DeviceReading&) const = default;
};

// A CPU quota that is on a running pod for a moment, so that it is seen how fast it is with less.
// The agent of its node puts it there and takes it away, whoever dies meanwhile.
struct CpuProbe {
  MilliCpu cpu;
  WallTime until{};

  bool operator==(const CpuProbe&) const = default;
};

// The container's amounts as its author wrote them; what a LimitRange filled in counts as a
// limit, and as no request.
struct WrittenAmounts {
  std::optional<MilliCpu> cpu_request;
  std::optional<MilliCpu> cpu_limit;
  std::optional<Bytes> memory_request;
  std::optional<Bytes> memory_limit;

  // Limits that are the requests: with others like it the pod is Guaranteed.
  bool IsGuaranteed() const {
    return cpu_limit && memory_limit && cpu_request == cpu_limit && memory_request == memory_limit;
  }
  bool operator==(const WrittenAmounts&) const = default;
};

struct Fungible {
  std::string container;
  std::string profile;  // a TrainingProfile of the pod's namespace; empty: none
  int64_t profile_generation = 0;
  std::string workload;  // pods with the same one are alike (profile/measured/measured_profile.h)
  Enforcement enforcement = Enforcement::kShared;
  ResourceVector floor;   // as admitted
  ResourceVector demand;  // as admitted
  ResourceVector fair_share;
  WrittenAmounts written;
  bool placeholder = false;  // its amounts are not known yet: it cannot be bound
  ResourceVector beside;     // what the pod's other containers ask for, while it waits
  // What the pod's init containers need beside its other containers. A node counts that much for
  // this container as long as the pod is there.
  ResourceVector init_peak;
  ResourceVector requested;           // spec
  std::optional<MilliCpu> cpu_limit;  // spec
  std::optional<Bytes> memory_limit;  // spec
  std::optional<Bytes> memory_limit_in_force;
  // By the kubelet: what is in force, and what it has set aside. The spec's before it says so.
  ResourceVector in_force;
  ResourceVector set_aside;
  bool reported = false;  // the kubelet does say so
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;
  bool resized_by_us_alone = false;  // since it was created
  std::optional<ChangeRecord> change;
  // An announced growth counts until then; the epoch: it does not (claims.h).
  WallTime announced_until{};
  std::optional<WallTime> unshrinkable_until;
  std::optional<MemoryReading> memory_reading;
  std::optional<DeviceReading> devices;  // by the node's agent; none: it has said nothing
  // Memory was what ended one of the pod's containers last, or the pod itself.
  std::optional<WallTime> oom_killed;
  bool evicted_for_memory = false;
  // Because of one of these, soon after a change: its memory is left as it is for good.
  bool memory_let_be = false;

  std::optional<CpuProbe> probe;

  bool ProbedAt(WallTime now) const { return probe && now < probe->until; }
  // What was announced, and is neither made nor contradicted yet.
  bool Announced() const { return change && requested == change->from && requested != change->to; }
  // Returns what a node counts where the container asks for `amounts`.
  ResourceVector Counted(const ResourceVector& amounts) const {
    return LargerOf(amounts, init_peak);
  }
  // Returns what was announced that the pod will count beyond what it counts now, where that
  // counts.
  ResourceVector AnnouncedGrowth() const {
    if (!Announced() || announced_until == WallTime{}) return {};
    return Counted(LargerOf(change->to, requested)) - Counted(requested);
  }
  // Somebody else has changed the amounts.
  bool ChangedByHand() const { return Unexplained() && !resized_by_us_alone; }
  // One of us has changed them, and did not come to say so.
  bool Unrecorded() const { return Unexplained() && resized_by_us_alone; }
  // Whole CPUs were written and stay whole: a static CPU manager gives them to the pod alone.
  bool WholeCpus() const {
    return enforcement == Enforcement::kStrict && written.IsGuaranteed() &&
           written.cpu_limit->count() % Cores(1).count() == 0;
  }
  // `cpu`, rounded down where it has to be whole.
  MilliCpu Rounded(MilliCpu cpu) const {
    return WholeCpus() ? cpu - MilliCpu(cpu.count() % Cores(1).count()) : cpu;
  }
  // `amounts`, as far as what its author wrote lets the pod have them; not less than its floor.
  ResourceVector WithinBounds(ResourceVector amounts) const;
  // The kubelet does what the spec says.
  bool Settled() const { return in_force == requested && set_aside == requested; }
  bool operator==(const Fungible&) const = default;

 private:
  bool Unexplained() const {
    return change && requested != change->to && requested != change->from;
  }
};

}  // namespace synergy
