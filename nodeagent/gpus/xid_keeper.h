#pragma once

// Keeps which Xids came on the GPUs of the node's pods, for the controller, which classifies
// failures by them. The device plugin and exporters name pods; a later pod may have the same name.
//
// Threading: from any thread. Memory: at most XidOwners::kMost Xids, for XidOwners::kKept.

#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "inventory/gpu_xids.h"
#include "nodeagent/cgroups/node_pods.h"
#include "profile/pod_xid.h"

namespace synergy::nodeagent {

class XidKeeper {
 public:
  // References outlive this.
  XidKeeper(const NodePods& pods, const Clock& clock) : pods_(pods), clock_(clock) {}

  // Takes in the Xids of the last minutes. Ignores those of pods that are not on the node.
  void Observe(const std::vector<ContainerXid>& xids);
  // Returns what is known, the oldest first.
  std::vector<PodXid> Report() const;

 private:
  struct Known {
    ContainerXid seen;
    std::string uid;
  };

  const NodePods& pods_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::deque<Known> known_;
};

}  // namespace synergy::nodeagent
