#pragma once

// Writes on pods how much memory they have in use, and whether their devices outlast a resize,
// without making its caller wait.
//
// Threading: Write() from any thread; one thread of its own, which makes the calls.
// Failures: tried again every two seconds while nothing newer is to be said; what the API server
// refuses is dropped. Either is counted and logged.

#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "cluster/fungible.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/apis/pod_api.h"
#include "metrics/node_agent_metrics.h"

namespace synergy::nodeagent {

class ReadingWriter {
 public:
  virtual ~ReadingWriter() = default;
  // In place of an earlier one of the pod that has not been written yet.
  virtual void Write(const kube::PodIdentity& pod, const MemoryReading& reading) = 0;
  virtual void Write(const kube::PodIdentity& pod, const DeviceReading& reading) = 0;
};

class ApiReadingWriter final : public ReadingWriter {
 public:
  // All references outlive this.
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
  // Whether it is done with.
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
