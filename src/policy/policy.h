#pragma once

// Who goes first when not everybody can run.
//
// Threading: policies hold no state; any number of threads.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "policy/job.h"

namespace synergy {

class Policy {
 public:
  virtual ~Policy() = default;

  // The lower goes first. Depends on the job and the time alone.
  virtual double Rank(const Job& job, Seconds now) const = 0;
  // Whether a job that runs may lose its turn to one that came later.
  virtual bool Preempts() const { return true; }
};

// First come, first served: by arrival.
class Fifo final : public Policy {
 public:
  double Rank(const Job& job, Seconds now) const override;
  bool Preempts() const override { return false; }
};

// Shortest remaining time first, at the speed of the fair share, so that the order does not depend
// on what somebody was given last.
class Srtf final : public Policy {
 public:
  double Rank(const Job& job, Seconds now) const override;
};

// Least attained service (Tiresias, NSDI'19): by GPU-time held so far.
class Las final : public Policy {
 public:
  double Rank(const Job& job, Seconds now) const override;
};

// Finish-time fairness (Themis, NSDI'20): the larger the ratio of a job's finish time here, were it
// to run from now on at its fair share, to that on a cluster of its own, the sooner it runs.
class Ftf final : public Policy {
 public:
  double Rank(const Job& job, Seconds now) const override;
};

std::span<const std::string_view> PolicyNames();
// By its name in lower case; the error lists the names.
Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name);

// The jobs in the policy's order; equal ranks go by arrival, then by id, so the order is total.
std::vector<JobIndex> Order(std::span<const Job> jobs, const Policy& policy, Seconds now);

}  // namespace synergy
