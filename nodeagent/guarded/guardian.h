#pragma once

// A process that writes to files of control groups for a time (temporary CPU quotas, suspensions)
// and restores them, whatever happens to the agent, which is its child. It has no threads and
// communicates only with the agent.
//
//   RunGuarded ---- fork ----> the agent: TemporaryWriter, a socket to its parent
//       |
//       the guardian: restores a file when its time is over (at most two minutes), on End, when
//       the agent ends for whatever reason, and on SIGTERM. If the guardian is killed, the next one
//       does so: its records are in the state folder (write_files.h). The agent does not outlive
//       it.
//
// Threading: RunGuarded by the main thread before there is any other.
// Failures: without a state folder nothing is written (kUnavailable), and all else works.

#include <chrono>
#include <functional>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::nodeagent {

// The agent's side.
//
// Threading: from any thread, one at a time.
class TemporaryWriter {
 public:
  virtual ~TemporaryWriter() = default;

  // Writes `text` to a file of a control group that has a kind (write_kind.h), for `longest` at
  // most. kConflict: the file is already written for a time. kTimeout: there was no answer in time;
  // if the file is written late, it is restored at once. kUnavailable: also for a suspension within
  // kAfterUncleanEnd of a start after processes that were killed.
  virtual Result<> Begin(const std::string& file, const std::string& text, Duration longest) = 0;
  // Restores the file, unless another process has changed it since. kNotFound: already restored.
  // kUnavailable: not possible yet; the guardian retries.
  virtual Result<> End(const std::string& file) = 0;
};

// How long nothing is suspended after a start that follows an unclean end: a suspension may have
// caused it.
inline constexpr Duration kAfterUncleanEnd = std::chrono::minutes(10);

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
               const std::function<int(TemporaryWriter&)>& agent);

// Restores what the records of the state folder name whenever no guardian holds them, until SIGTERM
// or SIGINT: a program of its own, in case the guardian is killed. Returns the exit status.
int RunThawer(const GuardianRules& rules, Logger& log);

}  // namespace synergy::nodeagent
