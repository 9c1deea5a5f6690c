#pragma once

// The tuner at work: fed by the watch of pods, led by one replica, stopped while the cluster cannot
// be seen.
//
// Threading: one thread of its own; the ObjectStore's functions from the watch's.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/cluster_state.h"
#include "controller/tuner.h"
#include "kube/leader_election.h"
#include "kube/reflector.h"

namespace synergy::controller {

class Tuning final : public kube::ObjectStore<Pod> {
 public:
  // `may_act`: whether what is known of the cluster is fresh and the webhook is of use. All
  // references outlive this.
  Tuning(ClusterState& state, Tuner& tuner, const kube::LeaderElection& election,
         std::function<bool()> may_act, metrics::TunerMetrics& metrics);

  void Start();
  void Stop();

  void Replace(std::vector<Pod> all) override;
  void Upsert(Pod pod) override;
  void Remove(const Pod& pod) override;

 private:
  void Run(const std::stop_token& stop);
  void Wake();

  ClusterState& state_;
  Tuner& tuner_;
  const kube::LeaderElection& election_;
  const std::function<bool()> may_act_;
  metrics::TunerMetrics& metrics_;

  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool news_ = false;
  std::jthread thread_;
};

}  // namespace synergy::controller
