#pragma once

// Runs the tuner (engine/tuner/tuner.h) in the cluster. It passes changes of pods to the tuner,
// requests a plan, carries out the actions and reports their outcomes, until nothing is left to do.
//
// Threading: one owner.
// Failures: the tuner handles failed actions. All state that must outlast the process is on the
// pods, so the next leader continues from there.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "controller/profiles/oom_watch.h"
#include "controller/profiles/tuner_profiles.h"
#include "controller/tuner/action_executor.h"
#include "core/clock.h"
#include "engine/decisions.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/storage/measured_storage.h"
#include "engine/storage/published_storage.h"
#include "engine/tuner/tuner.h"
#include "metrics/tuner_metrics.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

// Optional parts; a null part is absent.
struct TunerDriverParts {
  TunerProfiles* profiles = nullptr;   // copied before each decision
  OomWatch* oom = nullptr;             // also receives all news, and makes its own calls
  DecisionJournal* journal = nullptr;  // receives every decision and outcome
  // Returns which pods are idle, by uid; called before each decision.
  std::function<std::map<std::string, IdlePod>(Instant now)> idle;
  // The tuner's knowledge of storage, and the latest reports of pods, from which it is derived.
  MeasuredStorage* storage = nullptr;
  std::function<std::vector<KnownProgress>(Instant now)> reports;
  // Receives what placement should know of the storage, whenever the reports have been read.
  std::function<void(PlacementStorage)> publish_storage;
  // Returns the GPU reservations in force; called before each decision.
  std::function<std::vector<GpuReservation>(Instant now)> reservations;
  // Receives the nodes of the pods that lend whenever this set changes, because the reports of
  // these nodes are urgent.
  std::function<void(std::set<std::string> nodes)> watch_lenders;
};

class TunerDriver {
 public:
  // All references must outlive this object.
  TunerDriver(const Tuner& tuner, ClusterState& state, ActionExecutor& executor, const Clock& clock,
              metrics::TunerMetrics& metrics, TunerDriverParts parts = {});

  // Reads the whole cluster again, because another replica has acted meanwhile. Call it on becoming
  // the leader.
  void StartOver();
  // Decides nothing until StartOver().
  void Rest();

  // Does what is due now. Call it on news, when an action has ended, and when wake() is due.
  void Step();
  Instant wake() const { return wake_; }

 private:
  // Returns false if an action was not carried out because this process may no longer act.
  bool TakeOutcomes();
  void LookForIdle(Instant now);
  void LookAtStorage(Instant now);
  void LookAtReservations(Instant now);
  void WatchLenders();
  // Returns whether there may be more to do.
  bool PlanAndDo();
  void LookForOoms();
  void Record(const Decision& decision) {
    if (parts_.journal != nullptr) parts_.journal->Wrote(decision);
  }

  const Tuner& tuner_;
  ClusterState& state_;
  ActionExecutor& executor_;
  const Clock& clock_;
  metrics::TunerMetrics& metrics_;
  const TunerDriverParts parts_;
  TunerMemory memory_;
  std::map<uint64_t, TunerAction> asked_;  // by number; their outcomes are not known yet
  uint64_t next_number_ = 0;
  Instant wake_{};
  Instant next_storage_look_{};
  std::set<std::string> lenders_;  // nodes last passed to watch_lenders
  bool interrupted_ = false;       // some actions of a decision were not tried
};

}  // namespace synergy::controller
