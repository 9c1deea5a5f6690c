#pragma once

// Publishes the nodes that the next attempts of jobs avoid (engine/retries/avoided_nodes.h), in one
// ConfigMap that the extender watches, and records an event on each job.
//
// A new leader adds to what the last one published. It decides again about recent failures
// (retry_keeper.h), and what is published already changes nothing and makes no second event.
//
// Bounds: AvoidedNodes::kMost decisions wait; the ConfigMap is written at most every kInterval.
//
// Threading: one owner.
// Failures: a failed call is repeated after kPause; a decision waits until it is published or
// lapses. If another client has changed the ConfigMap, it is read again.

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/retries/avoided_nodes.h"
#include "kube/apis/events.h"
#include "kube/apis/retry_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class ElsewhereKeeper {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);
  static constexpr Duration kPause = std::chrono::seconds(5);

  // `may_act`: whether this process leads. All references outlive this.
  ElsewhereKeeper(kube::RetryApi& api, kube::EventRecorder& events, std::function<bool()> may_act,
                  const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  // This process leads from now on.
  void StartOver();
  // These nodes are to be avoided; `event` is recorded once they are published. REQUIRES: `nodes`
  // is not empty.
  void Add(std::vector<AvoidedNode> nodes, kube::EventRecord event);
  // Publishes what was added. Call it about every second.
  void Publish(const std::stop_token& stop);

 private:
  struct Decided {
    std::vector<AvoidedNode> nodes;
    kube::EventRecord event;
    bool is_new = false;  // was not published when this process first tried
  };

  Result<> TryToPublish(const std::stop_token& stop);
  // Counts what is in force, as far as this process has published or read it.
  void Count() const;

  kube::RetryApi& api_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  std::deque<Decided> decided_;                     // and not published yet
  std::optional<PublishedAvoidedNodes> published_;  // as stored; none: unknown
  Instant due_ = Instant::min();
  std::optional<ErrorCode> error_;  // of the last call, if it failed
};

}  // namespace synergy::controller
