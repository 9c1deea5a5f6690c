#pragma once

// The evidence in a container's log about the end of its program, as read by the node's agent
// (docs/failures.md). Rules are identified by name, so that users of this header do not need the
// tables of failure/.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "profile/pod_act.h"

namespace synergy {

struct LogEvidence {
  std::string rule;                         // of failure/rules.h; empty: no rule matches a line
  std::string evidence;                     // the line (failure/evidence.h)
  std::optional<WallTime> time;             // time of the line
  bool finished = false;                    // the log reports an end, and no error
  int64_t iterations = 0;                   // iterations that the log's tail shows
  std::optional<Duration> since_iteration;  // from the last iteration to the log's end
  std::optional<WallTime> checkpoint;       // of the last line that reports one
  std::optional<WallTime> first_iteration;  // absent if the log's tail is not the whole log

  bool operator==(const LogEvidence&) const = default;
};

// A run of a container that has ended.
struct EndedRun {
  std::string uid;  // the pod's
  std::string container;
  int32_t run = 0;  // how often the container had been restarted before
  LogEvidence log;
  std::vector<PodAct> acts = {};  // the agent's acts on the pod before this end

  bool operator==(const EndedRun&) const = default;
};

}  // namespace synergy
