#pragma once

// Every metric of the tuner. tuner_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread.

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

  // Counts changes of pods' amounts; `kind` is that of ChangeRecord.
  void CountChange(std::string_view kind);
  // Counts failed changes: "refused" by the API server, "no_room" any more, "deferred" or
  // "infeasible" by the kubelet, "timeout".
  void CountFailure(std::string_view reason);
  // Counts how reservations for waiting pods ended: "bound", "given_up", "pod_gone".
  void CountKeptPlace(std::string_view outcome);
  // Observes the time from a pod's condition Unschedulable to the first patch that makes room for
  // it.
  void ObserveReclaimDelay(Duration delay);
  // Counts pods that the tuner begins to leave alone: "by_hand", "profile_changed", "profile_gone".
  void CountRespected(std::string_view reason);
  // Counts pods with an OOM kill of a container, or an eviction for memory, soon after a change of
  // their memory: "oom_killed", "evicted".
  void CountMemoryKill(std::string_view reason);
  void CountRound();
  void SetLeader(bool leader);
  void SetUnderWay(size_t changes, size_t kept_places);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
