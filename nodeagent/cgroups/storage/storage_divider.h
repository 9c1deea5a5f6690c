#pragma once

// Caps the rate at which pods read from a disk while other pods wait for it
// (allocation/storage/storage_caps.h), through io.max of their training containers' control groups.
// It works only with control groups v2, because v1 does not count waits. Writes are not capped.
//
// Each cap is a temporary write, which the guardian removes after at most two minutes (guardian.h).
// The divider renews it every minute.
//
// Threading: one owner. Failures: if a cap cannot be set, the failure is counted, logged if it is
// new, and retried.

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "allocation/storage/storage_caps.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/apis/events.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/cgroups/storage/block_devices.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Writes to a file for a limited time, as TemporaryWriter does (guardian.h).
struct TemporaryCaps {
  std::function<Result<>(const std::string& file, const std::string& text, Duration longest)> begin;
  std::function<Result<>(const std::string& file)> end;
};

class StorageDivider {
 public:
  static constexpr Duration kLongest = std::chrono::minutes(2);
  static constexpr Duration kRenewAfter = std::chrono::minutes(1);

  // References must outlive the divider.
  StorageDivider(const NodePods& pods, CgroupFolders folders, BlockDevices devices,
                 TemporaryCaps writes, const Clock& clock, Logger& log, kube::EventRecorder& events,
                 metrics::NodeAgentMetrics& metrics);

  // Sets and removes caps. `uses`: the figures of the look that ends now, by pod UID.
  void Divide(std::map<std::string, StorageUse> uses);

  struct CapInForce {
    std::string pod_namespace;
    std::string pod;
    std::string disk;
    double rate = 0;  // bytes per second
    std::string container_id;
    std::string file;
    Instant set{};
  };
  // Returns the caps by pod UID.
  const std::map<std::string, CapInForce>& in_force() const { return in_force_; }

 private:
  using PodsByUid = std::map<std::string, PodPointer>;

  void Set(const PodsByUid& pods, const std::string& uid, const StorageCap& cap,
           const std::map<std::string, StorageUse>& uses);
  Result<CapInForce> Write(const wire::ResizeStatus& pod, const StorageCap& cap);
  void End(const CapInForce& cap);
  void NoteProblem(const std::string& problem);

  const NodePods& pods_;
  const CgroupFolders folders_;
  const BlockDevices devices_;
  const TemporaryCaps writes_;
  const Clock& clock_;
  Logger& log_;
  kube::EventRecorder& events_;
  metrics::NodeAgentMetrics& metrics_;

  StorageCaps caps_;
  std::map<std::string, CapInForce> in_force_;
  std::string problem_;
};

}  // namespace synergy::nodeagent
