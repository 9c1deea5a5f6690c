#pragma once

// Publishes, in one ConfigMap that the extender watches, the nodes that jobs' next attempts avoid
// (engine/retries/avoided_nodes.h), and records an event on each job.
//
// A new leader adds to what the previous one published. It decides again about recent failures
// (retry_keeper.h); decisions that are already published change nothing and create no second event.
//
// Bounds: at most AvoidedNodes::kMost decisions wait; the ConfigMap is written at most every
// kInterval.
//
// Threading: one owner. Failures: a failed call is repeated after kPause; a decision waits until it
// is published or expires. If another client changes the ConfigMap, it is read again.

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
#include "kube/apis/failures/retry_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class ElsewhereKeeper {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(2);
  static constexpr Duration kPause = std::chrono::seconds(5);

  // `may_act`: returns whether this process leads. All references must outlive this object.
  ElsewhereKeeper(kube::RetryApi& api, kube::EventRecorder& events, std::function<bool()> may_act,
                  const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  // Call it when this process begins to lead.
  void StartOver();
  // Adds nodes to avoid; `event` is recorded once they are published. REQUIRES: `nodes` is not
  // empty.
  void Add(std::vector<AvoidedNode> nodes, kube::EventRecord event);
  // Publishes the added nodes. Call it about every second.
  void Publish(const std::stop_token& stop);

 private:
  struct Decided {
    std::vector<AvoidedNode> nodes;
    kube::EventRecord event;
    bool is_new = false;  // it was not published when this process first tried
  };

  Result<> TryToPublish(const std::stop_token& stop);
  // Counts the entries in force, as far as this process has published or read them.
  void Count() const;

  kube::RetryApi& api_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  std::deque<Decided> decided_;                     // decisions that are not published yet
  std::optional<PublishedAvoidedNodes> published_;  // as stored; absent: unknown
  Instant due_ = Instant::min();
  std::optional<ErrorCode> error_;  // the last call's error, if it failed
};

}  // namespace synergy::controller
