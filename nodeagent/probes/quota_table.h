#pragma once

// The temporary CPU quotas on control groups, and how each of them is removed again:
//
//            recorded, then written            its time is over, End, EndAll, or a new start
//   Begin -------------------------> kept ----------------------------------------------> due
//                                                                                          |
//     the group is gone or replaced, or the quota was rewritten by others: left alone      |
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

// The longest time that a quota stays, whatever was requested.
inline constexpr Duration kLongestQuota = std::chrono::minutes(2);

struct KeptQuota {
  std::string file;     // "/sys/fs/cgroup/cpu/kubepods/pod1-2/cpu.cfs_quota_us"
  uint64_t folder = 0;  // inode of the group's folder: tells groups of the same name apart
  std::string former;   // the file's previous content
  std::string written;

  bool operator==(const KeptQuota&) const = default;
};

// The machine as the table sees it.
// Failures: kNotFound if there is no such group.
class QuotaFiles {
 public:
  virtual ~QuotaFiles() = default;

  // Returns the inode of the folder that contains the file.
  virtual Result<uint64_t> FolderOf(const std::string& file) = 0;
  // Returns the content without the newline.
  virtual Result<std::string> Read(const std::string& file) = 0;
  virtual Result<> Write(const std::string& file, const std::string& text) = 0;
  // Saves exactly these records, so that they outlast this process.
  virtual Result<> Save(std::span<const KeptQuota> quotas) = 0;
};

class QuotaTable {
 public:
  // Both outlive the table.
  QuotaTable(QuotaFiles& files, Logger& log) : files_(files), log_(log) {}

  // Takes over the records of an earlier process; all of them are due.
  void Adopt(std::vector<KeptQuota> left, Instant now);
  // kConflict: the table already has the file.
  Result<> Begin(const std::string& file, const std::string& text, Duration longest, Instant now);
  // Restores the quota now. kNotFound: the table does not have it, for instance because its time
  // was over; kUnavailable: it must be retried.
  Result<> End(const std::string& file, Instant now);
  // Makes all quotas due.
  void EndAll(Instant now);
  // Restores what is due.
  void Step(Instant now);

  // Returns when there is something to do next; none: never.
  std::optional<Instant> Next() const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    KeptQuota quota;
    Instant due;
    int failures = 0;
  };

  // Returns whether nothing is left to do.
  bool Settle(Entry& entry, Instant now);
  bool Failed(Entry& entry, const Error& error, Instant now);
  Result<> Save();

  QuotaFiles& files_;
  Logger& log_;
  std::vector<Entry> entries_;
};

}  // namespace synergy::nodeagent
