#pragma once

// A large cluster in memory, for the benchmark of the tuner: nodes full of GPU pods, an API server
// with a delay, and kubelets that carry out each request.
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

// The profiles of the paper's models.
HeldProfiles::ByName MakeProfiles();

class BenchCluster {
 public:
  BenchCluster(ClusterState& state, ClusterSize size);

  // A waiting pod, Unschedulable, for which one of the nodes has a free GPU.
  Pod MakeWaitingPod(size_t number) const;
  void Arrive(const Pod& pod);
  void Leave(const std::string& name);

  // Sets the time that the API server takes for a call.
  void SetLatency(Duration latency);
  // Makes kubelets act within `delay` by themselves, and calls the function after each change that
  // a watch reports.
  void StartKubelets(Duration delay, std::function<void()> heard);
  void StopKubelets();
  // Makes all kubelets carry out their requests now. Returns whether there were any.
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
