#pragma once

// Finds memory limits in a pod's status that are about to shrink.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

struct Shrink {
  struct Step {
    wire::ResizeStatus::Container container;
    Bytes from;
    Bytes to;
  };

  std::vector<Step> containers;  // never empty
  // The decrease of the sum of the pod's limits, net of those that grow.
  Bytes pod_by;
};

// Returns nullopt unless Synergy manages the pod, the kubelet has accepted the change
// (PodResizeInProgress, and not Deferred or Infeasible), and a running container's new limit is
// below the one in force.
//
// The kubelet's first check never succeeds while page cache fills the limit. The condition's reason
// becomes Error only after the second check, 11 to 24 s later (measured), so ShrinkOf() does not
// wait for that reason.
std::optional<Shrink> ShrinkOf(const wire::ResizeStatus& pod);

struct MarginRule {
  int64_t percent = 10;
  Bytes most = MiB(64);

  // Returns how much must stay free below `limit`.
  Bytes Of(Bytes limit) const;
};

// Returns text such as "train from 200.0 MiB to 100.0 MiB".
std::string Describe(const Shrink& shrink);
std::string DescribeBytes(Bytes amount);

}  // namespace synergy::nodeagent
