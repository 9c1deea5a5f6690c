#pragma once

// The servers of the reference simulator, which are all alike, and the amounts that jobs hold.
//
// Threading: one owner at a time. Jobs are not owned. REQUIRES: they outlive it.

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
  const Amounts& server() const { return server_; }      // one whole server
  const Amounts& fair() const { return fair_; }          // the fair share of one GPU
  Amounts Total() const { return server_ * servers(); }  // amounts of all servers
  int free_gpus() const { return free_gpus_; }

  const Amounts& Free(uint32_t server) const { return free_[server]; }
  const Amounts& Used(uint32_t server) const { return used_[server]; }

  // Gives the job its `parts`. Returns kInvalid if a server has less, where the authors' program
  // ends. REQUIRES: the job holds nothing.
  Result<> Take(Job& job, const std::vector<Part>& parts);
  // Releases all that the job holds.
  void Release(Job& job);

  // Returns the jobs that were placed on a server in this round, in the order in which victims are
  // searched.
  std::vector<Job*>& JobsOn(uint32_t server) { return jobs_[server]; }
  void BeginRound();

 private:
  enum class Direction { kTake, kGiveBack };
  void Move(const Part& part, Direction direction);

  Amounts server_;
  Amounts fair_;
  int free_gpus_ = 0;
  std::vector<Amounts> used_;
  // always computed from `used_`, never incremented, because sums are rounded
  std::vector<Amounts> free_;
  std::vector<std::vector<Job*>> jobs_;
};

}  // namespace synergy::reference
