#pragma once

// A process that puts CPU quotas on control groups for a moment and takes them away again, whatever
// becomes of the agent: the agent is its child. It has no threads and speaks to nobody else.
//
//   RunGuarded ---- fork ----> the agent: QuotaWriter, a socket to its parent
//       |
//       the guardian: a quota is restored when its time is over (at most two minutes), on End, when
//       the agent ends however it does, on SIGTERM, and by the next guardian where this one is
//       killed: its records lie in the state folder (quota_files.h). The agent does not outlive it.
//
// Threading: RunGuarded by the main thread before there is any other.
// Failures: without a state folder there are no quotas, and all else works; kUnavailable then.

#include <functional>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::nodeagent {

// The agent's side.
//
// Threading: from any thread, one at a time.
class QuotaWriter {
 public:
  virtual ~QuotaWriter() = default;

  // Has `text` written to a control group's file of its quota, for `longest` at most. kConflict
  // where such a quota is there already; kTimeout when there was no answer in time: then it is
  // taken away again, should it come.
  virtual Result<> Begin(const std::string& file, const std::string& text, Duration longest) = 0;
  // Has what was there before written again, unless somebody else has changed it since. kNotFound
  // when that has been done already; kUnavailable when it has not been possible yet: it is tried
  // again.
  virtual Result<> End(const std::string& file) = 0;
};

struct GuardianRules {
  std::string cgroup_folder;
  std::string state_folder;
  // From SIGTERM until the agent is killed that has not ended by itself.
  Duration stop_grace{};
};

// Runs `agent` in a child process; returns its exit status in both processes, 128 and the signal's
// number where one has ended it. SIGTERM and SIGINT are passed on. 1 when there can be no child.
int RunGuarded(const GuardianRules& rules, Logger& log,
               const std::function<int(QuotaWriter&)>& agent);

}  // namespace synergy::nodeagent
