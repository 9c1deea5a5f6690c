#pragma once

// Stores the Xids of the GPUs of the node's pods for the controller, which classifies failures by
// them. Determines the UIDs of the pods: the device plugin and exporters report only the names, and
// a later pod may have the same name.
//
// Threading: any thread. Memory: at most XidOwners::kMost Xids, each for XidOwners::kKept; the
// names of the node's pods, and of at most kMostGone pods that have left, each for kRemembered.

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "inventory/gpu_xids.h"
#include "kube/reflector.h"
#include "profile/pod_xid.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class XidKeeper final : public kube::ObjectStore<wire::ResizeStatus> {
 public:
  // An Xid that ends its pod is often read only after the pod has left the watch.
  static constexpr Duration kRemembered = std::chrono::minutes(5);
  static constexpr size_t kMostGone = 1024;

  // The clock must outlive this object.
  explicit XidKeeper(const Clock& clock) : clock_(clock) {}

  void Replace(std::vector<wire::ResizeStatus> all) override;
  void Upsert(wire::ResizeStatus pod) override;
  void Remove(const wire::ResizeStatus& pod) override;

  // Takes the Xids of the last minutes. Ignores the Xids of pods that were not on the node.
  void Observe(const std::vector<ContainerXid>& xids);
  // Returns the known Xids, oldest first.
  std::vector<PodXid> Report() const;

 private:
  struct Known {
    ContainerXid seen;
    std::string uid;
  };
  struct Gone {
    std::string uid;
    std::string key;  // "team/pod"
    WallTime at{};
  };

  // REQUIRES: the mutex is held, for the three functions below.
  void Leave(const std::string& uid);
  void Forget();
  // Returns the UID of the pod that had the name when the Xid occurred.
  std::optional<std::string> UidOf(const ContainerXid& xid) const;

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, std::string> present_;  // UID -> "team/pod"
  std::deque<Gone> gone_;                       // oldest first
  std::deque<Known> known_;
};

}  // namespace synergy::nodeagent
