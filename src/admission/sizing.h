#pragma once

// How much CPU and memory a training container asks for: the rules by which what its author wrote,
// its profile and its fair share come to a demand and a floor (docs/companion.md, The figures).
//
// Threading: pure.

#include <optional>
#include <string>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/namespace_limits.h"
#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

struct SizingCase {
  WrittenAmounts written;
  bool guaranteed = false;  // the pod is, by what was written
  Enforcement enforcement = Enforcement::kShared;
  Gpus gpus;
  ResourceVector beside;  // what the pod's other containers ask for
  AmountBounds bounds;    // of the request, by the namespace's limit ranges
};

struct Sizes {
  ResourceVector demand;
  ResourceVector fair_share;  // what is left of it for the container
  ResourceVector floor;
  std::optional<Bytes> memory_limit;  // to be added to a container without one
  bool placeholder = false;           // the floor is none yet
  std::vector<std::string> warnings;
};

// What a container asks for that has nothing to go by yet: less than any training container does
// with, and enough for quotas and limit ranges to count.
inline constexpr ResourceVector kPlaceholder{Gpus(0), MilliCpu(100), MiB(128)};

// What a process needs is held with this much more: the next peak may be higher.
Bytes WithMargin(Bytes process_memory);

// What of a profile is taken for worth having, and for true.
struct ProfileTrust {
  double tolerance = 0;  // how far below its best the demand may be, as a fraction
  double max_speed_up = kDefaultMaxSpeedUp;  // over its speed with the fair share
  // Nobody knows that less CPU, or memory, than the fair share would do.
  bool at_least_share = false;
  bool at_least_share_of_memory = false;
  bool at_least_written = false;  // ... or less CPU than what was written
};

// `share` is the whole pod's; `profile` is for its GPUs, or null.
Sizes Size(const SizingCase& sizing, const ResourceVector& share, const JobProfile* profile,
           const ProfileTrust& trust);
// Where nobody knows the fair share yet: what was written, and small placeholders for the rest, or
// for both dimensions' floors where there is a profile to go by.
Sizes SizeWithoutShare(const SizingCase& sizing, bool has_profile);

// Lowers the floor to `most` where it is above, but not below the bounds. Whether it was.
bool HoldBack(const SizingCase& sizing, const ResourceVector& most, Sizes& sizes);

}  // namespace synergy
