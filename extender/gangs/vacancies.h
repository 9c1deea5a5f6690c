#pragma once

// What becomes of the places that members of gangs have left vacant
// (cluster/state/vacant_places.h). The watch says that a pod is gone, not why: the API server is
// asked once about each. The place of one that has failed, or was deleted, stays held for its
// replacement, which an event tells; that of one that has succeeded is given back.
//
// Threading: one thread calls Look(); the functions are pure. Failures: where the API server does
// not answer it is asked again at the next look, and the place is held no longer for it.

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

class Vacancies {
 public:
  // All references outlive this.
  Vacancies(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
            const Clock& clock, Logger& log, metrics::ExtenderMetrics& metrics)
      : state_(state), pods_(pods), events_(events), clock_(clock), log_(log), metrics_(metrics) {}

  // To be called every second or so. Talks to the API server, for two seconds at most.
  void Look();

 private:
  // Whether the place is still held.
  bool Settle(const VacantPlace& place, const std::stop_token& stop);
  void TellEnd(const VacantPlace& place);
  void Tell(const VacantPlace& place, std::string_view type, std::string message);

  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  std::map<std::string, VacantPlace> held_;  // by uid; settled, at the last look
};

// Places whose pods would have to come no more for `pod` to fit on the node, on which it does not
// fit now: few, and of low priority first; none where that would not be enough.
std::vector<VacantPlace> VacantInTheWay(const Pod& pod, const NodeState& node,
                                        std::vector<VacantPlace> places);
// Whether the pod may have them: its priority is higher than that of all who left them.
bool YieldTo(const Pod& pod, const std::vector<VacantPlace>& places);

}  // namespace synergy::extender
