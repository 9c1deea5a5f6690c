#pragma once

// The order in which the authors' simulator of Tiresias visits the jobs at an instant.
//
// Threading: one owner.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/service_queues.h"
#include "research/tiresias/tiresias_input.h"
#include "research/tiresias/tiresias_simulator.h"

namespace synergy {

// A job that has arrived and not ended.
struct TiresiasState {
  const TiresiasJob* job = nullptr;
  int64_t left = 0;  // seconds of running
  bool runs = false;
  QueuePlace place;
};

class TiresiasOrder {
 public:
  using Index = uint32_t;  // of a state

  virtual ~TiresiasOrder() = default;

  virtual void Add(Index index) = 0;
  virtual void Remove(Index index) = 0;
  // Charges the jobs' progress since the last instant, `stretch` seconds ago, and moves them.
  virtual void Charge(std::span<TiresiasState> states, int64_t stretch) = 0;
  // Returns the jobs in order of precedence. Valid until the next call.
  virtual std::span<const Index> Sorted(std::span<const TiresiasState> states) = 0;
  // Called after a pass: puts running jobs before waiting ones. Returns the time until a job has to
  // be moved; nullopt if none has to.
  virtual std::optional<int64_t> Settle(std::span<const TiresiasState> states) = 0;
};

std::unique_ptr<TiresiasOrder> MakeTiresiasOrder(const TiresiasOptions& options);

}  // namespace synergy
