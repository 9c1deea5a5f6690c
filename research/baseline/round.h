#pragma once

// One scheduling round: who runs where with what, from now on; and what has to be done for that.
//
// Threading: as Allocator.

#include <cstdint>
#include <span>
#include <vector>

#include "policy/job.h"
#include "policy/policy.h"
#include "research/baseline/allocator.h"

namespace synergy {

// The same input gives the same plan. Jobs that run and go on keep their servers (leases stick).
Plan RunRound(std::span<const Server> servers, std::span<const Job> jobs, const Policy& policy,
              Allocator& allocator, Seconds now);

enum class ActionKind : uint8_t {
  kStop,    // give everything back
  kResize,  // same servers and GPUs, other CPU or memory
  kMove,    // other servers: stop and start again
  kStart,
};

struct Action {
  ActionKind kind = ActionKind::kStart;
  JobIndex job = 0;

  bool operator==(const Action&) const = default;
};

// From what the jobs hold to what `plan` gives them. In an order in which nothing is ever taken
// twice: first what gives back, then what takes; a resize that gives in one dimension and takes in
// another is among the latter, for it can be done only as a whole.
std::vector<Action> Difference(std::span<const Job> jobs, const Plan& plan);

}  // namespace synergy
