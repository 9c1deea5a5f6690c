#pragma once

// The part of a pod that Synergy may change: the CPU and memory of the one container that has its
// GPUs, and the state of changes so far. It is read from the pod's annotations, spec and status.
//
// All amounts belong to that container; `gpus` in them counts its GPUs.
//
// Threading: values; immutable once shared.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/gpu_turn.h"
#include "core/clock.h"
#include "core/resources.h"
#include "core/result.h"
#include "profile/measured/workload_identities.h"

namespace synergy {

// How an allocation is enforced on a container.
enum class Enforcement : uint8_t {
  kStrict,  // limits = requests = the allocation; unused amounts stay unused
  kShared,  // adds no CPU limits; unused CPU goes to other pods, in proportion to their requests
};

std::string_view ToString(Enforcement enforcement);
Result<Enforcement> ParseEnforcement(std::string_view text);

// A dimension that one resize changes. CPU and memory of a running pod change in two resizes,
// because a kubelet applies a resize completely or not at all.
enum class Dimension : uint8_t { kCpu, kMemory };

// The pods that Synergy manages.
enum class Scope : uint8_t {
  kOptIn,  // pods that opt in: by scheduler, by a label, or by their namespace's label
  kAll,    // all GPU pods except inference pods that do not opt in
};

std::string_view ToString(Scope scope);
Result<Scope> ParseScope(std::string_view text);

enum class ChangeKind : uint8_t {
  kAllocated,  // at bind, by the extender
  kReclaimed,  // cut to make room for another pod
  kGrown,
  kDivided,  // cut by a re-division, so that another pod grows
  kUndone,   // put back because the kubelet could not make the change
  // The steps of a loan of CPU (engine/tuner/loans.h). Each is announced before it is made, and its
  // inverse undoes it.
  kLent,       // cut: an idle pod lends
  kReturned,   // grown: it gets its own CPU back
  kBorrowed,   // grown by CPU that another pod lends
  kGivenBack,  // cut by the borrowed CPU
};

std::string_view ToString(ChangeKind kind);
Result<ChangeKind> ParseChangeKind(std::string_view text);
inline bool IsOfLoan(ChangeKind kind) { return kind >= ChangeKind::kLent; }
// Returns the step that undoes a change of this kind; kUndone unless the kind belongs to a loan.
ChangeKind InverseOf(ChangeKind kind);

// The last change. A growth is announced on the pod before it is made, so that the extender counts
// the room as taken.
struct ChangeRecord {
  ChangeKind kind = ChangeKind::kAllocated;
  ResourceVector from;
  ResourceVector to;
  std::string why;
  WallTime at{};
  // When memory last changed before this change.
  std::optional<WallTime> memory_changed_before = std::nullopt;
  // The part of to.cpu that other pods lend. Every later record repeats it.
  MilliCpu borrowed = MilliCpu(0);
  // kLent and kReturned: the uid of the pod that borrows |from.cpu - to.cpu|.
  std::string borrower = {};

  // Returns when memory last changed, by this change or an earlier one.
  std::optional<WallTime> MemoryChanged() const {
    return from.memory != to.memory ? at : memory_changed_before;
  }
  // Returns the borrowed part of from.cpu: the value of `borrowed` until the change is made.
  MilliCpu BorrowedBefore() const {
    const bool moves = kind == ChangeKind::kBorrowed || kind == ChangeKind::kGivenBack;
    return moves ? std::max(borrowed + from.cpu - to.cpu, MilliCpu(0)) : borrowed;
  }
  bool operator==(const ChangeRecord&) const = default;
};

// The state of a resize, as the kubelet reports it.
enum class ResizeState : uint8_t {
  kNone,
  kInProgress,
  kDeferred,    // does not fit now
  kInfeasible,  // never fits
  kRefused,     // in progress; the last try failed because memory in use is above the new limit
};

std::string_view ToString(ResizeState state);

// The state of a running container's memory, as the node agent reports it.
struct MemoryReading {
  Bytes in_use;             // memory that the pod cannot give up; excludes reclaimable page cache
  bool node_short = false;  // the node has hardly any memory left, so no pod there is cut
  WallTime at{};

