#pragma once

// A large cluster that is all memory: nodes full of GPU pods, an API server that takes its time and
// kubelets that do what they are asked for, for the benchmark of the tuner.
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
#include "engine/profile_book.h"
#include "support/fake_pod_api.h"

namespace synergy::bench {

struct ClusterSize {
  size_t nodes = 5000;
  size_t pods_per_node = 8;  // of one GPU each, on nodes of so many
  size_t with_a_gap = 40;    // nodes that have one pod less, and all their CPU given out
};

// Those of the paper's models.
HeldProfiles::ByName MakeProfiles();

class BenchCluster {
 public:
  BenchCluster(ClusterState& state, ClusterSize size);

  // A pod that waits, Unschedulable, for a place on one of the nodes with a gap.
  Pod MakeWaitingPod(size_t number) const;
  void Arrive(const Pod& pod);
  void Leave(const std::string& name);

  // What the API server takes for a call from now on.
  void SetLatency(Duration latency);
  // From now on kubelets act within `delay`, by themselves, and `heard` is called after each change
  // that a watch reports.
  void StartKubelets(Duration delay, std::function<void()> heard);
  void StopKubelets();
  // All kubelets do what they are asked for, now. Whether there was anything.
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
  std::function<void()> heard_ = [] {};
  std::jthread kubelets_;
};

}  // namespace synergy::bench
