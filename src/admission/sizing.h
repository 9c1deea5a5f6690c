#pragma once

// Computes how much CPU and memory a training container requests: the rules that turn its author's
// amounts, its profile and its fair share into a demand and a floor (docs/internals/sizing.md, The
// figures).
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cluster/managed_container.h"
#include "cluster/namespace_limits.h"
#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

struct SizingCase {
  WrittenAmounts written;
  bool guaranteed = false;  // the pod is Guaranteed as written
  Enforcement enforcement = Enforcement::kShared;
  Gpus gpus;
  ResourceVector beside;  // requests of the pod's other containers
  AmountBounds bounds;    // of the request, from the namespace's limit ranges
};

struct Sizes {
  ResourceVector demand;
  ResourceVector fair_share;  // the container's part of it
  ResourceVector floor;
  std::optional<Bytes> memory_limit;  // the limit to add to a container without one
  bool placeholder = false;           // the floor is not final yet
  std::vector<std::string> warnings;
};

// The least amounts that are written for a container: less than any training container needs, and
// enough for quotas and limit ranges to count.
inline constexpr ResourceVector kLeastRequest{Gpus(0), MilliCpu(100), MiB(128)};

// How far to trust a profile, and which gains are worthwhile.
struct ProfileTrust {
  double tolerance = 0;  // how far below its best speed the demand may leave the job (fraction)
  double max_speed_up = kDefaultMaxSpeedUp;  // relative to its speed with the fair share
  // It is unknown whether less CPU or memory than the fair share would suffice.
  bool at_least_share = false;
  bool at_least_share_of_memory = false;
  bool at_least_written = false;  // ... nor whether less CPU than written would suffice
};

// `share` belongs to the whole pod; `profile` is for its GPUs, or null.
Sizes Size(const SizingCase& sizing, const ResourceVector& share, const JobProfile* profile,
           const ProfileTrust& trust);
// Sizes a container whose pod has no node to go to yet. `share` is what future nodes are assumed to
// have for the pod. An autoscaler chooses the size of a node from the result. So the result is the
// demand if the container has a profile, even if the nodes may turn out to have less. With `least`,
// it is at most the share. The floor is a placeholder if an amount is not written, or if the
// container has a profile.
Sizes SizeUnplaced(const SizingCase& sizing, const ResourceVector& share, const JobProfile* profile,
                   const ProfileTrust& trust, bool least);

// Lowers a floor above `most` to it, but not below the bounds. Returns whether it lowered the
// floor.
bool HoldBack(const SizingCase& sizing, const ResourceVector& most, Sizes& sizes);

}  // namespace synergy
