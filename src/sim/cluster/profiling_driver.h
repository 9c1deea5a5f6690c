#pragma once

// Drives the profiler on a simulated cluster, as the controller does on a real one: what agents
// would tell of pods follows from how fast they truly are, what it publishes is what admission and
// the tuner believe.
//
// Told are those pods alone that are being measured, so that it costs nothing when all is known.
//
// Threading: one owner.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/profiler/profiler.h"
#include "sim/cluster/job_progress.h"
#include "sim/cluster/model_profiles.h"
#include "sim/cluster/simulated_pods.h"

namespace synergy {

class ProfilingDriver final : public MeasuredBook {
 public:
  // All outlive this. What is published comes into `believed`; what pods tell of their memory
  // follows from `truths`.
  ProfilingDriver(ModelProfiles& believed, ClusterState& state, SimulatedPods& pods,
                  JobProgress& running, const ModelProfiles& truths);

  // A pod runs now, or has other amounts.
  void Heard(Instant now);
  void Run(Moment at);
  // When Run() is due; never while nobody is measured.
  Instant wake() const { return wake_; }

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;

 private:
  // What the agent of its node tells of a pod.
  struct Told {
    PodProgress progress;
    Instant at{};
  };

  std::set<std::string> Measured() const;
  void Tell(const std::string& uid, Moment at);
  void TellOfMemory(const SimulatedPod& pod, const JobProgress::Pace& pace, Duration time,
                    PodProgress& progress) const;
  bool Do(const ProfilerAction& action, Moment at);
  void SetProbe(const std::string& uid, const std::optional<CpuProbe>& probe, Moment at);
  void Publish(const std::string& profile_namespace, const MeasuredProfile& measured);

  ModelProfiles& believed_;
  ClusterState& state_;
  SimulatedPods& pods_;
  JobProgress& running_;
  const ModelProfiles& truths_;
  Profiler profiler_;
  ProfilerMemory memory_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const MeasuredProfile>> published_;
  std::unordered_map<std::string, Told> told_;  // by uid
  Instant wake_ = Instant::max();
};

}  // namespace synergy
