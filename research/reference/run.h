#pragma once

// One run of the reference simulator: its events, its rounds and when it ends.
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
  // `arrivals` is not kAuto; `jobs` are in the order of the trace.
  Run(std::vector<Job> jobs, const Amounts& server, const ReferenceOptions& options,
      ReferenceArrivals arrivals);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<ReferenceRun> Execute();

 private:
  void Begin();
  void Arrive(uint32_t index);
  // Whether that was the last job of the window.
  bool EndLease(double now, Job& job);
  // Whether the run goes on.
  Result<bool> Schedule(double now);
  // Whom the mechanism is to be offered, into ordered_.
  void PutInOrder(double now);
  // Whether the mechanism would do what it did in the last round.
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
  size_t next_arrival_ = 0;  // to be put into events_
  size_t arrived_ = 0;
  uint64_t to_finish_ = 0;      // jobs of the window
  std::vector<Job*> runnable_;  // in last round's order, then as they came; some have ended
  std::vector<Job*> ordered_;   // this round's
  // What decided the last round, and how it came out. Where sums are exact, all servers are free
  // alike at every round's beginning, and what repeats need not be calculated again; servers are
  // freed when it turns out not to.
  const bool sums_are_exact_;
  bool has_decided_ = false;
  std::vector<Job*> decisive_;  // the jobs in order, to the one that took the last GPU
  bool took_all_ = false;
  std::vector<Job*> running_;
  Amounts used_{};  // of all servers together
  ReferenceRun result_;
};

}  // namespace synergy::reference
