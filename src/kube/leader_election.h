#pragma once

// One leader among replicas, by a Lease, as client-go's leader election does it: a lease that was
// not renewed for its duration, by our own clock, is anybody's; who cannot renew in time stops
// leading before others may start.
//
// Threading: one thread of its own, which makes all calls; IsLeader() from any thread.
// Failures: whatever goes wrong is tried again; meanwhile a leader leads until its renewal is
// overdue. The lease is given up on destruction, so that a successor need not wait.

#include <chrono>
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
  Duration renew_deadline = std::chrono::seconds(6);  // less than the lease's duration
  Duration retry = std::chrono::seconds(2);
};

class LeaderElection {
 public:
  // All references outlive this.
  static std::unique_ptr<LeaderElection> Start(ApiClient& client, const Clock& clock, Logger& log,
                                               LeaderElectionOptions options);
  virtual ~LeaderElection() = default;

  virtual bool IsLeader() const = 0;
  // When somebody, we or another one, was last known to lead; the clock's beginning: never.
  virtual Instant LedLast() const = 0;
};

}  // namespace synergy::kube
