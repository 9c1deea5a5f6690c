#pragma once

// Every job for which there are GPUs runs: with its full demand; or else, if that is above the fair
// share, with the fair share; or else after other jobs were cut back to theirs.

#include <vector>

#include "research/reference/mechanism.h"

namespace synergy::reference {

class Tune final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  // The GPUs that a job is to get on a server, which makes room for its other amounts.
  struct Target {
    uint32_t server = 0;
    double gpus = 0;
  };

  Result<bool> Place(Job& job) override;
  // Returns the job's demand, or its fair share if some of the demand is above that; then marks the
  // job as cut.
  Amounts CutToFair(Job& job) const;
  Result<> MakeRoom(const Amounts& demand);
  // Finds the first server with several GPUs free; otherwise, and for one GPU, the servers with the
  // fewest free GPUs.
  void FindTargets(double gpus);
  // Finds the jobs on the server that must give something back for `need` to fit, into victims_.
  void FindVictims(uint32_t server, const Amounts& need);
  // Takes the job's round back and charges it again at its place, with the fair share of CPU and
  // memory, or its demand, at the speed of the fair share.
  Result<> CutBack(Job& job);

  // Members, so that their storage is reused.
  std::vector<Target> targets_;
  std::vector<uint32_t> order_;
  std::vector<Job*> victims_;
  std::vector<Part> parts_;
};

}  // namespace synergy::reference
