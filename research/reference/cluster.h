#pragma once

// The servers of the reference simulator, all alike, and the amounts that jobs hold.
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
  const Amounts& server() const { return server_; }      // one whole server
  const Amounts& fair() const { return fair_; }          // share of one GPU
  Amounts Total() const { return server_ * servers(); }  // of all servers
  int free_gpus() const { return free_gpus_; }

  const Amounts& Free(uint32_t server) const { return free_[server]; }
  const Amounts& Used(uint32_t server) const { return used_[server]; }

  // Gives the job its `parts`. REQUIRES: the job holds nothing. kInvalid if a server has less: the
  // authors' program ends there.
  Result<> Take(Job& job, const std::vector<Part>& parts);
  // Releases all that the job holds.
  void Release(Job& job);

  // Returns the jobs placed on a server in this round, in the order in which the next victims are
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
  std::vector<Amounts> free_;  // always computed from `used_`, never incremented: sums are rounded
  std::vector<std::vector<Job*>> jobs_;
};

}  // namespace synergy::reference
