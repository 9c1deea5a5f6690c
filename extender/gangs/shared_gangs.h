#pragma once

// The gangs (engine/gangs/gangs.h) of which kube-scheduler's calls come beside each other, with the
// look at them every second.
//
// Threading: from any thread. Await blocks.

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/gangs/gangs.h"

namespace synergy::extender {

class SharedGangs {
 public:
  // As of Gangs.
  SharedGangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
              LocalityRules locality, const Clock& clock, Logger& log);

  GangVerdict Place(const Pod& pod, const AskedNodes& asked);
  // Returns when the pod may be bound to `node`, or may not.
  GangBindOutcome Await(const std::string& uid, const std::string& node);
  // The same for whoever waits by other means.
  std::shared_ptr<GangBind> BeginBind(const std::string& uid, const std::string& node);
  std::optional<GangBindOutcome> OutcomeOf(GangBind& bind);
  bool YieldTo(const Pod& pod, const AskedNodes& asked);
  bool LearnSucceeded(const Pod& pod, size_t members);
  void Look();
  void Stop();
  GangCounts Count() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  Gangs gangs_;
};

}  // namespace synergy::extender
