#pragma once

// The servers of the reference simulator, all alike, and who holds what of them.
//
// Threading: one owner at a time. Jobs are not owned and must outlive it.

#include <cstdint>
#include <vector>

#include "core/result.h"
#include "research/reference/amounts.h"
#include "research/reference/job.h"

namespace synergy::reference {

class Cluster {
 public:
  Cluster(uint32_t servers, const Amounts& server);

  uint32_t servers() const { return static_cast<uint32_t>(used_.size()); }
  const Amounts& server() const { return server_; }      // one, whole
  const Amounts& fair() const { return fair_; }          // of one GPU
  Amounts Total() const { return server_ * servers(); }  // all of them
  int free_gpus() const { return free_gpus_; }

  const Amounts& Free(uint32_t server) const { return free_[server]; }
  const Amounts& Used(uint32_t server) const { return used_[server]; }

  // Gives the job its `parts`; it must hold nothing. kInvalid where a server has less: the authors'
  // program ends there.
  Result<> Take(Job& job, const std::vector<Part>& parts);
  // What the job holds, if anything.
  void Release(Job& job);

  // Who was placed on a server in this round, in the order in which the next victims are looked
  // for.
  std::vector<Job*>& JobsOn(uint32_t server) { return jobs_[server]; }
  void BeginRound();

 private:
  enum class Direction { kTake, kGiveBack };
  void Move(const Part& part, Direction direction);

  Amounts server_;
  Amounts fair_;
  int free_gpus_ = 0;
  std::vector<Amounts> used_;
  std::vector<Amounts> free_;  // never added to, always what `used_` leaves: sums are rounded
  std::vector<std::vector<Job*>> jobs_;
};

}  // namespace synergy::reference
