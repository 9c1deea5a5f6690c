#pragma once

// ClusterState as simply as it can be said: a map of nodes, a map of pods, and everything else
// counted anew each time.

#include <map>
#include <optional>
#include <set>
#include <string>

#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "property/cluster_photo.h"

namespace synergy::testing {

class ClusterModel {
 public:
  void PutNode(const Node& node);
  void DropNode(const std::string& name);
  void KeepNodes(const std::set<std::string>& names);

  void Watch(const Pod& pod);  // pod.node: where it is bound, empty: nowhere
  void DropPod(const std::string& uid) { pods_.erase(uid); }
  void KeepPods(const std::set<std::string>& uids);

  void Expect(const Pod& pod, const std::string& node, Instant deadline);
  bool Assume(const Pod& pod, const std::string& node, Instant deadline);
  void Forget(const std::string& uid);
  void Extend(const std::string& uid, Instant deadline);
  std::set<std::string> Expired(Instant now) const;
  void DropStaleExpectations(Instant now, WallTime wall);

  ClusterPhoto Photo() const;
  size_t assumed_pods() const;
  size_t known_pods() const { return pods_.size(); }
  // Where the pod is expected, assumed or kept a place for.
  std::optional<std::string> PlacedOn(const std::string& uid) const;

 private:
  enum class Standing { kWaiting, kExpected, kKept, kAssumed, kBound };
  struct Entry {
    Pod pod;
    Standing standing = Standing::kWaiting;
    Instant deadline{};
    std::optional<Pod> seen;  // by the watch
  };

  // Whether the pod fits beside those on the node, itself and, if so wanted, expected ones left
  // out.
  bool Fits(const Pod& pod, const std::string& node, bool beside_expected) const;
  void GiveUp(const std::string& uid);
  // As the watch says: waiting, or where a place is kept for it.
  void Wait(Entry& entry) const;
  // A place is kept where the pod is no larger than the node: to be looked at when one changes.
  void WaitAnew();
  static bool AfterGpus(const Entry& entry);

  std::map<std::string, Node> nodes_;
  std::map<std::string, Entry> pods_;
  WallTime wall_{};
};

}  // namespace synergy::testing
