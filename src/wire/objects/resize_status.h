#pragma once

// A pod as the node agent sees it: the memory limits that are being changed, how far the kubelet
// has come, and where to read the pod's progress.
//
// Threading: values. Read by ObjectReader (objects.h).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/managed_container.h"
#include "core/clock.h"
#include "core/units.h"

namespace synergy::wire {

enum class QosClass : uint8_t { kGuaranteed, kBurstable, kBestEffort };

struct ResizeStatus {
  struct Container {
    std::string name;
    std::string id;                     // "containerd://90d9..."; empty: not started yet
    std::optional<Bytes> memory_limit;  // of the spec; none: no limit
    std::optional<Bytes> memory_limit_in_force;
    int32_t restarts = 0;
    // The last run that has ended, and its exit code: `restarts`, or the one before if the
    // container runs again. nullopt: none has ended.
    std::optional<int32_t> ended_run;
    int32_t exit_code = 0;
    bool running = false;
    // The least time after which a probe that needs its processes fails if they stop: exec, HTTP
    // and gRPC probes, no TCP probes. nullopt: it has none.
    std::optional<Duration> probe_patience;
  };
  // Where to read the pod's progress, according to its author.
  struct ProgressSource {
    std::string pattern;           // of log lines, a regular expression; empty: the shipped ones
    std::string counter;           // of a Prometheus endpoint; empty: none
    std::optional<uint16_t> port;  // of that endpoint; none: not given or invalid
    std::string path = "/metrics";
    bool file = false;  // the pod has a volume in which the training writes a file

    bool operator==(const ProgressSource&) const = default;
  };
  // A condition that is True.
  struct Condition {
    std::string reason;
    std::string message;
  };

  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::string node;
  int64_t generation = 0;
  QosClass qos_class = QosClass::kBestEffort;
  // Synergy divides its CPU and memory: it has the annotation synergy.io/profile or
  // synergy.io/demand.
  bool managed = false;
  // Other pods of the node may give up memory for it: it has GPUs and our schedulerName. The
  // annotations do not suffice, because any user who creates pods can write them.
  bool has_share = false;
  bool terminal = false;
  bool deleting = false;
  bool disrupted = false;  // about to be evicted: condition DisruptionTarget
  // GPUs that it has in turns with other pods (cluster/gpu_turn.h).
  int64_t gpus_in_turns = 0;
  bool in_gang = false;
  // The author allows suspensions that may hurt it: annotation synergy.io/suspend.
  bool allows_suspension = false;
  // The containers, and the init containers that keep running beside them.
  std::vector<Container> containers;
  std::optional<Condition> resize_in_progress;       // the kubelet has accepted the change
  std::optional<Condition> resize_pending;           // the kubelet defers or refuses it
  std::shared_ptr<const ManagedContainer> fungible;  // null: Synergy may not change the pod
  ProgressSource progress;
  std::string ip;          // empty: none, or the node's
  std::string pod_ip;      // status.podIP, the node's among them
  std::string daemon_set;  // the DaemonSet that controls it; empty: none
  // Storage that other pods of the node may read, too: "claim team/data", "/mnt/data".
  std::vector<std::string> storage;

  std::string Key() const { return pod_namespace + "/" + name; }
};

// A pod as its HTTP clients see it: where it runs and whether it is ready.
struct AgentPod {
  std::string uid;
  std::string node;     // empty: none yet
  std::string address;  // status.podIP; empty: none yet
  bool ready = false;   // and not being deleted
};

}  // namespace synergy::wire
