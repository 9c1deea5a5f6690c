#pragma once

// Every job for which there are GPUs runs. It gets its full demand. If that does not fit and
// exceeds the fair share, it gets the fair share. If that does not fit either, other jobs are cut
// back to their fair shares.

#include <vector>

#include "research/reference/mechanism.h"

namespace synergy::reference {

class Tune final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  // The GPUs that a job will get on a server. The server makes room for the job's other amounts.
  struct Target {
    uint32_t server = 0;
    double gpus = 0;
  };

  Result<bool> Place(Job& job) override;
  // Returns the job's demand or, if the demand exceeds it in any dimension, the fair share. If it
  // returns the fair share, marks the job as cut.
  Amounts CutToFair(Job& job) const;
  Result<> MakeRoom(const Amounts& demand);
  // Finds the first server on which all of several GPUs are free. If there is none, and for one
  // GPU, finds the servers with the fewest free GPUs.
  void FindTargets(double gpus);
  // Stores in victims_ the jobs on the server that have to give something back so that `need` fits.
  void FindVictims(uint32_t server, const Amounts& need);
  // Takes back the job's round and charges it again on its servers, at the speed of the fair share.
  // The job gets its fair share of CPU and memory, or its demand.
  Result<> CutBack(Job& job);

  // These are members so that their storage is reused.
  std::vector<Target> targets_;
  std::vector<uint32_t> order_;
  std::vector<Job*> victims_;
  std::vector<Part> parts_;
};

}  // namespace synergy::reference
