#pragma once

// Periodically reads the counters of the node's storage: those of all pods together, and those of
// managed pods' training containers (docs/internals/storage.md).
//
// A look takes two file reads per container and, if its processes are visible, one more per
// process.
//
// Threading: one thread calls Look; any thread may call the rest. Failures: a failed read is
// counted, and logged if it is new; the figures stay unknown.

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/cgroups/group_reads.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/cgroups/storage/block_devices.h"
#include "nodeagent/cgroups/storage/storage_divider.h"
#include "nodeagent/cgroups/storage/storage_meter.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Where the kernel's files are mounted.
struct KernelFolders {
  std::string cgroup = "/sys/fs/cgroup";
  std::string proc = "/proc";
  std::string sys = "/sys";
};

class StorageKeeper {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(10);

  // References and `divider` must outlive the keeper; with a null `divider`, storage is not
  // divided.
  StorageKeeper(const NodePods& pods, const KernelFolders& folders,
                const std::string& kubelet_cgroup_root, StorageDivider* divider, const Clock& clock,
                Logger& log, metrics::NodeAgentMetrics& metrics);

  void Look();

  // Returns the figures of the last look, by pod UID.
  std::map<std::string, StorageUse> Uses() const;
  metrics::StorageGauges Gauges() const;

 private:
  Result<std::map<std::string, IoCount>> ReadAllPods() const;
  Result<std::map<std::string, IoCount>> ReadDisks(const std::string& folder) const;
  // Returns the container's counters; nullopt if it has none, or has ended.
  std::optional<ContainerIo> ReadContainer(const wire::ResizeStatus& pod,
                                           const wire::ResizeStatus::Container& container);
  // Sets and removes caps according to these reads, and records those in force.
  void Divide(std::map<std::string, StorageUse>& uses, metrics::StorageGauges& gauges);

  const NodePods& pods_;
  const bool v1_;
  const std::string hierarchy_;  // mount point of the controller of block devices
  const std::string kubelet_cgroup_root_;
  const CgroupFolders folders_;
  const BlockDevices devices_;
  StorageDivider* const divider_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;

  // Only the thread that looks uses these.
  GroupReads reads_;
  StorageMeter meter_;
  std::string problem_;

  mutable std::mutex mutex_;
  std::map<std::string, StorageUse> uses_;
  metrics::StorageGauges gauges_;
};

}  // namespace synergy::nodeagent
