#pragma once

// A pod as the node agent sees it: whose memory limits are being changed and how far the kubelet
// has come, and where its progress is to be seen.
//
// Threading: values. Read by ObjectReader (objects.h).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/fungible.h"
#include "core/units.h"

namespace synergy::wire {

enum class QosClass : uint8_t { kGuaranteed, kBurstable, kBestEffort };

struct ResizeStatus {
  struct Container {
    std::string name;
    std::string id;                     // "containerd://90d9..."; empty: it has not been started
    std::optional<Bytes> memory_limit;  // asked for (spec); none: no limit
    std::optional<Bytes> memory_limit_in_force;
  };
  // Where the pod's author says that its progress is to be seen.
  struct ProgressSource {
    std::string pattern;           // of log lines, a regular expression; empty: the shipped ones
    std::string counter;           // of a Prometheus endpoint; empty: none
    std::optional<uint16_t> port;  // of that endpoint; none: not said, or no port
    std::string path = "/metrics";

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
  // Others of the node may pay for its memory: it is one of our scheduler's, with GPUs. Anybody who
  // creates pods can write the annotations.
  bool has_share = false;
  bool terminal = false;
  bool deleting = false;
  // Containers, and of the init containers those that go on running beside them.
  std::vector<Container> containers;
  std::optional<Condition> resize_in_progress;  // the kubelet has taken the change on
  std::optional<Condition> resize_pending;      // it does not, now or ever
  std::shared_ptr<const Fungible> fungible;     // null: nothing of the pod may be changed
  ProgressSource progress;
  std::string ip;  // empty: it has none, or the node's
  // Storage that other pods of the node may read, too: "claim team/data", "/mnt/data".
  std::vector<std::string> storage;

  std::string Key() const { return pod_namespace + "/" + name; }
};

}  // namespace synergy::wire
