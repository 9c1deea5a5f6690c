#pragma once

// Elects one leader among replicas by a Lease, like client-go: any replica may take a lease that
// was not renewed for its duration, by the local clock, and a leader that cannot renew in time
// stops leading before another may start.
//
// Threading: one thread of its own, which makes all calls; IsLeader() from any thread.
// Failures: every failure is retried; meanwhile a leader leads until its renewal is overdue.
// Destruction releases the lease, so that a successor need not wait.

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
  // All references outlive this object.
  static std::unique_ptr<LeaderElection> Start(ApiClient& client, const Clock& clock, Logger& log,
                                               LeaderElectionOptions options);
  virtual ~LeaderElection() = default;

  virtual bool IsLeader() const = 0;
  // When any replica, this one included, was last known to lead; the clock's beginning: never.
  virtual Instant LedLast() const = 0;
};

}  // namespace synergy::kube
