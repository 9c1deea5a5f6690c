#pragma once

// A process that writes to control-group files for a limited time (temporary CPU quotas, caps on
// reads, suspensions) and restores them, whatever happens to the agent, which is its child. It has
// no threads and communicates only with the agent.
//
//   RunGuarded ---- fork ----> the agent: TemporaryWriter, a socket to its parent
//       |
//       the guardian: restores a file when its time is over (at most two minutes), on End(), on
//       SIGTERM, and when the agent ends for any reason
//
// The agent does not outlive the guardian. If the guardian is killed, the next guardian restores
// the files from the records in the state folder (write_files.h).
//
// Threading: the main thread calls RunGuarded before any other thread exists. Failures: without a
// state folder nothing is written (kUnavailable), but everything else works.

#include <chrono>
#include <functional>
#include <string>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::nodeagent {

// The agent's side.
//
// Threading: any thread; calls must not overlap.
class TemporaryWriter {
 public:
  virtual ~TemporaryWriter() = default;

  // Writes `text` to a control-group file that has a kind (write_kind.h), for at most `longest`.
  // Returns kConflict if the file is already written temporarily. Returns kTimeout if the guardian
  // did not answer in time; if it writes the file later, it restores the file at once. Returns
  // kUnavailable for a suspension within kAfterUncleanEnd of a start that follows an unclean end.
  virtual Result<> Begin(const std::string& file, const std::string& text, Duration longest) = 0;
  // Restores the file, unless another process has changed it since. Returns kNotFound if it is
  // already restored, and kUnavailable if that is not possible yet; the guardian then retries.
  virtual Result<> End(const std::string& file) = 0;
};

// After a start that follows an unclean end, nothing is suspended for this time, because a
// suspension may have caused the unclean end.
inline constexpr Duration kAfterUncleanEnd = std::chrono::minutes(10);

struct GuardianRules {
  std::string cgroup_folder;
  std::string state_folder;
  // Time from SIGTERM until the agent is killed if it has not ended on its own.
  Duration stop_grace{};
};

// Runs `agent` in a child process and returns its exit status in both processes: 128 plus the
// signal's number if a signal ended it, and 1 if no child can be created. Passes SIGTERM and SIGINT
// to the child.
int RunGuarded(const GuardianRules& rules, Logger& log,
               const std::function<int(TemporaryWriter&)>& agent);

// Restores the files that the records in the state folder name whenever no guardian holds the
// records, until SIGTERM or SIGINT. It runs as a separate process, so that it continues if the
// guardian is killed. Returns the exit status.
int RunThawer(const GuardianRules& rules, Logger& log);

}  // namespace synergy::nodeagent