  bool operator==(const MemoryReading&) const = default;
};

// Whether a container keeps its devices when its CPU or memory changes while it runs.
enum class DeviceSafety : uint8_t {
  kUnknown,
  kSafe,
  kUnsafe,  // a resize removes them
  kLost,    // a resize on its node has removed a device
};

std::string_view ToString(DeviceSafety safety);  // "unknown", "safe", "unsafe", "lost"
Result<DeviceSafety> ParseDeviceSafety(std::string_view text);

// The device safety of a container, with the reason.
struct DeviceReading {
  DeviceSafety safety = DeviceSafety::kUnknown;
  std::string why;
  // With kUnsafe: systemd has changed the container's scope since the container began, so the
  // devices are gone.
  bool resized = false;
  std::string container = {};  // the id of the container that was read; empty: unknown

  bool operator==(const DeviceReading&) const = default;
};

// A temporary CPU quota on a running pod: it measures the pod's speed with less CPU than it has,
// or, as a burst, with more than its limit. The node's agent sets it and removes it, even if the
// process that requested it dies. A burst changes no request: it uses what other pods leave unused.
struct CpuProbe {
  MilliCpu cpu;
  WallTime until{};
  bool burst = false;

  bool operator==(const CpuProbe&) const = default;
};

// How far a request that must not equal its limit stays below it.
inline constexpr ResourceVector kLeastBelowLimit{Gpus(0), MilliCpu(1), MiB(1)};

// The container's amounts as its author wrote them. Values that a LimitRange filled in count as
// limits, but not as requests.
struct WrittenAmounts {
  std::optional<MilliCpu> cpu_request;
  std::optional<MilliCpu> cpu_limit;
  std::optional<Bytes> memory_request;
  std::optional<Bytes> memory_limit;

  // Returns whether limits equal requests. The pod is Guaranteed if this is true for all its
  // containers.
  bool IsGuaranteed() const {
    return cpu_limit && memory_limit && cpu_request == cpu_limit && memory_request == memory_limit;
  }
  bool operator==(const WrittenAmounts&) const = default;
};

// The container's admission: annotations that the webhook or the extender wrote, and the amounts
// that its author wrote.
struct AdmittedContainer {
  std::string container;
  std::string profile;  // a TrainingProfile of the pod's namespace; empty: none
  int64_t profile_generation = 0;
  std::string workload;    // pods with the same one are alike (profile/measured/measured_profile.h)
  LooserIdentities alike;  // identities that it shares with similar workloads
  std::optional<LooserIdentity> hint;  // set if the profile is that of a similar workload
  Enforcement enforcement = Enforcement::kShared;
  ResourceVector floor;
  ResourceVector demand;
  ResourceVector fair_share;
  WrittenAmounts written;
  bool placeholder = false;  // its amounts are still unknown, so it cannot be bound

  bool operator==(const AdmittedContainer&) const = default;
};

// The container's spec, and the needs of the pod's other containers.
struct SpecifiedContainer {
  ResourceVector beside;  // requests of the pod's other containers, while the pod waits
  // The peak requests of the pod's init containers, less the requests of its other containers. A
  // node counts at least this much for this container while the pod exists.
  ResourceVector init_peak;
  ResourceVector requested;
  std::optional<MilliCpu> cpu_limit;
  std::optional<Bytes> memory_limit;

  bool operator==(const SpecifiedContainer&) const = default;
};

// The container's status, as the kubelet reports it.
struct ReportedContainer {
  std::optional<Bytes> memory_limit_in_force;
  // The amounts in force, and those that the kubelet has allocated. Equal to the spec until the
  // kubelet reports.
  ResourceVector in_force;
  ResourceVector set_aside;
  bool reported = false;    // the kubelet has reported them
  bool guaranteed = false;  // the pod's QoS class, which no resize may change, is Guaranteed
  ResizeState resize = ResizeState::kNone;
  std::string resize_message;

  bool operator==(const ReportedContainer&) const = default;
};

// The changes of the container so far, and their results.
struct ContainerHistory {
  bool resized_by_us_alone = false;  // since the container was created
  std::optional<ChangeRecord> change;
  // An announced growth counts until this time; the epoch means that it does not count (claims.h).
  WallTime announced_until{};
  std::optional<WallTime> unshrinkable_until;
  std::optional<MemoryReading> memory_reading;
  std::optional<DeviceReading> devices;  // from the node's agent; nullopt: no report
  // When one of the pod's containers was last killed for lack of memory, and whether the pod was
  // evicted for that reason.
  std::optional<WallTime> oom_killed;
  bool evicted_for_memory = false;
  // Set if such a kill or eviction followed soon after a change: the memory must never be changed
  // again.
  bool memory_let_be = false;
  std::optional<CpuProbe> probe;
  std::optional<GpuTurn> turn;
  // The pod has opted out, but lends or borrows CPU: only that loan may still change.
  bool leaves = false;

