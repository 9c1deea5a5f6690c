#pragma once

// The current GPU reservations, as the controller wrote them on the jobs' pods
// (docs/internals/reservations.md), and the longest run times of waiting pods.
//
// Threading: any thread. Failures: a reservation that is unreadable or has expired does not count.

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/reservations/passing_check.h"
#include "kube/reflector.h"
#include "wire/pods/gpu_reservation.h"

namespace synergy::extender {

class ReservedGpus final : public kube::ObjectStore<wire::PodTimes> {
 public:
  // Both arguments must outlive this object.
  ReservedGpus(const ClusterState& state, const Clock& clock) : state_(state), clock_(clock) {}

  // Take the reports of a watch of pods without a node.
  void Replace(std::vector<wire::PodTimes> all) override;
  void Upsert(wire::PodTimes pod) override;
  void Remove(const wire::PodTimes& pod) override;

  // Returns the terms that decide whether the pod may go to reserved GPUs; nullopt if no GPUs are
  // reserved, or reservations do not concern the pod. `longest_run` returns the pod's longest run
  // time by its own deadline (PodTimes::longest).
  std::optional<PassingTerms> TermsFor(
      const Pod& pod, const std::function<std::optional<Duration>()>& longest_run) const;
  size_t count() const;

 private:
  // REQUIRES: mutex_ is held, for both functions.
  void Forget(const std::string& uid);
  // Returns the reservations that have not expired, by job.
  std::map<std::string_view, const PublishedReservation*> Holding(WallTime now) const;

  const ClusterState& state_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, PublishedReservation> reservations_;  // by the pod's UID
  std::map<std::string, Duration> longest_;                   // by the pod's UID
};

}  // namespace synergy::extender
