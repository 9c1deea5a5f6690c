#pragma once

// The pods of a simulated cluster: what its API server is to a real one. Every write is seen by all
// who watch, at once.
//
// Threading: one owner.

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "cluster/state/cluster_state.h"
#include "core/resources.h"
#include "sim/cluster/simulated_pod.h"

namespace synergy {

class SimulatedPods;

// Whom the writes are told, beside the ClusterState.
class PodWatcher {
 public:
  virtual ~PodWatcher() = default;
  // Its spec or annotations were written.
  virtual void PodWritten(const SimulatedPod& pod, const SimulatedPods& all) = 0;
  // What it takes from its node has become less; `pod` is as it is now, or as it was when it went.
  virtual void RoomMade(const SimulatedPod& pod) = 0;
};

class SimulatedPods {
 public:
  using Change = std::function<void(SimulatedPod&)>;

  // `state` and `watcher` outlive this.
  SimulatedPods(ClusterState& state, PodWatcher& watcher) : state_(state), watcher_(watcher) {}

  void Create(const Pod& pod);
  // A write of spec or annotations, or of the status, which nobody takes for a change of the pod.
  // Without effect for one that is not there (false).
  bool Write(const std::string& uid, const Change& change);
  bool WriteStatus(const std::string& uid, const Change& change);
  void Remove(const std::string& uid);

  const SimulatedPod* Find(const std::string& uid) const;
  // By the pods that are bound: as kube-scheduler counts, and with all that is announced.
  ResourceVector CountedOn(const std::string& node) const;
  const ResourceVector& counted() const { return counted_; }
  // Grows with every write.
  uint64_t writes() const { return writes_; }

 private:
  bool Update(const std::string& uid, const Change& change, bool of_status);
  void Count(const std::string& node, const ResourceVector& amounts);

  ClusterState& state_;
  PodWatcher& watcher_;
  std::unordered_map<std::string, SimulatedPod> pods_;  // by uid
  std::unordered_map<std::string, ResourceVector> counted_on_;
  ResourceVector counted_;  // on all nodes
  uint64_t writes_ = 0;
};

}  // namespace synergy