  bool operator==(const ContainerHistory&) const = default;
};

// The author's settings for a GPU on which the pod takes turns (docs/internals/sharing.md).
struct SharingContainer {
  bool may_pack = false;            // may run at the same time as another such pod
  std::optional<Bytes> gpu_memory;  // the most GPU memory that it takes; nullopt: unknown

  bool operator==(const SharingContainer&) const = default;
};

struct ManagedContainer : AdmittedContainer,
                          SpecifiedContainer,
                          ReportedContainer,
                          ContainerHistory,
                          SharingContainer {
  // Return whether the container has a temporary quota: below its usual CPU, or above its CPU
  // limit.
  bool ProbedAt(WallTime now) const { return probe && !probe->burst && now < probe->until; }
  bool BurstsAt(WallTime now) const { return probe && probe->burst && now < probe->until; }
  // Returns whether a change is announced, and neither made nor contradicted yet.
  bool Announced() const { return change && requested == change->from && requested != change->to; }
  // Returns the amounts that a node counts if the container requests `amounts`.
  ResourceVector Counted(const ResourceVector& amounts) const {
    return LargerOf(amounts, init_peak);
  }
  // Returns the announced growth of the counted amounts; zero if the announcement is not valid.
  ResourceVector AnnouncedGrowth() const {
    if (!change || !Announced() || announced_until == WallTime{}) return {};
    return Counted(LargerOf(change->to, requested)) - Counted(requested);
  }
  // Returns the CPU that the pod lends to change->borrower, from before its own resize until it has
  // the CPU back; 0 if it lends nothing.
  MilliCpu Lends() const {
    if (!change) return MilliCpu(0);
    const bool lends =
        (change->kind == ChangeKind::kLent && requested == change->to) ||
        (change->kind == ChangeKind::kReturned && requested == change->from && Announced());
    const MilliCpu amount = LargerOf(change->from, change->to).cpu - requested.cpu;
    return lends ? std::max(amount, MilliCpu(0)) : MilliCpu(0);
  }
  // Returns the part of the pod's CPU request that others lend to it.
  MilliCpu Borrows() const {
    if (!change || Unexplained()) return MilliCpu(0);
    return std::min(Announced() ? change->BorrowedBefore() : change->borrowed, requested.cpu);
  }
  // Returns the CPU that a node keeps for loans beyond the pod's counted requests: the CPU that the
  // pod lends, less the CPU that it borrows. The sum over a node's pods is at least 0. So no other
  // pod gets lent CPU between two steps of a loan, or after the borrower is gone.
  MilliCpu LoanBalance() const;
  // Returns whether a user or another controller has changed the amounts.
  bool ChangedByHand() const { return Unexplained() && !resized_by_us_alone; }
  // Returns whether Synergy has changed the amounts without recording it.
  bool Unrecorded() const { return Unexplained() && resized_by_us_alone; }
  // Returns whether whole CPUs were written and stay whole, because a static CPU manager assigns
  // them exclusively.
  bool WholeCpus() const {
    return enforcement == Enforcement::kStrict && written.IsGuaranteed() && written.cpu_limit &&
           written.cpu_limit->count() % Cores(1).count() == 0;
  }
  // Returns `cpu`, rounded down if it must be whole.
  MilliCpu Rounded(MilliCpu cpu) const {
    return WholeCpus() ? cpu - MilliCpu(cpu.count() % Cores(1).count()) : cpu;
  }
  // Clamps `amounts` to the bounds that the author's values and the QoS class set, but not below
  // the floor.
  ResourceVector WithinBounds(ResourceVector amounts) const;
  // Clamps `amounts`, which are to be requested next, so that the pod's QoS class stays. The pod is
  // Guaranteed if the limits of all its containers equal their requests. So amounts below their
  // limits stay below them, and amounts that must equal limits which stay are not changed. Amounts
  // that the pod had before need no such check.
  ResourceVector WithinQosClass(ResourceVector amounts) const;
  // Returns whether the kubelet has put the spec in force.
  bool Settled() const { return in_force == requested && set_aside == requested; }
  bool operator==(const ManagedContainer&) const = default;

 private:
  bool Unexplained() const {
    return change && requested != change->to && requested != change->from;
  }
};

}  // namespace synergy
