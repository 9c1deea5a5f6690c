#pragma once

// A list of all pods takes the place of what is known of them, in steps that hold the mutex for a
// short time each, so that others get their turn in between.
//
// What they see then is never less in use on a node than was before the list or is after it:
// * all that the list has on a node is put in one step. One of its pods may have shrunk for another
//   to grow;
// * where a pod was counted on another node, its new node waits until all others are done;
// * what takes nothing any more, and what is not in the list, goes last.
// Only after the last step counts the list as heard.
//
// Threading: one thread has all the steps, and brings no other news of pods meanwhile (a watch goes
// on after its list). Other calls of the ClusterState may come between. Ownership: `state` outlives
// this. Failures: none.

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

  // A step takes that many pods, and the rest of a node's.
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
  Pods moving_;                // of by_node_, those of nodes that one was not counted on
  std::vector<Pods> nowhere_;  // in parts
  size_t next_node_ = 0;
  size_t next_nowhere_ = 0;
  size_t next_bucket_ = 0;  // of the table of pods
  size_t buckets_ = 0;      // that it had then
  uint64_t heard_until_ = 0;
};

}  // namespace synergy
