#pragma once

// Plans a scheduling round: the placement and amounts of all jobs from now on, and the actions that
// lead there.
//
// Threading: the same as Allocator.

#include <cstdint>
#include <span>
#include <vector>

#include "policy/job.h"
#include "policy/policy.h"
#include "research/baseline/allocator.h"

namespace synergy {

// Returns the same plan for the same input. Running jobs that continue keep their servers.
Plan RunRound(std::span<const Server> servers, std::span<const Job> jobs, const Policy& policy,
              Allocator& allocator, Seconds now);

enum class ActionKind : uint8_t {
  kStop,    // release everything
  kResize,  // same servers and GPUs, other CPU or memory
  kMove,    // other servers: stop, then start again
  kStart,
};

struct Action {
  ActionKind kind = ActionKind::kStart;
  JobIndex job = 0;

  bool operator==(const Action&) const = default;
};

// Returns the actions that lead from the jobs' present shares to those of `plan`. Their order never
// allocates anything twice: first actions that release, then actions that take. A resize that
// releases in one dimension and takes in another comes with those that take, because it cannot be
// split.
std::vector<Action> Difference(std::span<const Job> jobs, const Plan& plan);

}  // namespace synergy
