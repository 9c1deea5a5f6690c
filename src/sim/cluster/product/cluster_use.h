#pragma once

// Measures how much of a simulated cluster is allocated: means over the run, and the timeline.
//
// Threading: one owner.

#include "core/clock.h"
#include "core/resources.h"
#include "core/units.h"
#include "sim/simulation_run.h"

namespace synergy {

class ClusterUse {
 public:
  // The time that counts begins at `begin`.
  explicit ClusterUse(Instant begin) : until_(begin) {}

  void AddNode(const ResourceVector& allocatable) { total_ += allocatable; }
  // Returns the sum of all nodes.
  const ResourceVector& total() const { return total_; }

  // Counts `allocated` as allocated from the last call until `until`, and as many of the free GPUs
  // as are `kept` as kept idle.
  void Account(Instant until, const ResourceVector& allocated, Gpus kept);
  // Returns the time up to which allocations are counted.
  Instant accounted() const { return until_; }

  // Sets the run's means from its beginning to its end, according to the counts so far.
  void SetMeans(SimulationRun& run) const;
  // Returns the point of the timeline; the numbers of jobs are left 0.
  UtilisationPoint PointAt(Seconds at, const ResourceVector& allocated) const;

 private:
  // Fractions of the cluster x seconds.
  struct Use {
    double gpus = 0;
    double cpu = 0;
    double memory = 0;
    double kept_idle = 0;
  };

  ResourceVector total_;
  Instant until_;
  Use used_;
};

}  // namespace synergy
