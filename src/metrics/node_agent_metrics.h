#pragma once

// Every metric of synergy-node-agent. node_agent_metrics.cc alone defines names, labels and units;
// docs/internals/node-agent.md lists them.
//
// Threading: any thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "metrics/gpu_metrics.h"

namespace synergy::metrics {

// The progress of a pod's training.
struct PodProgressGauge {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::string format;
  double iterations = 0;  // since the agent's first reading
  std::optional<double> rate;
  std::optional<Duration> remaining;
  std::optional<double> done;  // fraction of the training, or of its epoch
  // Set if the agent can read the values. They are the peak of the processes' memory, the page
  // cache, bytes returned by read calls, bytes from storage, and the time for which a thread waited
  // for storage (absent: unknown).
  struct Memory {
    Bytes process;
    Bytes cache;
    double read = 0;
    double fetched = 0;
    std::optional<Duration> starved;
  };
  std::optional<Memory> memory = std::nullopt;
};

// Counts for a pod that reports no iterations.
struct PodBusyCounter {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  double seconds = 0;  // busy time of its GPUs since the agent's first reading
};

// Reads of pods from the node's disks.
struct StorageGauges {
  struct Disk {
    std::string device;
    double read = 0;                  // bytes, by all pods
    std::optional<double> bandwidth;  // bytes per second; nullopt: unknown
    std::optional<Duration> waited;   // how long a managed pod waited for it; nullopt: unknown
  };
  struct Pod {
    std::string pod_namespace;
    std::string pod;
    std::string container;
    std::string device;
    double read = 0;                           // bytes since the container started
    std::optional<double> cap = std::nullopt;  // allowed bytes per second; nullopt: no limit
  };
  std::vector<Disk> disks;
  std::vector<Pod> pods;
};

// Read at each scrape.
struct NodeAgentGauges {
  uint64_t watched_pods = 0;         // on the node
  uint64_t shrinks_in_progress = 0;  // pods whose memory is kept below a new limit
  uint64_t kept_pods = 0;            // pods whose page cache is limited to their shares
  bool node_short = false;
  std::vector<PodProgressGauge> progress;  // of pods that report it
  std::vector<PodBusyCounter> busy;        // of pods that do not
  StorageGauges storage;
  GpuGauges gpus;  // set if another component offers the GPUs
  uint64_t dropped_events = 0;
  bool synced = false;
  Duration staleness{};  // since the last message from the API server
  uint64_t watch_errors = 0;
  bool ready = false;
};

class NodeAgentMetrics {
 public:
  NodeAgentMetrics();
  ~NodeAgentMetrics();

  // Counts page cache returned to the kernel, and the time that it took.
  void CountRelease(Bytes released, Duration duration);
  // Counts the outcome of a shrink, `duration` after it was first seen: "completed", "withdrawn",
  // "stuck", "given_up".
  void CountShrink(std::string_view outcome, Duration duration);
  // Counts page cache that was dropped because it exceeded a share.
  void CountDrop(Bytes dropped);
  // Counts slowdowns of dropping, by reason: "pressure", "refaults", "in_vain".
  void CountBrake(std::string_view reason);
  // Counts writes of memory use into pods' annotations: "written", "failed".
  void CountReading(std::string_view outcome);
  // Counts the outcome of a probe: "done", "ended_early", "wiped", "refused".
  void CountProbe(std::string_view outcome);
  // Counts a suspension of a pod when it ends.
  void CountSuspended(Duration duration);
  // Counts a suspension of a pod in favor of the pods that share its GPU. `in_time`: within a
  // second.
  void CountSwitch(bool in_time);
  // Counts pods that are not suspended, by reason: "deleting", "disrupted", "several_gpus",
  // "probes", "cpu_probe", "off", "no_freezer", "failed".
  void CountTurnRefusal(std::string_view reason);
  // `reason` is one of a few fixed words.
  void CountError(std::string_view reason);

  // Each scrape calls `read`; set it before the first.
  void SetGauges(std::function<NodeAgentGauges()> read);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
