#pragma once

// Estimates a job's speeds on GPU types on which it has not run, from workloads that behave alike
// on the types on which it has run.
//
// An *estimate* is the average of two values: the speed of the nearest workload and the mean speed
// of all workloads, each scaled to the job's own unit by least squares on the common types. The
// nearest one has the least cosine distance of throughputs on the types known for both (Gavel,
// OSDI'20, section 6). If nothing is known of the job, the estimate is the mean of the others'
// speeds on each type relative to their averages. If nothing is known of any workload, all types
// are alike.
//
// Workloads come in groups, one for each namespace. Each group makes an estimate, and the median of
// these counts, so that no namespace alone decides about the others' jobs.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

namespace synergy {

// Per type, in one unit, which may differ between workloads. 0: the workload does not run there;
// absent: unknown.
using KnownSpeeds = std::vector<std::optional<double>>;

struct TypeSpeed {
  double throughput = 0;
  bool estimate = false;

  bool operator==(const TypeSpeed&) const = default;
};

// Returns speeds per type, in the unit of `own` if that has a value above 0. REQUIRES: all in
// `groups` have equally many types.
std::vector<TypeSpeed> EstimateSpeeds(const KnownSpeeds& own,
                                      std::span<const std::vector<KnownSpeeds>> groups);

// REQUIRES: `values` is not empty.
double Median(std::vector<double> values);

}  // namespace synergy
