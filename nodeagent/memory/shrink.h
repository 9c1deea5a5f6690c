#pragma once

// What a pod's status says about memory limits that are on their way down.
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
  // By how much all of the pod's limits come to less, those that grow included.
  Bytes pod_by;
};

// None unless Synergy manages the pod, the kubelet has taken the change on (PodResizeInProgress,
// and it is not Deferred or Infeasible), and a running container's limit is below the one in force.
//
// The kubelet's first look never succeeds while page cache fills the limit, but the condition has
// its reason Error only after the second look, 11 to 24 s later (measured): so that is not waited
// for.
std::optional<Shrink> ShrinkOf(const wire::ResizeStatus& pod);

struct MarginRule {
  int64_t percent = 10;
  Bytes most = MiB(64);

  // What is to stay free below `limit`.
  Bytes Of(Bytes limit) const;
};

// "train from 200.0 MiB to 100.0 MiB"
std::string Describe(const Shrink& shrink);
std::string DescribeBytes(Bytes amount);

}  // namespace synergy::nodeagent
