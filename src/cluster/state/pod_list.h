#pragma once

// Replaces the known pods by a complete list, in steps that hold the mutex for a short time each,
// so that other threads get their turn in between.
//
// Between steps, no node shows less use than before the list or after it, whichever is less:
//   * All pods of a node in the list are put in one step: one of them may have shrunk so that
//     another could grow.
//   * If a pod was counted on another node, its new node waits until all others are done.
//   * Pods that no longer take anything, and those that are not in the list, go last.
//
// Only after the last step does the list count as received.
//
// Threading: one thread runs all steps, and reports no other news of pods meanwhile (a watch
// continues after its list). Other calls of the ClusterState may come between. Ownership: `state`
// outlives this. Failures: none.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"

namespace synergy {

class ClusterState;

class PodList {
 public:
  static constexpr size_t kPodsAtATime = 128;

  // A step takes `pods_at_a_time` pods, and the rest of a node's pods.
  PodList(ClusterState& state, std::vector<Pod> pods, size_t pods_at_a_time = kPodsAtATime);

  // Returns whether there is more to do.
  bool Step();

 private:
  using Pods = std::vector<Pod>;

  void PutNodes();
  void RemoveUnlisted();

  ClusterState& state_;
  const size_t pods_at_a_time_;
  std::vector<std::pair<std::string, Pods>> by_node_;
  Pods moving_;  // from by_node_: pods of nodes on which one of them was not counted before
  std::vector<Pods> nowhere_;  // in parts
  size_t next_node_ = 0;
  size_t next_nowhere_ = 0;
  size_t next_bucket_ = 0;  // in the table of pods
  size_t buckets_ = 0;      // of the table at that time
  uint64_t observed_until_ = 0;
};

}  // namespace synergy
