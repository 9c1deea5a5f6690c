#pragma once

// Replaces the known pods by a complete list. Each step holds the mutex only briefly, so that other
// threads can run in between.
//
// Between steps, each node shows at least the lower of its use before the list and its use after
// it:
//   * All listed pods of a node are put in one step, because one of them may have shrunk so that
//     another could grow.
//   * Nodes with a listed pod that was counted on another node come after all other nodes.
//   * Pods that no longer take resources, and pods missing from the list, come last.
//
// The list counts as received only after the last step.
//
// Threading: one thread runs all steps, and reports no other news of pods meanwhile (a watch
// continues after its list). Other calls to the ClusterState may come in between. Ownership:
// `state` must outlive this object. Failures: none.

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

  // A step takes `pods_at_a_time` pods, plus the rest of a node's pods.
  PodList(ClusterState& state, std::vector<Pod> pods, size_t pods_at_a_time = kPodsAtATime);

  // Returns whether steps remain.
  bool Step();

 private:
  using Pods = std::vector<Pod>;

  void PutNodes();
  void RemoveUnlisted();

  ClusterState& state_;
  const size_t pods_at_a_time_;
  std::vector<std::pair<std::string, Pods>> by_node_;
  Pods moving_;                 // from by_node_: pods of nodes with a pod that is counted elsewhere
  std::vector<Pods> unplaced_;  // in parts
  size_t next_node_ = 0;
  size_t next_unplaced_ = 0;
  size_t next_bucket_ = 0;  // in the table of pods
  size_t buckets_ = 0;      // the table's bucket count when next_bucket_ was set
  uint64_t observed_until_ = 0;
};

}  // namespace synergy
