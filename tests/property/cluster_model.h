#pragma once

// The simplest implementation of ClusterState: a map of nodes, a map of pods, and everything else
// computed on demand.

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

  void Watch(const Pod& pod);  // pod.node: the node to which it is bound; empty if none
  void List(const Pod& pod);   // the same in a list, which is never older than the watch
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
  // Returns the node on which the pod is expected, is assumed or has a kept place.
  std::optional<std::string> PlacedOn(const std::string& uid) const;

 private:
  enum class Standing { kWaiting, kExpected, kKept, kAssumed, kBound };
  struct Entry {
    Pod pod;
    Standing standing = Standing::kWaiting;
    Instant deadline{};
    std::optional<Pod> seen;  // as the watch reported it
  };

  // Returns whether the pod fits on the node beside the other pods there; `beside_expected`: also
  // beside expected ones.
  bool Fits(const Pod& pod, const std::string& node, bool beside_expected) const;
  void GiveUp(const std::string& uid);
  // Applies the watch's state of a pod that waits, or has a kept place.
  void Wait(Entry& entry) const;
  // Decides again which kept places exceed their nodes. Called when one of them changes.
  void WaitAnew();
  static bool AfterGpus(const Entry& entry);

  std::map<std::string, Node> nodes_;
  std::map<std::string, Entry> pods_;
  WallTime wall_{};
};

}  // namespace synergy::testing
