#pragma once

// Sums the bytes that the processes of a control group have read.
//
// The kernel counts reads per process (/proc/PID/io: rchar, read_bytes), not per group. A process
// that ends passes its counts to the process that waits for it, so the living processes have all
// counts. Reading them requires the host's PID namespace and the capabilities SYS_PTRACE and
// DAC_READ_SEARCH; without these there are no readings (docs/internals/node-agent.md).
//
// Threading: any thread.

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace synergy::nodeagent {

// The maximum number of processes in a group. Each takes one file read, so larger groups get no
// readings.
inline constexpr size_t kMostProcesses = 512;

struct ReadTotals {
  double read = 0;     // bytes that read calls returned, from files and all other sources
  double fetched = 0;  // bytes that came from storage
};
// Parses the text of /proc/PID/io; returns nullopt if it is malformed.
std::optional<ReadTotals> ParseProcessReads(std::string_view io);

class GroupReads {
 public:
  explicit GroupReads(std::string proc_folder) : proc_folder_(std::move(proc_folder)) {}

  // Returns the totals of the group in `folder`, which never decrease; nullopt if its processes are
  // invisible, unreadable, or too many.
  std::optional<ReadTotals> Of(const std::string& folder);

 private:
  struct Group {
    ReadTotals reported;
    ReadTotals lost;  // counts of ended processes whose parents did not wait for them
    int behind = 0;   // consecutive readings whose totals were below `reported`
  };

  std::optional<ReadTotals> Sum(const std::string& folder) const;

  const std::string proc_folder_;
  std::mutex mutex_;
  std::map<std::string, Group> groups_;  // by folder
};

}  // namespace synergy::nodeagent
