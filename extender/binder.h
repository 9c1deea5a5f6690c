#pragma once

// Binds pods: assume, set the pod's own allocation, POST the Binding, and find out what became of
// it.
//
//   Assume fails          -> as it is, without an allocation; that fails too: error, nothing sent
//   no allocation         -> refused by a quota or a limit: bound as it is; else forgotten, error
//   2xx                   -> bound; the watch confirms
//   a definite refusal    -> forgotten, error
//   no certain answer     -> the API server is asked: on our node: bound; elsewhere: forgotten,
//   error;
//                            not bound or no answer: error, but the place stays assumed until its
//                            deadline, because the Binding may still be on its way
//
// Threading: Bind and SettleExpired from any threads.
// Failures: an Error's message is what kube-scheduler shows in the pod's event.

#include <chrono>
#include <string>

#include "cluster/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "extender/allocations.h"
#include "json/extender_messages.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

class Binder {
 public:
  // All references outlive the binder.
  Binder(ClusterState& state, kube::ApiClient& client, const json::ObjectReader& reader,
         Allocations& allocations, const Clock& clock, Logger& log,
         metrics::ExtenderMetrics& metrics, std::chrono::milliseconds assume_timeout);

  // `request_id` goes into the log lines.
  Result<> Bind(const json::BindingArgs& args, const std::string& request_id);

  // For every assumed pod past its deadline, asks the API server what became of it; drops stale
  // expectations. To be called every second or so.
  void SettleExpired();

 private:
  AssumeOutcome Assume(const Pod& pod, const json::BindingArgs& args);
  // What the API server says after a Binding whose fate is not known.
  Result<> Settle(const json::BindingArgs& args, const Error& error);
  Result<> Refuse(const json::BindingArgs& args, std::string_view outcome, Error error);

  ClusterState& state_;
  kube::ApiClient& client_;
  const json::ObjectReader& reader_;
  Allocations& allocations_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const std::chrono::milliseconds assume_timeout_;
};

}  // namespace synergy::extender
