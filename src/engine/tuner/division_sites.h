#pragma once

// Which nodes are divided in one go: a node, and those on which gangs have members that have some
// on this one, because all members of a gang are given the same.
//
// Threading: pure.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "allocation/gangs/gang_division.h"
#include "cluster/state/cluster_snapshot.h"
#include "engine/tuner/tenancy.h"

namespace synergy {

// What is under way on a node.
enum class NodeUse {
  kIdle,
  kBusy,      // nothing of it can be divided now
  kDividing,  // by a division: its end has to be awaited
};

// Pods of a gang that is not whole, of which a member cannot be changed now, or that has one on a
// busy node, keep what they have.
struct DivisionSites {
  struct Site {
    const NodeState* node = nullptr;
    Tenancy tenancy;
  };
  std::vector<Site> sites;         // the node itself first
  std::vector<std::string> gangs;  // those that are divided; their numbers are their places here
  bool has_to_wait = false;        // for what is being divided on another node: nothing else counts
  // Of a gang there a pod waits: when it is gone no node has changed.
  bool has_incomplete_gang = false;

  // Of all sites, one after the other.
  std::vector<Tenant> Tenants() const;
  // New amounts for them, and what levelling alone makes of them (gang_division.h).
  std::vector<ResourceVector> Regrown(const ResourceVector& headroom) const;
  std::vector<ResourceVector> Levelled() const;
};

// `settled`: gangs that are not to be looked at again.
DivisionSites SitesOf(const ClusterSnapshot& cluster, const NodeState& node,
                      const TenancyRules& rules, const std::set<std::string>& settled,
                      const std::function<NodeUse(const std::string&)>& use);

}  // namespace synergy
