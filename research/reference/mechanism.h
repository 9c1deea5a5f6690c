#pragma once

// Decides a round of the reference simulator: which jobs run, where, and with what amounts. Each
// mechanism has its own file. Most derive from OneByOne. A mechanism that decides about all jobs
// together derives from Mechanism, and may charge iterations (Job::charged, ChargeRoundAgain)
// without giving parts. A new mechanism also needs a value of ReferenceMechanism, its name in
// names.cc and a line in MakeMechanism.
//
// Threading: one owner at a time.

#include <memory>
#include <span>
#include <vector>

#include "core/result.h"
#include "research/reference/cluster.h"
#include "research/reference/job.h"
#include "research/reference/placement.h"
#include "research/reference/reference_simulator.h"

namespace synergy::reference {

// The objects that all mechanisms use.
struct Round {
  Cluster& cluster;
  Placement& placement;
  double duration = 0;  // seconds
};

class Mechanism {
 public:
  virtual ~Mechanism() = default;

  // Returns whether Allocate() gets only the jobs whose GPUs fit into the cluster together, in
  // order, instead of all jobs.
  virtual bool ChoosesTogether() const { return false; }

  // Gives jobs their parts, charges their progress of the round, and appends those that run to
  // `running`, in the order of their placement. The result depends only on `ordered` up to the job
  // that takes the last GPU. The Error is that of Cluster::Take, or means that the authors' program
  // gives up. REQUIRES: all servers are free.
  virtual Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) = 0;
};

// Places the jobs in order. If there are not enough GPUs for a job, or it finds no place, it is
// skipped until the next round.
class OneByOne : public Mechanism {
 public:
  explicit OneByOne(const Round& round) : round_(round) {}

  Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) final;

 protected:
  // Returns whether the job was placed.
  virtual Result<bool> Place(Job& job) = 0;

  // These are the steps of Place(). TryPlace() is the first attempt, at the speed of the demand or
  // of the fair share.
  Result<bool> TryPlace(Job& job, const Amounts& demand, bool at_demand);

  const Round& round() const { return round_; }

 private:
  Round round_;
};

std::unique_ptr<Mechanism> MakeMechanism(ReferenceMechanism mechanism, const Round& round);

}  // namespace synergy::reference
