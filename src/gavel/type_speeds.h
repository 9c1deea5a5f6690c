#pragma once

// How fast a job is on GPU types on which nobody has seen it run: by workloads that are alike on
// the types on which it was seen.
//
// An *estimate* is half that of the nearest workload (cosine distance of the throughputs on the
// types known of both; Gavel, OSDI'20, section 6, finds it likewise) and half the mean of all, each
// scaled to the job's own unit by the least squares on those types. Where nothing is known of the
// job, it is the mean of how much faster than on average the others are on each type; where nothing
// is known of any, all types are as one.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

namespace synergy {

// Per type, in one unit, which may be another one for each workload; 0: it does not run there;
// none: not known.
using KnownSpeeds = std::vector<std::optional<double>>;

struct TypeSpeed {
  double throughput = 0;
  bool estimate = false;

  bool operator==(const TypeSpeed&) const = default;
};

// Per type, in the unit of `own`, if anything above 0 is known there. `others`: as many types.
std::vector<TypeSpeed> EstimateSpeeds(const KnownSpeeds& own, std::span<const KnownSpeeds> others);

}  // namespace synergy
