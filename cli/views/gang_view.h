#pragma once

// A pod's gang as `synergy explain pod` shows it: who is there, where, with what, and what it waits
// for.
//
// Threading: pure.

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "cli/text/tree.h"
#include "cluster/gang.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy::cli {

struct GangView {
  std::string name;
  std::string problem;  // with the pod's labels; nothing else is known then
  size_t size = 0;      // as its labels say
  // Without a view of the cluster nothing more is known.
  struct Members {
    size_t there = 0;
    std::map<std::string, size_t> running;  // GPU pods, by node
    size_t waiting = 0;                     // GPU pods without a node
    // What each of those that run has, at least and at most; none where Synergy sizes none of them.
    std::optional<ResourceVector> least;
    std::optional<ResourceVector> most;
  };
  std::optional<Members> members;
};

size_t RunningOf(const GangView::Members& members);
// "it waits for 3 more pods to be created"; empty: for nothing, or nobody knows.
std::string WaitText(const GangView& gang);

// `cluster` may be null.
GangView View(const Gang& gang, const ClusterSnapshot* cluster);

Tree ToTree(const GangView& gang);
std::string ToText(const GangView& gang);  // lines

}  // namespace synergy::cli
