#pragma once

// Measures the cost of restarting a running job, from the reports of its pods: the duration of its
// start-up, and the time since its last checkpoint. Also returns the rates of jobs, which show
// whether a restart on other nodes changed them.
//
// Threading: one owner.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cluster/pod.h"
#include "controller/cluster/keyed_store.h"
#include "controller/preemption/training_ends.h"
#include "core/clock.h"
#include "wire/pods/gpu_reservation.h"
#include "wire/pods/moves.h"

namespace synergy::controller {

class RestartCosts {
 public:
  using Pods = std::span<const std::shared_ptr<const Pod>>;

  // The stores must outlive this object.
  RestartCosts(TrainingEnds::ProgressOf progress, const KeyedStore<wire::PodTimes>& times,
               const KeyedStore<wire::MovablePod>& pods)
      : progress_(std::move(progress)), times_(times), pods_(pods) {}

  // Forgets all start-ups.
  void StartOver() { startups_.clear(); }
  // Measures the start-ups of pods that may move. Call it at least every few minutes: a start-up
  // is known only as long as its pod has trained for a short time.
  void Observe(Instant now);
  // Returns the cost of a restart of the job with these pods: the largest cost of one of them.
  // Returns nullopt if no pod's start-up was measured, or none has reported a checkpoint.
  std::optional<Duration> CostOf(Pods pods, Moment at) const;
  // Returns the iterations per second of the job with these pods: the largest rate of one of them;
  // nullopt if unknown. Pods count once they have done `least` iterations.
  std::optional<double> RateOf(Pods pods, double least, Instant now) const;

 private:
  // Returns how long the pod took from its start to its first iteration; nullopt if unknown. Also
  // returns nullopt if the pod has trained for so long that evaluations would count, too.
  std::optional<Duration> StartupOf(const std::string& uid, Instant now) const;

  const TrainingEnds::ProgressOf progress_;
  const KeyedStore<wire::PodTimes>& times_;
  const KeyedStore<wire::MovablePod>& pods_;
  std::map<std::string, Duration> startups_;  // only pods that may move, by uid
};

}  // namespace synergy::controller
