#pragma once

// A GPU reservation as the programs exchange it: with times that another machine can read, and an
// end. The controller renews it while it holds. If the controller is away, the reservation expires,
// so that it delays no pod for longer than kLifetime.
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
  static constexpr size_t kMostAwaited = 64;  // jobs that it names; more are left out

  std::string job;  // JobOf() its pods
  int32_t priority = 0;
  std::vector<GpuReservation::Place> places;
  // When it starts, as in TimeRange.
  WallTime earliest{};
  WallTime likely{};
  WallTime latest{};
  std::vector<std::string> waits_for;
  WallTime until{};  // when it expires

  bool operator==(const PublishedReservation&) const = default;
};

// Returns the reservation as of now, with its whole lifetime.
PublishedReservation Publish(const GpuReservation& reservation, Moment at);
// Returns it by the clock of this process. Its product is unknown.
GpuReservation ToReservation(const PublishedReservation& published, Moment at);

// Returns "14:20 UTC", with the date if that is not today's.
std::string ToClockText(WallTime time, WallTime now);
// Returns "gpu-3", or "gpu-1, gpu-2 and 6 more".
std::string DescribeNodes(const std::vector<GpuReservation::Place>& places);
// Returns "starts about 14:20 UTC (13:50 UTC to 15:10 UTC) on gpu-3, when team/a and team/b are
// done".
std::string DescribeStart(const PublishedReservation& reservation, WallTime now);

}  // namespace synergy
