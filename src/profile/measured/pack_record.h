#pragma once

// The result of running pods of two workloads on one GPU at the same time
// (engine/sharing/packing.h). The controller keeps it in each workload's TrainingProfile for one
// GPU of the product, as status.packing. The measurements are in another member of the status, so
// that the writers of the two do not overwrite each other. Both workloads are of the profile's
// namespace: no record names a workload of another namespace.
//
// This file is separate because the profile, its text and the planner of packs share only these
// values.
//
// Threading: values.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/clock.h"

namespace synergy {

// The maximum number of records to keep and to read per profile; the newest ones are kept.
inline constexpr size_t kMostPackRecords = 64;
// A workload's name is a label's value.
inline constexpr size_t kLongestPackWorkload = 63;
// Limits a speed in a pack, relative to the speed alone.
inline constexpr double kMostPackSpeed = 10;
inline constexpr uint32_t kMostPackRefusals = 1'000'000;
// The longest time for which a refused pair is not tried again.
inline constexpr Duration kLongestPackRest = std::chrono::hours(4);

struct PackRecord {
  std::string with;  // the other workload, or the same one
  bool good = false;
  double speed = 0;        // of the profile's workload, relative to its speed alone
  double other_speed = 0;  // of the other
  uint32_t refusals = 0;   // consecutive; 0 if it is good
  WallTime at{};           // of the measurement; whole seconds
  Duration rest{};         // from `at`; whole seconds; 0 if it is good

  bool operator==(const PackRecord&) const = default;
};

}  // namespace synergy
