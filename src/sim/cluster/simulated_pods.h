#pragma once

// The pods of a simulated cluster, as its API server stores them. Every watcher sees each write at
// once.
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

// Receives the writes, in addition to the ClusterState.
class PodWatcher {
 public:
  virtual ~PodWatcher() = default;
  // Reports that the pod's spec or annotations were written.
  virtual void PodWritten(const SimulatedPod& pod, const SimulatedPods& all) = 0;
  // Reports that the pod takes less from its node than before; `pod` is its present state, or the
  // last one before it was deleted.
  virtual void RoomMade(const SimulatedPod& pod) = 0;
};

class SimulatedPods {
 public:
  using Change = std::function<void(SimulatedPod&)>;

  // REQUIRES: `state` and `watcher` outlive this object.
  SimulatedPods(ClusterState& state, PodWatcher& watcher) : state_(state), watcher_(watcher) {}

  // Also reports every pod to this state. REQUIRES: `state` outlives this object, and no pod
  // exists.
  void AddState(ClusterState& state) { other_state_ = &state; }

  void Create(const Pod& pod);
  // Write the spec or annotations, or the status. WriteStatus() does not call
  // PodWatcher::PodWritten(). Return false, without effect, if the pod does not exist.
  bool Write(const std::string& uid, const Change& change);
  bool WriteStatus(const std::string& uid, const Change& change);
  void Remove(const std::string& uid);

  const SimulatedPod* Find(const std::string& uid) const;
  // Return the amounts of the bound pods, as kube-scheduler counts them, and with announcements.
  ResourceVector CountedOn(const std::string& node) const;
  // Returns the amounts that the node's kubelet has set aside for its pods.
  ResourceVector AllocatedOn(const std::string& node) const;
  const ResourceVector& counted() const { return counted_; }
  // Grows with every write.
  uint64_t writes() const { return writes_; }

 private:
  void Report(const Pod& pod);
  bool Update(const std::string& uid, const Change& change, bool of_status);
  struct Amounts {
    ResourceVector counted;    // by kube-scheduler
    ResourceVector allocated;  // by the kubelet
  };
  static Amounts AmountsOf(const SimulatedPod& pod);
  void Add(const std::string& node, const Amounts& amounts);
  void Subtract(const std::string& node, const Amounts& amounts);

  ClusterState& state_;
  ClusterState* other_state_ = nullptr;
  PodWatcher& watcher_;
  std::unordered_map<std::string, SimulatedPod> pods_;  // by uid
  std::unordered_map<std::string, Amounts> on_nodes_;
  ResourceVector counted_;  // on all nodes
  uint64_t writes_ = 0;
};

}  // namespace synergy
