#pragma once

// A process that sets temporary CPU quotas on control groups and restores them, whatever happens to
// the agent, which is its child. It has no threads and communicates only with the agent.
//
//   RunGuarded ---- fork ----> the agent: QuotaWriter, a socket to its parent
//       |
//       the guardian: restores a quota when its time is over (at most two minutes), on End, when
//       the agent ends for whatever reason, and on SIGTERM. If the guardian is killed, the next one
//       does so: its records are in the state folder (quota_files.h). The agent does not outlive
//       it.
//
// Threading: RunGuarded by the main thread before there is any other.
// Failures: without a state folder there are no quotas (kUnavailable), and all else works.

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

  // Writes `text` to a control group's quota file, for `longest` at most. kConflict: the file
  // already has a temporary quota. kTimeout: there was no answer in time; if the quota is written
  // late, it is restored at once.
  virtual Result<> Begin(const std::string& file, const std::string& text, Duration longest) = 0;
  // Restores the previous quota, unless another process has changed it since. kNotFound: already
  // restored. kUnavailable: not possible yet; the guardian retries.
  virtual Result<> End(const std::string& file) = 0;
};

struct GuardianRules {
  std::string cgroup_folder;
  std::string state_folder;
  // From SIGTERM until the agent is killed if it has not ended by itself.
  Duration stop_grace{};
};

// Runs `agent` in a child process and returns its exit status in both processes: 128 plus the
// signal's number if a signal has ended it, 1 if there can be no child. Passes SIGTERM and SIGINT
// on.
int RunGuarded(const GuardianRules& rules, Logger& log,
               const std::function<int(QuotaWriter&)>& agent);

}  // namespace synergy::nodeagent
