#pragma once

// The annotation in which the controller passes GPU reservations to the extender
// (docs/internals/reservations.md), and other facts about a pod that GPU reservations need. A
// separate watch reads both, only if reservations are enabled.
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "engine/reservations/published_reservation.h"

namespace synergy::wire {

// Returns the annotation's value.
std::string WriteGpuReservation(const PublishedReservation& reservation);
// Returns nullopt if the text is too long, or WriteGpuReservation() cannot have written it.
std::optional<PublishedReservation> ReadGpuReservation(std::string_view text);

// A pod's times, which determine when its GPUs become free, and its reservation.
struct PodTimes {
  std::string uid;
  std::string owner;  // the UID of its controller, such as a Job; empty: it has none
  // How long the pod runs at most: spec.activeDeadlineSeconds plus the grace period.
  std::optional<Duration> longest;
  // How long the pod probably runs at most, from the annotation that Synergy writes on pods that it
  // manages.
  std::optional<Duration> learnt;
  // How long the pod runs according to its user's estimate; more than zero.
  std::optional<Duration> expected;
  std::optional<WallTime> started;  // when the kubelet began to count
  bool succeeded = false;
  // From the annotation that Synergy writes on pods that it manages, even if it has expired.
  std::optional<PublishedReservation> reservation;

  const std::string& Key() const { return uid; }
  // Returns the lesser of `longest` and `learnt`.
  std::optional<Duration> Bound() const;
};

// Returns the value of the annotation synergy.io/longest-run.
std::string WriteLongestRun(Duration learnt);

// Returns the deadline of a Pod object plus its grace period; nullopt if there is no deadline, or
// the text is not a Pod.
std::optional<Duration> ReadLongestRun(std::string_view pod);
// Returns the reservation of a Pod object, as in PodTimes.
std::optional<PublishedReservation> ReadReservationOf(std::string_view pod,
                                                      const std::string& scheduler_name);

}  // namespace synergy::wire
