#pragma once

// Writes on pods how much memory they have in use, without making its caller wait.
//
// Threading: Write() from any thread; one thread of its own, which makes the calls.
// Failures: tried again every two seconds while nothing newer is to be said; what the API server
// refuses is dropped. Either is counted and logged.

#include <condition_variable>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "cluster/fungible.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/pod_api.h"
#include "metrics/node_agent_metrics.h"

namespace synergy::nodeagent {

class ReadingWriter {
 public:
  virtual ~ReadingWriter() = default;
  // In place of an earlier one of the pod that has not been written yet.
  virtual void Write(const kube::PodIdentity& pod, const MemoryReading& reading) = 0;
};

class ApiReadingWriter final : public ReadingWriter {
 public:
  // All references outlive this.
  ApiReadingWriter(kube::ApiClient& client, const Clock& clock, Logger& log,
                   metrics::NodeAgentMetrics& metrics);
  ~ApiReadingWriter() override;

  void Write(const kube::PodIdentity& pod, const MemoryReading& reading) override;

 private:
  struct Item {
    kube::PodIdentity pod;
    MemoryReading reading;
  };

  void Run(const std::stop_token& stop);
  // Whether it is done with.
  bool Send(const Item& item, const std::stop_token& stop);

  kube::ApiClient& client_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Item> waiting_;  // by uid
  std::jthread thread_;
};

}  // namespace synergy::nodeagent
