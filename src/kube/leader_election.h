#pragma once

// Elects one leader among replicas by a Lease, like client-go. Any replica may take a lease that
// was not renewed for the lease's duration, by the replica's own clock. A leader that cannot renew
// in time stops leading before another replica may start.
//
// Threading: a thread of the election makes all calls; any thread may read the state. Failures:
// every failure is retried; meanwhile a leader keeps leading until its renewal is overdue. The
// destructor releases the lease, so that another replica can lead at once.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"

namespace synergy::kube {

struct LeaderElectionOptions {
  std::string lease_namespace;
  std::string name;
  std::string identity;
  std::chrono::seconds lease_duration{10};
  Duration renew_deadline = std::chrono::seconds(6);  // less than the duration of the lease
  Duration retry = std::chrono::seconds(2);
};

class LeaderElection {
 public:
  // All references must outlive this object.
  static std::unique_ptr<LeaderElection> Start(ApiClient& client, const Clock& clock, Logger& log,
                                               LeaderElectionOptions options);
  virtual ~LeaderElection() = default;

  virtual bool IsLeader() const = 0;
  // Returns when any replica, including this one, was last known to lead; Instant() if never.
  virtual Instant LedLast() const = 0;
  // Returns how many times this replica has taken the lease. While the number stays the same, no
  // other replica has led, even if this one could not renew the lease in time.
  virtual uint64_t Terms() const = 0;
};

}  // namespace synergy::kube
