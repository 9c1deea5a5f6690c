#pragma once

// A pod's gang in `synergy explain pod`: which members exist, where they are, what they have, and
// what the gang waits for.
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
  std::string problem;  // a problem in the pod's labels; then nothing else is known
  size_t size = 0;      // according to its labels
  // Known only together with the cluster.
  struct Members {
    size_t there = 0;
    std::map<std::string, size_t> running;  // GPU pods, by node
    size_t waiting = 0;                     // GPU pods without a node
    // The least and the most that a running member has; nullopt if Synergy sizes none of them.
    std::optional<ResourceVector> least;
    std::optional<ResourceVector> most;
  };
  std::optional<Members> members;
};

size_t RunningOf(const GangView::Members& members);
// Returns text such as "it waits for 3 more pods to be created"; empty if it waits for nothing, or
// that is unknown.
std::string WaitText(const GangView& gang);

// `cluster` may be null.
GangView View(const Gang& gang, const ClusterSnapshot* cluster);

Tree ToTree(const GangView& gang);
std::string ToText(const GangView& gang);  // lines

}  // namespace synergy::cli
