#pragma once

// Connects the profiler (engine/profiler/profiler.h) with the cluster. It passes reports of node
// agents to the profiler, requests a plan, carries out the actions, and reports their outcomes.
//
// Threading: one owner. Failures: the profiler handles failed actions, which cost only time. The
// next leader starts measuring from scratch; published profiles stay, and a probe ends on its own.

#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>

#include "cluster/state/cluster_state.h"
#include "controller/profiles/profile_mismatch.h"
#include "controller/profiling/profiling_actions.h"
#include "controller/progress/progress_store.h"
#include "core/clock.h"
#include "engine/profiler/profiler.h"

namespace synergy::controller {

class ProfilingDriver {
 public:
  // Limits the actions per step, other than ends of probes, so that node agents' reports do not
  // wait long behind them. Further actions are reported to the profiler as not done.
  static constexpr size_t kMostActions = 50;
  // Maximum number of nodes whose agents are queried more often.
  static constexpr size_t kMostWatched = 64;

  // All references must outlive this object. `watch_closely` receives the nodes whose reports are
  // needed soon. `mismatch` receives the progress of pods with profiles.
  ProfilingDriver(const Profiler& profiler, ClusterState& state, ProgressStore& progress,
                  ProfilingActions& actions, ProfileMismatch& mismatch, const Clock& clock,
                  std::function<void(std::set<std::string>)> watch_closely);

  // Forgets all state, because another replica has acted meanwhile. Call it on becoming the leader.
  void StartOver();
  // Records and decides nothing until StartOver().
  void Rest();

  // Does what is due now. Call it every few seconds.
  void Step(const std::stop_token& stop);

 private:
  // Watches the node closely for the next kWatch.
  void Watch(const std::string& node, Instant now);
  void PublishWatched(Instant now);
  // Occasionally removes the annotations that finished probes left on pods.
  void CleanUp(const ClusterSnapshot& cluster, const std::stop_token& stop);

  const Profiler& profiler_;
  ClusterState& state_;
  ProgressStore& progress_;
  ProfilingActions& actions_;
  ProfileMismatch& mismatch_;
  const Clock& clock_;
  const std::function<void(std::set<std::string>)> watch_closely_;
  ProfilerMemory memory_;
  std::map<std::string, Instant> watched_;  // nodes, and until when to watch them
  Instant next_clean_up_{};
};

}  // namespace synergy::controller
