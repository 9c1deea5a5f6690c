#pragma once

// Keeps the labels of this program's Node, and its annotation synergy.io/gpu-inventory, up to date;
// patches the Node only if they are outdated. Reads the Node before each patch and at long
// intervals, so that labels of other writers are left alone, and lost labels are restored.
//
// Threading: it has its own thread; any thread may call Publish. Failures: logged if the message
// changes, and retried after 1 to 60 s.

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "deviceplugin/sources/inventory_monitor.h"
#include "kube/apis/node_api.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

struct NodePublisherOptions {
  std::string node;
  bool labels = true;  // false: remove the program's labels
  std::chrono::milliseconds verify_interval{600000};
};

class NodePublisher {
 public:
  // References must outlive the publisher.
  NodePublisher(kube::NodeApi& api, NodePublisherOptions options, const Clock& clock, Logger& log,
                metrics::DeviceMetrics& metrics);
  ~NodePublisher();

  void Publish(std::shared_ptr<const Picture> picture);
  void SetLabels(bool labels);

 private:
  void Run(const std::stop_token& stop);
  // Returns whether the Node had to be patched.
  Result<bool> Settle(const Picture& picture, bool labels, const std::stop_token& stop);

  kube::NodeApi& api_;
  const NodePublisherOptions options_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::shared_ptr<const Picture> picture_;
  bool labels_;
  uint64_t version_ = 0;
  std::jthread thread_;
};

}  // namespace synergy::deviceplugin
