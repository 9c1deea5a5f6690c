#pragma once

// Records kube-scheduler's refusals of nodes for a gang's members. Their reasons, such as volumes
// and other plugins, are invisible to the extender. A refusal has one of two causes, which look the
// same: the pod itself, or the other members that kube-scheduler counted when it refused. So both
// conclusions are kept: this pod must not go to this node, and the node takes no more pods of this
// pod's shape than it had then.
//
// Each refusal is kept until the node changes or kube-scheduler allows the pod there. Once all the
// counted members have moved, the conclusion about the pod is in doubt.
//
// Threading: one owner.

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/gangs/gang_plan.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// A member that kube-scheduler counts on a node although it is not bound yet.
struct CountedMember {
  std::shared_ptr<const Pod> pod;
  std::string node;
};

class GangRefusals {
 public:
  bool empty() const { return refusals_.empty(); }
  bool AnyBounds() const;
  bool AnyDoubts() const;
  void Clear() { refusals_.clear(); }

  // Records that kube-scheduler refused `node` for the pod while it counted these fellow members.
  void Note(std::shared_ptr<const Pod> pod, const std::string& node,
            const std::vector<CountedMember>& fellows, const ClusterSnapshot& snapshot);
  // Drops the conclusions that `allowed` refutes. `allowed`: the nodes that kube-scheduler allows
  // for the pod.
  void Unlearn(const Pod& pod, const std::set<std::string_view>& allowed,
               const std::vector<CountedMember>& fellows);
  // Drops refusals of nodes that have changed, and marks those that are now in doubt.
  void Review(const std::vector<CountedMember>& members, const ClusterSnapshot& snapshot);

  // Returns whether a refusal forbids the pod to go to the node. `in_doubt`: includes refusals that
  // are in doubt.
  bool Forbid(const std::string& uid, const std::string& node, bool in_doubt) const;
  // Returns the most pods of a shape that each refusal allows on its node.
  std::vector<ShapeBound> Bounds(const ClusterSnapshot& snapshot) const;

 private:
  struct Refusal {
    std::shared_ptr<const Pod> pod;
    std::string node;
    size_t node_then = 0;                        // the node's fingerprint at that time
    std::map<std::string, std::string> fellows;  // other members that may be the cause: uid to node
    bool forbids = true;                         // the pod must not go to the node
    bool in_doubt = false;
    // Pods of the shape on the node at that time; 0: nothing is known about the shape.
    size_t alike = 0;
  };

  std::vector<Refusal> refusals_;
};

}  // namespace synergy
