#pragma once

// Every job for which there are GPUs runs: with its full demand; or else, where that is above the
// fair share, with the fair share; or else after others were cut back to theirs.

#include <vector>

#include "research/reference/mechanism.h"

namespace synergy::reference {

class Tune final : public OneByOne {
 public:
  using OneByOne::OneByOne;

 private:
  // GPUs that a job is to get on a server, with the rest there made to fit.
  struct Target {
    uint32_t server = 0;
    double gpus = 0;
  };

  Result<bool> Place(Job& job) override;
  // The job's demand, or its fair share where some of the demand is above that; marks the job as
  // cut then.
  Amounts CutToFair(Job& job) const;
  Result<> MakeRoom(const Amounts& demand);
  // For several GPUs the first server that has them free; otherwise, and for one, the servers with
  // the fewest free GPUs.
  void FindTargets(double gpus);
  // Who on the server has to give something back before `need` fits, into victims_.
  void FindVictims(uint32_t server, const Amounts& need);
  // Takes the job's round back and books it again where it is, with the fair share of CPU and
  // memory, or its demand, at the speed of the fair share.
  Result<> CutBack(Job& job);

  // Kept for their storage.
  std::vector<Target> targets_;
  std::vector<uint32_t> order_;
  std::vector<Job*> victims_;
  std::vector<Part> parts_;
};

}  // namespace synergy::reference
