#pragma once

// A GPU reservation as the programs exchange it: with wall-clock times and an expiry. The
// controller renews the reservation while it is in force. If the controller is down, the
// reservation expires, so that it delays no pod for longer than kLifetime.
//
// Threading: values; pure.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy {

struct PublishedReservation {
  static constexpr Duration kLifetime = std::chrono::minutes(10);
  static constexpr size_t kMostAwaited = 64;  // limit on `waits_for`; further jobs are omitted

  std::string job;  // JobOf() of its pods
  int32_t priority = 0;
  std::vector<GpuReservation::Place> places;
  // The range of the start, as in TimeRange.
  WallTime earliest{};
  WallTime likely{};
  WallTime latest{};
  std::vector<std::string> waits_for;
  WallTime until{};  // when it expires

  bool operator==(const PublishedReservation&) const = default;
};

// Returns the reservation as of now, with its full lifetime.
PublishedReservation Publish(const GpuReservation& reservation, Moment at);
// Returns the reservation with times of this process's monotonic clock. Its product is unknown.
GpuReservation ToReservation(const PublishedReservation& published, Moment at);

// Returns text such as "14:20 UTC", with the date if it is not today.
std::string ToClockText(WallTime time, WallTime now);
// Returns text such as "gpu-3" or "gpu-1, gpu-2 and 6 more".
std::string DescribeNodes(const std::vector<GpuReservation::Place>& places);
// Returns text such as "starts about 14:20 UTC (13:50 UTC to 15:10 UTC) on gpu-3, when team/a and
// team/b are done".
std::string DescribeStart(const PublishedReservation& reservation, WallTime now);

}  // namespace synergy
