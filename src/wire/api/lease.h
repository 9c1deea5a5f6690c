#pragma once

// coordination.k8s.io/v1 Lease: who leads, and until when.
//
// Threading: pure.

#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::wire {

struct Lease {
  std::string holder;  // empty: nobody
  std::chrono::seconds duration{0};
  std::string renewed;           // renewTime as written: it only matters whether it changes
  std::string resource_version;  // of the object read
  int64_t transitions = 0;
};

Result<Lease> ReadLease(std::string_view text);

// The body that makes it (POST), and the merge patch that changes it, which the API server refuses
// (409) when somebody has changed it since `seen`. An empty holder gives the lease up.
std::string WriteNewLease(const std::string& name, const std::string& holder,
                          std::chrono::seconds duration, WallTime now);
std::string WriteLeaseChange(const Lease& seen, const std::string& holder,
                             std::chrono::seconds duration, WallTime now);

}  // namespace synergy::wire
