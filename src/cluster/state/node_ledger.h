#pragma once

// Holds the nodes by index, with the amounts that their counted pods take. Snapshots share this
// part of ClusterState.
//
// Threading: under ClusterState's mutex. Ownership: the objects that the Share functions return are
// immutable and may be kept. Failures: none.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/cow_array.h"
#include "cluster/state/scalar_columns.h"

namespace synergy {

class NodeLedger {
 public:
  // `version` must outlive this object.
  explicit NodeLedger(ClusterVersion& version) : version_(version) {}

  // Apply the reports of the watch. Replace takes the complete list: nodes that are not in it are
  // gone.
  void Replace(std::vector<Node> nodes);
  void Put(Node node);
  void Remove(std::string_view name);

  size_t size() const { return nodes_.size(); }
  const NodeState& operator[](NodeIndex place) const { return nodes_[place]; }
  std::optional<NodeIndex> Find(std::string_view name) const { return names_->Find(name); }

  // Counts the pod on the node that it names, and returns the node's index. The node may still be
  // unknown, because the watch may report pods before their node.
  NodeIndex Count(const std::shared_ptr<const Pod>& pod);
  // Removes a pod that is counted at `place`. Neither function advances the version; the caller
  // does.
  void Uncount(const Pod& pod, NodeIndex place);
  // Add or remove a waiting pod that is nominated to a node, without counting its amounts.
  NodeIndex Nominate(const std::shared_ptr<const Pod>& pod);
  void Denominate(const Pod& pod, NodeIndex place);

  // Records that a node's kubelet could not align a pod. Does nothing if the node does not exist.
  void Misalign(const std::string& node, const Misalignment& misalignment);
  // Drop the misalignments of nodes where all have expired by `now`, or those at `place`, because
  // resources became free there.
  void DropMisalignments(WallTime now);
  void DropMisalignments(NodeIndex place);

  // Returns a copy for a snapshot.
  CowArray<NodeState> Share() { return nodes_.Share(); }
  std::shared_ptr<const NodeNames> ShareNames();
  std::shared_ptr<const ScalarColumns::Shared> ShareScalars() { return scalars_.Share(); }
  const ResourceVector& Largest();

 private:
  // Returns the node at `place` for a change.
  NodeState& Touch(NodeIndex place);
  // Call it if the node's allocatable or requested amounts may have changed.
  void UpdateScalars(NodeIndex place);
  // Returns the index of the node called `name`, creating it if needed.
  NodeIndex PlaceOf(const std::string& name);
  void ReleaseIfEmpty(NodeIndex place);
  void Remove(NodeIndex place);
  NodeNames& MutableNames();

  ClusterVersion& version_;
  CowArray<NodeState> nodes_;
  ScalarColumns scalars_;
  std::set<NodeIndex> misaligning_;
  std::shared_ptr<NodeNames> names_ = std::make_shared<NodeNames>();
  bool names_shared_ = false;  // a snapshot has names_: copy before a change
  std::vector<NodeIndex> free_places_;
  std::optional<ResourceVector> largest_;
};

}  // namespace synergy
