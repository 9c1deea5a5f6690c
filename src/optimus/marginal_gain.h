#pragma once

// Who gets how many workers (Optimus, EuroSys'18, section 4.1): one by one, each to the job whose
// remaining time Q / f falls most by it, for what it takes:
//
//   gain = (Q / f(p, w) - Q / f(p, w + 1)) / D
//
// and alike for a parameter server; D is the amount of the task's dominant resource, the one of
// which it takes the largest part of the cluster, in that resource's unit.
//
// Where all take as much of one resource and remaining times are convex in the workers, as
// all-reduce's are, the sum of remaining times is the least there is among those that give every
// job its least. Else it is a heuristic.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "optimus/speed_curve.h"

namespace synergy {

struct ElasticJob {
  double work_left = 0;             // Q, in the unit whose rate `speed` tells
  std::optional<SpeedCurve> speed;  // none: not known yet; the job gets its least
  // Of one task, per resource of the cluster; at least one amount above 0.
  std::vector<double> worker;
  std::vector<double> server;  // empty: the job has none
  int least_workers = 1;       // with as many servers, if it has any
  int most_workers = 1;
};

// Per job, in the order given, which is that of arrival. First every job gets its least, if that
// fits; one that it does not fit gets nothing. Then the greatest gain is served again and again
// (ties: a server before a worker, then by arrival), until the greatest is below 0 or does not fit.
// Nothing smaller is put in its place then. `capacity`: of each resource, above 0, in an order that
// decides between equal parts.
std::vector<Tasks> ServeGains(std::span<const ElasticJob> jobs, std::span<const double> capacity);

}  // namespace synergy
