#pragma once

// Keeps kube-scheduler's refusals of a gang's members. They reveal reasons that the extender cannot
// see, such as volumes and other plugins. A refusal has one of two causes, which look the same: the
// pod itself, or the other members that kube-scheduler counted when it refused. So both conclusions
// are kept: this pod must not go to this node, and the node takes no more pods of this pod's shape
// than it had then.
//
// Each refusal is kept while the node is unchanged and until kube-scheduler allows it. Once all the
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

  // `in_doubt`: also counts refusals that are in doubt.
  bool Forbid(const std::string& uid, const std::string& node, bool in_doubt) const;
  std::vector<ShapeBound> Bounds(const ClusterSnapshot& snapshot) const;

 private:
  struct Refusal {
    std::shared_ptr<const Pod> pod;
    std::string node;
    size_t node_then = 0;
    std::map<std::string, std::string> fellows;  // other members that may be the cause: uid to node
    bool forbids = true;                         // the pod must not go to the node
    bool in_doubt = false;
    // Pods of the shape on the node at that time; 0: nothing is known about the shape.
    size_t alike = 0;
  };

  std::vector<Refusal> refusals_;
};

}  // namespace synergy
