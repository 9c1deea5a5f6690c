#pragma once

// The progress of a running pod's training, its CPU use and its reads from storage, as measured by
// the agent of its node (docs/internals/progress.md).
//
// Threading: values.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "profile/log_evidence.h"
#include "profile/pod_xid.h"

namespace synergy {

// A container's CPU use since its control group was created.
struct CpuUse {
  Duration used{};
  // Time in which a quota of the container or its pod kept threads from running, summed over CPUs.
  Duration throttled{};
  // Time in which runnable threads waited for a CPU. With cgroup v2: time in which any thread
  // waited (PSI, `some`). With cgroup v1: the sum over the threads that the agent has seen; in
  // tests, it included time in which a quota stopped the threads. nullopt: unknown.
  std::optional<Duration> waited;
  WallTime at{};  // when it was read, by the node's clock

  bool operator==(const CpuUse&) const = default;
};

// A container's memory, and its reads.
struct MemoryUse {
  // The peak of anonymous, shared and mapped memory since the agent's first reading.
  Bytes process;
  Bytes cache;  // page cache charged to it now that is not mapped
  // Bytes since the container started: returned by read calls, and fetched from storage.
  double read = 0;
  double fetched = 0;
  // Time in which any thread waited for storage (PSI, `some`); nullopt: unknown.
  std::optional<Duration> starved;
  // Other pods of the node may read the same storage, so it is unknown which pod the cache serves.
  bool shared = false;
  WallTime at{};  // when it was read, by the node's clock

  bool operator==(const MemoryUse&) const = default;
};

// The quota of a CpuProbe (cluster/managed_container.h) that the agent maintains on the pod.
struct ProbeReading {
  MilliCpu cpu;
  WallTime since{};    // when it was set
  bool wiped = false;  // something else has changed it since

  bool operator==(const ProbeReading&) const = default;
};

// The busy time of the GPUs of a pod that does not report iterations, averaged over its GPUs. The
// work of an iteration is constant, so busy time grows in proportion to iterations; the busy time
// per iteration is unknown.
struct BusyEstimate {
  double busy = 0;             // busy seconds since the agent's first reading; never falls
  std::optional<double> rate;  // busy seconds per second, 0 to 1, over the last minute
  WallTime at{};               // when it was read, by the node's clock

  bool operator==(const BusyEstimate&) const = default;
};

// How long the pod's GPUs and CPU have been idle (nodeagent/progress/idle_time.h).
struct IdleReading {
  Duration idle{};
  MilliCpu most_cpu{};  // the most CPU used in any second of that time

  bool operator==(const IdleReading&) const = default;
};
// The least idle time at which the command line and the metrics show a pod as idle.
inline constexpr Duration kIdleToShow = std::chrono::minutes(5);

// The reads of a container from storage and its waiting time for them, between the agent's last two
// readings (nodeagent/cgroups/storage/storage_meter.h).
struct StorageUse {
  std::string backend;  // of most of its reads: a block device ("nvme0n1") or kNetworkStorage
  std::optional<double> read;  // bytes per second; nullopt: unknown
  // Fraction of the time in which any of its threads waited for storage; nullopt: unknown.
  std::optional<double> waited;
  // Bytes per second that all pods of the node read from that device, and that it can deliver.
  // nullopt: unknown.
  std::optional<double> all;
  std::optional<double> bandwidth;
  WallTime at{};  // when it was last read, by the node's clock
  // The bytes per second that it may read from that device while others wait for it; nullopt: no
  // limit.
  std::optional<double> cap = std::nullopt;

  bool operator==(const StorageUse&) const = default;
};
// The backend for reads that no block device of the node serves.
inline constexpr std::string_view kNetworkStorage = "network";

// A pod that uses its GPUs in turns with other pods (cluster/gpu_turn.h).
struct TurnReading {
  std::vector<std::string> gpus;  // their UUIDs, sorted
  bool suspended = false;         // now
  Duration time_suspended{};      // since the agent's first reading; never falls
  std::string refusal;            // why the agent does not suspend it; empty if it may

  bool operator==(const TurnReading&) const = default;
};

struct PodProgress {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string container;
  // The source: a format of log lines ("tqdm"), "pattern" for the user's own, or "counter" for a
  // Prometheus counter. Empty: the pod reports no progress.
  std::string format;
  // The numbers that the training prints: for the whole run, or for one epoch if it counts by
  // epochs.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  // Iterations per second: during the last minute without pauses of the training, and since the
  // agent's first reading with them.
  std::optional<double> rate;
  std::optional<double> overall_rate;
  // Iterations since the agent's first reading. The number never falls, but restarts from 0 with
  // the agent.
  double iterations = 0;
  // When the newest iteration was reported.
  std::optional<WallTime> last;
  // Remaining time of the training at the present rate, if it reports its total.
  std::optional<Duration> remaining;
  std::optional<CpuUse> cpu;  // nullopt: the control group cannot be read
  std::optional<ProbeReading> probe;
  std::optional<MemoryUse> memory;  // nullopt: unknown
  // When its log last reported that a checkpoint is being or has been written; nullopt: never.
  std::optional<WallTime> checkpoint;
  // Set only if `format` is empty; nullopt: the GPUs' busy time is unknown.
  std::optional<BusyEstimate> estimate;
  // nullopt: whether the pod is idle is unknown.
  std::optional<IdleReading> idle;
  std::optional<StorageUse> storage;  // nullopt: the pod hardly reads, or its reads are unknown
  std::optional<TurnReading> turn;    // nullopt: it takes no turns

  bool operator==(const PodProgress&) const = default;
};

// All reports of an agent at one moment.
struct NodeProgress {
  std::string node;
  WallTime since{};  // when the agent started; a new agent counts from 0
  WallTime at{};     // when it read the values
  std::vector<PodProgress> pods;
  std::vector<EndedRun> ended;  // runs of the last minutes, oldest first
  std::vector<PodXid> xids;     // also of the last minutes

  bool operator==(const NodeProgress&) const = default;
};

// A pod's progress as the controller received it.
struct KnownProgress {
  PodProgress pod;
  std::string node;
  WallTime since{};  // when the node's agent started; iterations count from there
  WallTime at{};     // when the controller received it
  Duration age{};    // how old it was when it was read

  bool operator==(const KnownProgress&) const = default;
};

struct ClusterProgress {
  std::vector<KnownProgress> pods;

  bool operator==(const ClusterProgress&) const = default;
};

}  // namespace synergy
