#pragma once

// Drives the profiler (engine/profiler/profiler.h) in the cluster: lets it hear what node agents
// tell, has it decide, has the actions carried out and tells it what came of them.
//
// Threading: one owner.
// Failures: an action that fails is the profiler's to deal with: nothing is lost but time. Whoever
// leads next begins to measure anew; what was published stays, and a probe ends by itself.

#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>

#include "cluster/state/cluster_state.h"
#include "controller/profiles/contradiction_watch.h"
#include "controller/profiling/profiling_actions.h"
#include "controller/progress/progress_book.h"
#include "core/clock.h"
#include "engine/profiler/profiler.h"

namespace synergy::controller {

class ProfilingDriver {
 public:
  // Actions of one step: a node agent's word is not to wait for long behind them. What is beyond is
  // told the profiler as not done.
  static constexpr size_t kMostActions = 50;
  // Nodes whose agents are asked more often.
  static constexpr size_t kMostWatched = 64;

  // All references outlive this. `watch_closely` is told of which nodes news is wanted soon.
  // `contradictions` hears of pods too.
  ProfilingDriver(const Profiler& profiler, ClusterState& state, ProgressBook& progress,
                  ProfilingActions& actions, ContradictionWatch& contradictions, const Clock& clock,
                  std::function<void(std::set<std::string>)> watch_closely);

  // Begins anew, because somebody else has been at work meanwhile: to be called on becoming the
  // leader.
  void StartOver();
  // From now on nothing is heard or decided here, until StartOver.
  void Rest();

  // Does what is to be done now: to be called every few seconds.
  void Step(const std::stop_token& stop);

 private:
  // For the next moments.
  void Watch(const std::string& node, Instant now);
  void TellWatched(Instant now);
  // Takes away what probes that are over have left on pods, now and then.
  void CleanUp(const ClusterSnapshot& cluster, const std::stop_token& stop);

  const Profiler& profiler_;
  ClusterState& state_;
  ProgressBook& progress_;
  ProfilingActions& actions_;
  ContradictionWatch& contradictions_;
  const Clock& clock_;
  const std::function<void(std::set<std::string>)> watch_closely_;
  ProfilerMemory memory_;
  std::map<std::string, Instant> watched_;  // nodes, and until when
  Instant next_clean_up_{};
};

}  // namespace synergy::controller
