#pragma once

// Decides whether one of Synergy's recent actions on a pod can be the cause of its failure.
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "failure/category.h"

namespace synergy {

enum class Act {
  kFreeze,    // froze or thawed the pod, or a member of its gang
  kMemory,    // lowered its memory request or limit, or dropped its page cache
  kLimit,     // set its memory limit (strict)
  kCpu,       // changed its CPU: a resize, a loan, a probe
  kShare,     // put another pod on its GPU, or attempted to
  kTakeAway,  // moved, preempted or suspended it
};

struct OwnAct {
  Act act;
  Duration before_end{};  // time before the failure
};

struct ActName {
  std::string_view name;
  Act act;
};
// Returns the names of acts on the command line.
const std::vector<ActName>& ActNames();

// The properties of the failure that decide whether an act can have caused it.
struct OwnDoingQuery {
  Category category;
  std::string_view evidence;
  bool for_memory = false;   // it was evicted for memory
  bool device_lost = false;  // an Xid was reported
  bool by_signal = false;    // its exit code was 137 or 143
};

// Returns the kind of the first of `acts` that can have caused the failure; none if no act can.
std::optional<Act> ActBehind(const OwnDoingQuery& query, const std::vector<OwnAct>& acts);

// Returns what Synergy did to the pod, for the end of a sentence: "evicted it".
std::string_view Describe(Act act);

}  // namespace synergy
