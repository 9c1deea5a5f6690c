#pragma once

// The parts of a pod that the node agent needs: changes of memory limits, the changes that the
// kubelet has applied, and the sources of the pod's progress.
//
// Threading: values. ObjectReader reads it (objects.h).

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
    std::optional<Bytes> memory_limit;  // from the spec; absent: no limit
    std::optional<Bytes> memory_limit_in_force;
    int32_t restarts = 0;
    // The last ended run, and its exit code: run `restarts`, or the previous one if the container
    // is running again; nullopt: none has ended.
    std::optional<int32_t> ended_run;
    int32_t exit_code = 0;
    bool running = false;
    // The shortest time after which a probe fails if the container's processes stop. nullopt: it
    // has no probe.
    std::optional<Duration> probe_patience;
  };
  // The author's settings for reading the pod's progress.
  struct ProgressSource {
    std::string pattern;           // a regular expression for log lines; empty: the shipped ones
    std::string counter;           // on a Prometheus endpoint; empty: none
    std::optional<uint16_t> port;  // of that endpoint; absent: missing or invalid
    std::string path = "/metrics";
    bool file = false;  // the pod has a volume for a file that the training writes

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
  // Whether Synergy divides the pod's CPU and memory: the pod has the annotation synergy.io/profile
  // or synergy.io/demand.
  bool managed = false;
  // Whether other pods of the node may give up memory for this pod: it has GPUs and our
  // schedulerName. The annotations do not suffice, because any user who creates pods can write
  // them.
  bool has_share = false;
  // Whether the pod has our schedulerName but no GPUs. Such a pod is a job's launcher or submitter,
  // whose log may show why the job failed.
  bool is_launcher = false;
  bool terminal = false;
  bool deleting = false;
  bool disrupted = false;  // about to be evicted: condition DisruptionTarget
  // Number of GPUs that the pod uses in turns with other pods (cluster/gpu_turn.h).
  int64_t gpus_in_turns = 0;
  bool in_gang = false;
  // Whether the author allows suspensions that may harm the pod (annotation synergy.io/suspend).
  bool allows_suspension = false;
  // The containers, and the init containers that keep running with them.
  std::vector<Container> containers;
  std::optional<Condition> resize_in_progress;       // the kubelet has accepted the change
  std::optional<Condition> resize_pending;           // the kubelet defers or refuses it
  std::shared_ptr<const ManagedContainer> fungible;  // null: Synergy may not change the pod
  ProgressSource progress;
  std::string ip;          // empty: none, or the node's
  std::string pod_ip;      // status.podIP, even if it is the node's
  std::string daemon_set;  // the controlling DaemonSet; empty: none
  // Storage that other pods of the node may also read: "claim team/data", "/mnt/data".
  std::vector<std::string> storage;

  std::string Key() const { return pod_namespace + "/" + name; }
};

// The parts of a pod that its HTTP clients need: its node, its address, and whether it is ready.
struct AgentPod {
  std::string uid;
  std::string node;     // empty: none yet
  std::string address;  // status.podIP; empty: none yet
  bool ready = false;   // ready and not being deleted
};

}  // namespace synergy::wire
