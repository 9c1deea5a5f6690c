#pragma once

// How the CPU and memory of running pods on one node change hands: what is above the floors goes
// where it is needed (Reclaim), what is spare goes where it does the most (Regrow). Both are the
// multiple-choice knapsack of re_division.h over what each pod may have; docs/tuner.md says
// when they are used.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// A pod with GPUs whose CPU and memory may be changed while it runs.
struct Tenant {
  const JobProfile* profile = nullptr;  // not owned; null: it keeps what it has
  ResourceVector current;
  ResourceVector floor;  // it is never cut below this
  ResourceVector most;   // more is of no use to it
  ResourceVector fair;   // its fair share: the unit of its throughput
  bool shrinkable = true;

  // What it can be cut by, per dimension; never negative.
  ResourceVector Surplus() const;
};

// GPUs x throughput with `amounts` / throughput with the fair share. The same for all amounts
// where there is no profile.
double NormalizedThroughput(const Tenant& tenant, const ResourceVector& amounts);

// New amounts, tenant by tenant, that free at least `lacking` (CPU and memory) at the least cost in
// throughput; a dimension that does not lack is left as it is. None where the surplus is too small.
std::optional<std::vector<ResourceVector>> Reclaim(std::span<const Tenant> tenants,
                                                   const ResourceVector& lacking);

// New amounts, tenant by tenant, with the most throughput in all, where `spare` is free beside what
// the tenants have. Nobody below its floor, unless it is there already.
std::vector<ResourceVector> Regrow(std::span<const Tenant> tenants, const ResourceVector& spare);

}  // namespace synergy
