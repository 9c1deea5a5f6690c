#pragma once

// Who gets what and where in one round of the reference simulator. A mechanism is a file of its
// own: most are OneByOne; one that decides about all jobs together derives from Mechanism, and may
// book iterations (Job::booked, BookRoundAgain) without giving parts. What it also needs: a value
// of ReferenceMechanism, its name in names.cc and a line in MakeMechanism.
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

// What all mechanisms work on.
struct Round {
  Cluster& cluster;
  Placement& placement;
  double duration = 0;  // seconds
};

class Mechanism {
 public:
  virtual ~Mechanism() = default;

  // Whether it wants to be given only the jobs whose GPUs fit into the cluster together, in order,
  // rather than all.
  virtual bool ChoosesTogether() const { return false; }

  // All servers are free. Gives jobs their parts, books their round's progress and appends those
  // that run to `running`, in the order in which they were placed. Depends on nothing but who is in
  // `ordered` and where, and not on those after the job that took the last GPU. The Error is that
  // of Cluster::Take, or says that the authors' program gives up.
  virtual Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) = 0;
};

// Goes through the jobs in order and places each for which there are GPUs enough, if it can. One
// that finds no place is passed over until the next round.
class OneByOne : public Mechanism {
 public:
  explicit OneByOne(const Round& round) : round_(round) {}

  Result<> Allocate(std::span<Job* const> ordered, std::vector<Job*>& running) final;

 protected:
  // Whether the job was placed.
  virtual Result<bool> Place(Job& job) = 0;

  // The steps that Place is made of. A first-time placement at the demand's speed or at the fair
  // share's.
  Result<bool> TryPlace(Job& job, const Amounts& demand, bool at_demand);

  const Round& round() const { return round_; }

 private:
  Round round_;
};

std::unique_ptr<Mechanism> MakeMechanism(ReferenceMechanism mechanism, const Round& round);

}  // namespace synergy::reference
