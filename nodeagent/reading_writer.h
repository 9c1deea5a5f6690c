#pragma once

// Records on pods, without blocking the caller, how much memory they use and whether their devices
// survive a resize.
//
// Threading: any thread may call Write(); its own thread makes the calls. Failures: a failed write
// is retried every two seconds until there is a newer reading. A write that the API server rejects
// is dropped. Retries and drops are counted and logged.

#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "cluster/managed_container.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/apis/pod_api.h"
#include "metrics/node_agent_metrics.h"

namespace synergy::nodeagent {

class ReadingWriter {
 public:
  virtual ~ReadingWriter() = default;
  // Replaces an earlier reading of the pod that has not been written yet.
  virtual void Write(const kube::PodIdentity& pod, const MemoryReading& reading) = 0;
  virtual void Write(const kube::PodIdentity& pod, const DeviceReading& reading) = 0;
};

class ApiReadingWriter final : public ReadingWriter {
 public:
  // All references must outlive this object.
  ApiReadingWriter(kube::ApiClient& client, const Clock& clock, Logger& log,
                   metrics::NodeAgentMetrics& metrics);
  ~ApiReadingWriter() override;

  void Write(const kube::PodIdentity& pod, const MemoryReading& reading) override;
  void Write(const kube::PodIdentity& pod, const DeviceReading& reading) override;

 private:
  struct Item {
    kube::PodIdentity pod;
    std::string_view annotation;
    std::string value;
  };

  void Put(Item item);
  void Run(const std::stop_token& stop);
  // Returns whether no retry is needed.
  bool Send(const Item& item, const std::stop_token& stop);

  kube::ApiClient& client_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::pair<std::string, std::string_view>, Item> waiting_;  // by uid and annotation
  std::jthread thread_;
};

}  // namespace synergy::nodeagent
