#pragma once

// coordination.k8s.io/v1 Lease: which process leads, and until when.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::wire {

struct Lease {
  std::string holder;  // empty: no leader
  std::chrono::seconds duration{0};
  std::string renewed;           // renewTime as written; only its changes matter
  std::string resource_version;  // of the object that was read
  int64_t transitions = 0;
};

Result<Lease> ReadLease(std::string_view text);

// Return the body that creates the Lease (POST), and the merge patch that changes it. The API
// server refuses the patch (409) if the Lease has changed since `seen`. An empty holder releases
// the Lease.
std::string WriteNewLease(const std::string& name, const std::string& holder,
                          std::chrono::seconds duration, WallTime now);
std::string WriteLeaseChange(const Lease& seen, const std::string& holder,
                             std::chrono::seconds duration, WallTime now);

}  // namespace synergy::wire
