#pragma once

// A run of the reference simulator: its events, its rounds and its end.
//
// Threading: one owner at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/result.h"
#include "research/reference/cluster.h"
#include "research/reference/event_queue.h"
#include "research/reference/job.h"
#include "research/reference/mechanism.h"
#include "research/reference/placement.h"
#include "research/reference/reference_simulator.h"

namespace synergy::reference {

class Run {
 public:
  // REQUIRES: `arrivals` is not kAuto; `jobs` are in the order of the trace.
  Run(std::vector<Job> jobs, const Amounts& server, const ReferenceOptions& options,
      ReferenceArrivals arrivals);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<ReferenceRun> Execute();

 private:
  void Begin();
  void Arrive(uint32_t index);
  // Returns whether that was the last job of the window.
  bool EndLease(double now, Job& job);
  // Returns whether the run continues.
  Result<bool> Schedule(double now);
  // Puts the jobs for the mechanism into ordered_.
  void PutInOrder(double now);
  // Returns whether the mechanism would repeat its last round.
  bool RepeatsLastRound() const;
  Result<> Allocate();
  void CountRound();

  const ReferenceOptions& options_;
  const ReferenceArrivals arrivals_;
  const double round_;  // seconds
  std::vector<Job> jobs_;
  Cluster cluster_;
  Placement placement_;
  std::unique_ptr<Mechanism> mechanism_;

  EventQueue events_;
  size_t next_arrival_ = 0;  // the next job to be put into events_
  size_t arrived_ = 0;
  uint64_t to_finish_ = 0;      // jobs of the window
  std::vector<Job*> runnable_;  // in the last round's order, then by arrival; some jobs have ended
  std::vector<Job*> ordered_;   // jobs of this round
  // The input that decided the last round, and its result. If sums are exact, every round begins
  // with the same free amounts. Then a round that repeats the last one need not be computed, and
  // jobs release their servers only when another round is computed.
  const bool sums_are_exact_;
  bool has_decided_ = false;
  std::vector<Job*> decisive_;  // the ordered jobs up to the one that took the last GPU
  bool took_all_ = false;
  std::vector<Job*> running_;
  Amounts used_{};  // sum over all servers
  ReferenceRun result_;
};

}  // namespace synergy::reference
