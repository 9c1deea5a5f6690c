#pragma once

// Finds the nodes that must be divided together: a node, and all nodes with members of its gangs,
// because all members of a gang get the same amounts.
//
// Threading: pure.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "allocation/gangs/gang_division.h"
#include "cluster/state/cluster_snapshot.h"
#include "engine/tuner/node_shares.h"

namespace synergy {

// The state of a node.
enum class NodeUse {
  kIdle,
  kBusy,      // nothing there can be divided now
  kDividing,  // a division is in progress and must end first
};

// The nodes to divide together. Pods of a gang keep their amounts if the gang is incomplete, if a
// member cannot be changed now, or if a member is on a busy node.
struct DivisionSites {
  struct Site {
    const NodeState* node = nullptr;
    NodeShares node_shares;
  };
  std::vector<Site> sites;         // the node itself first
  std::vector<std::string> gangs;  // gangs to divide; a gang's number is its index here
  bool has_to_wait = false;  // for a division on another node; if true, ignore all other members
  // A gang here has a waiting pod. If that pod leaves, no node changes, so the node has to be
  // divided again in every round.
  bool has_incomplete_gang = false;

  // The shares of all sites, one site after the other.
  std::vector<PodShare> Shares() const;
  // Return the new amounts of the shares, and the amounts after levelling alone (gang_division.h).
  std::vector<ResourceVector> Regrown(const ResourceVector& headroom) const;
  std::vector<ResourceVector> Levelled() const;
};

// `settled`: gangs that keep their amounts. `use`: returns the state of the named node.
DivisionSites SitesOf(const ClusterSnapshot& cluster, const NodeState& node,
                      const ShareRules& rules, const std::set<std::string>& settled,
                      const std::function<NodeUse(const std::string&)>& use);

}  // namespace synergy
