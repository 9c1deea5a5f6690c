#pragma once

// Answers admission reviews, and determines the gang sizes that they need. On the leader, it also
// gives amounts to pods that admission could not size, and reports admission's warnings as events
// on the pods.
//
// Threading: one owner constructs, starts and stops it; it has its own thread.

#include <memory>

#include "admission/admission.h"
#include "config/controller_config.h"
#include "controller/admission/admission_warnings.h"
#include "controller/admission/deferred_sizing.h"
#include "controller/admission/gang_owners.h"
#include "controller/admission/webhook.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/reflector.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

// Returns a server for reviews that is not started yet; kInvalid if the address or the files are
// unusable. `metrics` and `log` must outlive it.
Result<std::unique_ptr<http::Server>> MakeWebhookServer(const config::ControllerConfig& config,
                                                        metrics::ControllerMetrics& metrics,
                                                        Logger& log);

class AdmissionUnit {
 public:
  // Adds its routes to `server`, which may serve only while this object lives. `quick_client` must
  // answer within a review's deadline. All references must outlive this object.
  AdmissionUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
                kube::ApiClient& quick_client, kube::PodApi& pod_api, kube::EventRecorder& events,
                const Leadership& leadership, http::Server& server, const Clock& clock, Logger& log,
                metrics::ControllerMetrics& metrics);

  const AdmissionSettings& settings() const { return settings_; }
  // Returns the store for the watch of pods. It forwards pods to the cluster's store.
  kube::ObjectStore<Pod>& pods() { return warnings_; }

  void Start() { sizing_.Start(); }
  void Stop() { sizing_.Stop(); }

 private:
  const AdmissionSettings settings_;
  GangOwners gang_owners_;
  Webhook webhook_;
  AdmissionWarnings warnings_;
  DeferredSizing deferred_;
  LeaderLoop sizing_;
};

}  // namespace synergy::controller
