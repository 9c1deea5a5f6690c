#pragma once

// Decides what happens to the places of lost gang members (cluster/state/replacements.h). The watch
// shows that a pod is gone, but not why, so the API server is queried once about each pod. If the
// pod failed or was deleted, its place stays reserved for its replacement, and an event reports the
// reservation. If the pod succeeded, its place is released.
//
// Threading: one thread calls Look(). Failures: if the API server does not answer, the next Look()
// repeats the query. That does not extend the reservation of the place.

#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

class LostMembers {
 public:
  // All references must outlive this object.
  LostMembers(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
              const Clock& clock, Logger& log, metrics::ExtenderMetrics& metrics)
      : state_(state), pods_(pods), events_(events), clock_(clock), log_(log), metrics_(metrics) {}

  // Call it about every second. It queries the API server, for two seconds at most.
  void Look();

 private:
  // Returns whether the place is still reserved.
  bool Settle(const Reservation& place, const std::stop_token& stop);
  void ReportEnd(const Reservation& place);
  void RecordEvent(const Reservation& place, std::string_view type, std::string message);

  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  std::map<std::string, Reservation> held_;  // settled places, by UID, at the last look
};

}  // namespace synergy::extender
