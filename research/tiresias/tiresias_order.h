#pragma once

// The order in which the simulator of Tiresias' authors visits the jobs at a point in time.
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

// A job that has arrived and has not ended.
struct TiresiasState {
  const TiresiasJob* job = nullptr;
  int64_t left = 0;  // seconds that it still has to run
  bool runs = false;
  QueuePlace place;
};

class TiresiasOrder {
 public:
  using Index = uint32_t;  // position of a state

  virtual ~TiresiasOrder() = default;

  virtual void Add(Index index) = 0;
  virtual void Remove(Index index) = 0;
  // Charges the progress of jobs since the last call, `stretch` seconds ago, and moves them between
  // queues.
  virtual void Charge(std::span<TiresiasState> states, int64_t stretch) = 0;
  // Returns the jobs in order of precedence. Valid until the next call.
  virtual std::span<const Index> Sorted(std::span<const TiresiasState> states) = 0;
  // Called after a pass: moves running jobs ahead of waiting ones. Returns the time until a job has
  // to change its queue; nullopt if none has to.
  virtual std::optional<int64_t> Settle(std::span<const TiresiasState> states) = 0;
};

std::unique_ptr<TiresiasOrder> MakeTiresiasOrder(const TiresiasOptions& options);

}  // namespace synergy
