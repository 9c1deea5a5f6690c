#pragma once

// Reads the counters of the node's storage periodically: of all pods together, and of the training
// containers of managed pods (docs/internals/storage.md).
//
// A look takes two file reads for each of those containers, and where their processes can be seen
// one more for each process.
//
// Threading: Look by one thread, the rest by any.
// Failures: what cannot be read is counted, and logged if it is new; figures stay unknown.

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

  // References outlive the keeper, and so does `divider`; null: storage is not divided.
  StorageKeeper(const NodePods& pods, const KernelFolders& folders,
                const std::string& kubelet_cgroup_root, StorageDivider* divider, const Clock& clock,
                Logger& log, metrics::NodeAgentMetrics& metrics);

  void Look();

  // Return the figures as of the last look. By pod uid.
  std::map<std::string, StorageUse> Uses() const;
  metrics::StorageGauges Gauges() const;

 private:
  Result<std::map<std::string, IoCount>> ReadAllPods() const;
  Result<std::map<std::string, IoCount>> ReadDisks(const std::string& folder) const;
  // Returns nullopt if the container has none, or has ended.
  std::optional<ContainerIo> ReadContainer(const wire::ResizeStatus& pod,
                                           const wire::ResizeStatus::Container& container);
  // Sets and removes caps by these reads, and notes those in force.
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

  // Used only by the thread that looks.
  GroupReads reads_;
  StorageMeter meter_;
  std::string problem_;

  mutable std::mutex mutex_;
  std::map<std::string, StorageUse> uses_;
  metrics::StorageGauges gauges_;
};

}  // namespace synergy::nodeagent
