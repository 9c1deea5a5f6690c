#pragma once

// Divides a cluster among elastic jobs (Optimus, EuroSys'18, section 4.1). Workers are given one by
// one, each to the job whose remaining time Q / f it reduces most, relative to what it takes:
//
//   gain = (Q / f(p, w) - Q / f(p, w + 1)) / D
//
// Parameter servers are given in the same way. The dominant resource of a task is the one of which
// the task takes the largest fraction of the cluster. D is the task's amount of that resource, in
// the resource's unit.
//
// If all tasks take the same amount of one resource, and remaining times are convex in the workers
// (as with all-reduce), the result has the least sum of remaining times of all divisions that give
// every job its least. Otherwise it is a heuristic.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "optimus/speed_curve.h"

namespace synergy {

struct ElasticJob {
  double work_left = 0;             // Q, in the unit of which `speed` is the rate
  std::optional<SpeedCurve> speed;  // nullopt: unknown so far, and the job gets its least
  // The needs of one task, per resource of the cluster; at least one amount is above 0.
  std::vector<double> worker;
  std::vector<double> server;  // empty: the job has no servers
  int least_workers = 1;       // with the same number of servers, if it has any
  int most_workers = 1;
};

// Returns the tasks of each job. `jobs` are in order of arrival. First every job gets its least
// tasks, or nothing if these do not fit. Then the task with the greatest gain is added repeatedly
// (on ties, a server before a worker, then by arrival), until the greatest gain is below 0 or its
// task does not fit. A smaller task does not take its place. `capacity`: the amount of each
// resource, above 0; if fractions are equal, the first resource is dominant.
std::vector<Tasks> ServeGains(std::span<const ElasticJob> jobs, std::span<const double> capacity);

}  // namespace synergy
