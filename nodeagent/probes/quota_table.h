#pragma once

// The CPU quotas that are on control groups for a moment, and how each of them goes away again:
//
//            recorded, then written            its time is over, End, EndAll, or a new start
//   Begin -------------------------> kept ----------------------------------------------> due
//                                                                                          |
//     the group is gone, or is another one; somebody else has rewritten it: left alone     |
//   dropped <------------------------------------------------------------------------------+
//   dropped <---- the former quota is written again ---------------------------------------+
//   due <-------- the kernel refuses that: again after a second ---------------------------+
//
// Threading: one owner.
// Failures: a quota that cannot be recorded is not written.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::nodeagent {

// How long a quota stays at most, whatever was asked for.
inline constexpr Duration kLongestQuota = std::chrono::minutes(2);

struct KeptQuota {
  std::string file;     // "/sys/fs/cgroup/cpu/kubepods/pod1-2/cpu.cfs_quota_us"
  uint64_t folder = 0;  // the inode of the control group's folder: another one is another group
  std::string former;   // what it said before
  std::string written;

  bool operator==(const KeptQuota&) const = default;
};

// The machine, as the table sees it. Failures: kNotFound where there is no such group.
class QuotaFiles {
 public:
  virtual ~QuotaFiles() = default;

  // The inode of the folder that the file is in.
  virtual Result<uint64_t> FolderOf(const std::string& file) = 0;
  // Without the end of its line.
  virtual Result<std::string> Read(const std::string& file) = 0;
  virtual Result<> Write(const std::string& file, const std::string& text) = 0;
  // Keeps the records, these and no others, beyond the end of this process.
  virtual Result<> Save(std::span<const KeptQuota> quotas) = 0;
};

class QuotaTable {
 public:
  // Both outlive the table.
  QuotaTable(QuotaFiles& files, Logger& log) : files_(files), log_(log) {}

  // Takes over what an earlier process has left: all of it is due.
  void Adopt(std::vector<KeptQuota> left, Instant now);
  // kConflict where the table has the file already.
  Result<> Begin(const std::string& file, const std::string& text, Duration longest, Instant now);
  // Restores it now. kNotFound when the table does not have it, as after its time; kUnavailable
  // when it has to be tried again.
  Result<> End(const std::string& file, Instant now);
  // From now on all is due.
  void EndAll(Instant now);
  // Restores what is due.
  void Step(Instant now);

  // When there is something to do next; none: never.
  std::optional<Instant> Next() const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    KeptQuota quota;
    Instant due;
    int failures = 0;
  };

  // Whether nothing is left to do.
  bool Settle(Entry& entry, Instant now);
  bool Failed(Entry& entry, const Error& error, Instant now);
  Result<> Save();

  QuotaFiles& files_;
  Logger& log_;
  std::vector<Entry> entries_;
};

}  // namespace synergy::nodeagent
