#pragma once

// A large cluster in memory for the benchmark of the tuner: nodes full of GPU pods, a slow API
// server, and kubelets that carry out all resizes.
//
// Threading: from any thread.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/profile_catalog.h"
#include "support/fake_pod_api.h"

namespace synergy::bench {

struct ClusterSize {
  size_t nodes = 5000;
  size_t pods_per_node = 8;  // pods of one GPU each, per node
  size_t with_a_gap = 40;    // nodes with one pod less, whose CPU is all allocated
};

// Returns the profiles of the paper's models.
HeldProfiles::ByName MakeProfiles();

class BenchCluster {
 public:
  BenchCluster(ClusterState& state, ClusterSize size);

  // Returns a waiting, Unschedulable pod that needs a place on one of the nodes with a gap.
  Pod MakeWaitingPod(size_t number) const;
  void Arrive(const Pod& pod);
  void Leave(const std::string& name);

  // Sets how long the API server's calls take from now on.
  void SetLatency(Duration latency);
  // Starts kubelets, in a thread, that act within `delay`. Calls `on_change` after each change that
  // a watch reports.
  void StartKubelets(Duration delay, std::function<void()> on_change);
  void StopKubelets();
  // Makes all kubelets act now. Returns whether there was anything to do.
  bool Settle();

  testing::FakePodApi& api() { return api_; }

 private:
  struct Due {
    std::string name;
    Instant at;
  };

  void RunKubelets(const std::stop_token& stop);

  ClusterState& state_;
  ClusterSize size_;
  testing::FakePodApi api_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Due> due_;
  Duration latency_{};
  Duration kubelet_delay_{};
  std::function<void()> on_change_ = [] {};
  std::jthread kubelets_;
};

}  // namespace synergy::bench
