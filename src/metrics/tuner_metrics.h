#pragma once

// Every metric of the tuner. Names, labels and units are in tuner_metrics.cc and nowhere else;
// docs/metrics.md lists them for people.
//
// Threading: from any thread.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/clock.h"

namespace synergy::metrics {

class TunerMetrics {
 public:
  TunerMetrics();
  ~TunerMetrics();

  // A pod's amounts were changed; `kind` as in ChangeRecord.
  void CountChange(std::string_view kind);
  // A change that did not come about: "refused" by the API server, "no_room" any more, "deferred"
  // or "infeasible" by the kubelet, "timeout".
  void CountFailure(std::string_view reason);
  // How a place that was kept for a waiting pod ended: "bound", "given_up", "pod_gone".
  void CountKeptPlace(std::string_view outcome);
  // From a pod's condition Unschedulable to the first patch that makes room for it.
  void ObserveReclaimDelay(Duration delay);
  // A pod left alone from now on: "by_hand", "profile_changed", "profile_gone".
  void CountRespected(std::string_view reason);
  // A pod lost a container to want of memory, or was evicted for it, soon after a change of its
  // memory: "oom_killed", "evicted".
  void CountMemoryKill(std::string_view reason);
  void CountRound();
  void SetLeader(bool leader);
  void SetUnderWay(size_t changes, size_t kept_places);

  // The text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
