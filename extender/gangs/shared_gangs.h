#pragma once

// Guards Gangs (engine/gangs/gangs.h) with a mutex, for concurrent calls of kube-scheduler.
//
// Threading: any thread. Only Await blocks. See Gangs for the functions without comments.

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
  // The arguments are those of Gangs.
  SharedGangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
              LocalityRules locality, const Clock& clock, Logger& log);

  GangVerdict Place(const Pod& pod, const AskedNodes& asked, const NodeSet& avoided,
                    const OpenGpus& open);
  // Blocks until it is decided whether the pod may be bound to `node`.
  GangBindOutcome Await(const std::string& uid, const std::string& node);
  // Do the same without blocking: OutcomeOf() returns nullopt until the outcome is known.
  std::shared_ptr<GangBind> BeginBind(const std::string& uid, const std::string& node);
  std::optional<GangBindOutcome> OutcomeOf(GangBind& bind);
  bool YieldTo(const Pod& pod, const AskedNodes& asked);
  bool NoteSucceeded(const Pod& pod, size_t members);
  void Resume();
  void Look();
  void Stop();
  GangCounts Count() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  Gangs gangs_;
};

}  // namespace synergy::extender
