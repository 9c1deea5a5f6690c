#pragma once

// How far the training of a running pod has come, and what CPU it took, as the agent of its node
// measures it (docs/progress.md).
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/units.h"

namespace synergy {

// Of a container's control group, since it was made.
struct CpuUse {
  Duration used{};
  // Time in which a quota, of the container or of its pod, kept threads from running, summed over
  // CPUs.
  Duration throttled{};
  // Time in which threads that could run waited for a CPU: with cgroup v2 that in which any of them
  // did (PSI, `some`), else the sum over its threads, as far as they were seen. With v1, where it
  // was tried, that in which a quota kept them from running is part of it. None: not known.
  std::optional<Duration> waited;
  WallTime at{};  // when that was, by the node's clock

  bool operator==(const CpuUse&) const = default;
};

// Of a container's memory and of what it reads.
struct MemoryUse {
  // The peak of anonymous, shared and mapped memory since the agent first looked.
  Bytes process;
  Bytes cache;  // page cache that is charged to it now, and not mapped
  // Bytes, since the container began: what read calls returned, and what came from storage.
  double read = 0;
  double fetched = 0;
  // Time in which any thread waited for storage (PSI, `some`); none: not known.
  std::optional<Duration> starved;
  // Other pods of the node may read the same storage: whose cache it is nobody can say.
  bool shared = false;
  WallTime at{};  // when that was, by the node's clock

  bool operator==(const MemoryUse&) const = default;
};

// The quota of a CpuProbe (cluster/fungible.h) that the agent keeps on the pod.
struct ProbeReading {
  MilliCpu cpu;
  WallTime since{};    // when it was put there
  bool wiped = false;  // somebody else has changed it since then

  bool operator==(const ProbeReading&) const = default;
};

// For a pod that says nothing of its iterations: how long its GPUs were busy, the mean of all that
// it has. The work of an iteration is constant, so busy time grows as iterations do; what an
// iteration takes of it nobody knows.
struct BusyEstimate {
  double busy = 0;             // seconds since the agent first looked; never falls
  std::optional<double> rate;  // busy seconds per second, 0 to 1, over the last minute
  WallTime at{};               // when that was, by the node's clock

  bool operator==(const BusyEstimate&) const = default;
};

struct PodProgress {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string container;
  // Who says so: a format of log lines ("tqdm"), "pattern" for the user's own, "counter" for a
  // Prometheus counter; empty: nothing of the pod tells.
  std::string format;
  // As the training prints them: of the whole run, or of an epoch where it counts by epochs.
  std::optional<int64_t> iteration;
  std::optional<int64_t> total;
  std::optional<double> epoch;
  std::optional<double> loss;
  // Iterations per second: in the last minute while it trained, and since the agent first looked
  // by the clock.
  std::optional<double> rate;
  std::optional<double> overall_rate;
  // Iterations done since the agent first looked; never falls. It starts anew with the agent.
  double iterations = 0;
  // When the newest of them was said to be done.
  std::optional<WallTime> last;
  // How long the training goes on at the present rate, where it says how much there is.
  std::optional<Duration> remaining;
  std::optional<CpuUse> cpu;  // none: the control group cannot be read
  std::optional<ProbeReading> probe;
  std::optional<MemoryUse> memory;  // none: nobody tells
  // When its log said last that a checkpoint is being written, or has been; none: it never did.
  std::optional<WallTime> checkpoint;
  // Only where `format` is empty; none: nobody knows how busy the GPUs are.
  std::optional<BusyEstimate> estimate;

  bool operator==(const PodProgress&) const = default;
};

// All that an agent knows at one moment.
struct NodeProgress {
  std::string node;
  WallTime since{};  // when the agent started: another one counts from the beginning
  WallTime at{};     // when it looked
  std::vector<PodProgress> pods;

  bool operator==(const NodeProgress&) const = default;
};

// What the controller knows of it.
struct KnownProgress {
  PodProgress pod;
  std::string node;
  WallTime since{};  // when the agent of the node started: it counts iterations from there
  WallTime at{};     // when the controller heard it
  Duration age{};    // how long ago that was when it was read

  bool operator==(const KnownProgress&) const = default;
};

struct ClusterProgress {
  std::vector<KnownProgress> pods;

  bool operator==(const ClusterProgress&) const = default;
};

}  // namespace synergy
