#pragma once

// Collects facts about the node's GPUs from other components. The kubelet reports which container
// has which GPU. A DCGM exporter on the node reports how busy the GPUs are, and how much memory and
// power they use.
//
// An exporter must be a pod of a DaemonSet with a matching name in one of the configured
// namespaces. Labels are not enough: any user can give a pod an exporter's labels, but not every
// user can create a DaemonSet there. Reads of its page are limited in time and size. The names of
// pods on the page are only a hint (gpu_owners.h).
//
// The exporter repeats its figures until it refreshes them, so unchanged figures are one sample.
// The sample counts for the time since the previous one, and a report is as old as its sample.
//
// The exporter shows only the last Xid of each GPU. If a GPU's Xid differs from the one in the
// previous sample, it occurred after that sample. It is recorded with the previous sample's time.
//
// Threading: one thread calls Step; any thread may call the rest. Failures: counted, logged if they
// are new, and retried in the next step. Without a page for a minute, or for three intervals of the
// exporter, the known facts are dropped.

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "inventory/gpu_busy.h"
#include "inventory/gpu_xids.h"
#include "inventory/kubelet_device.h"
#include "metrics/gpu_metrics.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/gpus/dcgm_page.h"

namespace synergy::nodeagent {

struct ExporterRules {
  std::vector<std::string> namespaces;  // empty: no exporter is queried
  std::string daemon_set;               // a pattern with * and ?
  uint16_t port = 0;
  std::string path;
};

struct GpuFactsSources {
  // Gets a page of metrics (nodeagent/progress/metrics_page.h).
  std::function<Result<std::string>(const std::string& ip, uint16_t port, const std::string& path,
                                    const std::stop_token& stop)>
      read_page;
  std::function<Result<std::vector<DeviceOwner>>()> given;
  std::function<Result<std::vector<KubeletDevice>>()> offered;
};

// Returns the exporter's pod; null if there is none.
PodPointer FindExporter(const std::vector<PodPointer>& pods, const ExporterRules& rules);

class GpuFacts {
 public:
  // How often to step.
  static constexpr Duration kInterval = std::chrono::seconds(5);

  // References must outlive this object.
  GpuFacts(const NodePods& pods, ExporterRules rules, GpuFactsSources sources,
           std::string gpu_resource, std::string node, const Clock& clock, Logger& log,
           metrics::NodeAgentMetrics& metrics);

  // Reads the exporter's page once.
  void Step(const std::stop_token& stop);

  // Returns kNotFound if nothing is known.
  Result<NodeBusy> Busy() const;
  // Returns no GPUs if nothing is known.
  metrics::GpuGauges Gauges() const;

 private:
  // Stores a page's devices.
  void Take(std::vector<DcgmDevice> devices);
  // Records the Xids that have occurred since the previous sample.
  void NoteXids(const std::vector<DcgmDevice>& devices);
  void Publish();
  void Report(std::string_view reason, const std::string& message);

  const NodePods& pods_;
  const ExporterRules rules_;
  const GpuFactsSources sources_;
  const std::string gpu_resource_;
  const std::string node_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;

  // Only the thread that steps uses these.
  BusyMeter meter_;
  XidOwners xids_;
  std::vector<DcgmDevice> devices_;  // of the last page
  std::optional<Moment> sample_;     // when the exporter refreshed it
  Duration sample_interval_{};
  Instant page_at_{};
  std::set<std::string> problems_;

  mutable std::mutex mutex_;
  std::optional<NodeBusy> busy_;
  metrics::GpuGauges gauges_;
};

}  // namespace synergy::nodeagent
