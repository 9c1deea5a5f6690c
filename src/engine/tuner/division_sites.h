#pragma once

// Finds the nodes that have to be divided together: a node, and all nodes with members of the gangs
// that have members on this one, because all members of a gang are given the same.
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

// State of a node.
enum class NodeUse {
  kIdle,
  kBusy,      // nothing there can be divided now
  kDividing,  // a division is under way, whose end has to be awaited
};

// The nodes to divide together. Pods of a gang keep what they have if the gang is not whole, if a
// member cannot be changed now, or if a member is on a busy node.
struct DivisionSites {
  struct Site {
    const NodeState* node = nullptr;
    NodeShares node_shares;
  };
  std::vector<Site> sites;         // the node itself first
  std::vector<std::string> gangs;  // gangs to divide; a gang's number is its index here
  bool has_to_wait = false;        // for a division on another node; ignore all other members
  // A gang here has a waiting pod. If that pod goes, no node changes.
  bool has_incomplete_gang = false;

  // The shares of all sites, one site after the other.
  std::vector<PodShare> Shares() const;
  // Returns new amounts for the shares, and what levelling alone makes of them (gang_division.h).
  std::vector<ResourceVector> Regrown(const ResourceVector& headroom) const;
  std::vector<ResourceVector> Levelled() const;
};

// `settled`: gangs that are not to be considered again.
DivisionSites SitesOf(const ClusterSnapshot& cluster, const NodeState& node,
                      const ShareRules& rules, const std::set<std::string>& settled,
                      const std::function<NodeUse(const std::string&)>& use);

}  // namespace synergy
