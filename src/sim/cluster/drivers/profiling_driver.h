#pragma once

// Runs the profiler on a simulated cluster, as the controller does on a real one. The reports of
// the agents are derived from the pods' true speeds; admission and the tuner use the profiles that
// the profiler publishes.
//
// Only pods under measurement have reports, so that a cluster with known profiles costs nothing.
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

class ProfilingDriver final : public MeasuredCatalog {
 public:
  // REQUIRES: all arguments outlive this object. Adds published profiles to `published`; derives
  // the pods' memory readings from `truths`.
  ProfilingDriver(ModelProfiles& published, ClusterState& state, SimulatedPods& pods,
                  JobProgress& running, const ModelProfiles& truths);

  // Handles the start of a pod, or a change of its amounts.
  void OnReport(Instant now);
  void Run(Moment at);
  // Returns when Run() is due; Instant::max() while no pod is measured.
  Instant wake() const { return wake_; }

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;

 private:
  // The report of a node's agent about a pod.
  struct Reported {
    PodProgress progress;
    Instant at{};
  };

  std::set<std::string> Measured() const;
  void Report(const std::string& uid, Moment at);
  void ReportMemory(const SimulatedPod& pod, const JobProgress::Pace& pace, Duration time,
                    PodProgress& progress) const;
  bool Do(const ProfilerAction& action, Moment at);
  void SetProbe(const std::string& uid, const std::optional<CpuProbe>& probe, Moment at);
  void Publish(const std::string& profile_namespace, const MeasuredProfile& measured);

  ModelProfiles& product_profiles_;
  ClusterState& state_;
  SimulatedPods& pods_;
  JobProgress& running_;
  const ModelProfiles& truths_;
  Profiler profiler_;
  ProfilerMemory memory_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const MeasuredProfile>> published_;
  std::unordered_map<std::string, Reported> reported_;  // by uid
  Instant wake_ = Instant::max();
};

}  // namespace synergy
