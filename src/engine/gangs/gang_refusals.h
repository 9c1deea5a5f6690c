#pragma once

// Learns from kube-scheduler's refusals of a gang's members: reasons that the extender does not
// see (volumes, other plugins). A refusal may have two causes, which cannot be told apart: the pod
// itself, or the fellows that kube-scheduler counted when it refused. So both are kept: this pod
// not on this node, and of its shape no more on the node than were there.
//
// Each is kept as long as the node is as it was, and until kube-scheduler lets it be. When none of
// the fellows that were counted is where it was, the one about the pod is in doubt.
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

// A member that kube-scheduler counts on a node, though it is not bound yet.
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

  // kube-scheduler has not let the pod go to `node`, with these fellows counted.
  void Learn(std::shared_ptr<const Pod> pod, const std::string& node,
             const std::vector<CountedMember>& fellows, const ClusterSnapshot& snapshot);
  // It lets the pod go to `allowed`.
  void Unlearn(const Pod& pod, const std::set<std::string_view>& allowed,
               const std::vector<CountedMember>& fellows);
  // Drops what is of nodes that have changed, and finds out what is in doubt.
  void Review(const std::vector<CountedMember>& members, const ClusterSnapshot& snapshot);

  // `in_doubt`: also where that is.
  bool Forbid(const std::string& uid, const std::string& node, bool in_doubt) const;
  std::vector<ShapeBound> Bounds(const ClusterSnapshot& snapshot) const;

 private:
  struct Refusal {
    std::shared_ptr<const Pod> pod;
    std::string node;
    size_t node_then = 0;
    std::map<std::string, std::string> fellows;  // the nodes of those that may be why, by uid
    bool forbids = true;                         // the pod there
    bool in_doubt = false;
    size_t alike = 0;  // on the node then; 0: nothing is known of the shape
  };

  std::vector<Refusal> refusals_;
};

}  // namespace synergy
