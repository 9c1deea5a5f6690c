#pragma once

// The texts that control-group files contain for a limited time (write_kind.h). Each is recorded,
// written, and later replaced by the former text:
//
//            recorded, then written            its time is over, End, EndAll, or a new start
//   Begin -------------------------> kept ----------------------------------------------> due
//                                                                                          |
//     the group is gone or replaced, or the file was rewritten by others: left alone       |
//   dropped <------------------------------------------------------------------------------+
//   dropped <---- the former text is written again ----------------------------------------+
//   due <-------- the kernel refuses that: again after a second ---------------------------+
//
// Threading: one owner. Failures: a text whose record cannot be saved is not written.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "nodeagent/guarded/write_kind.h"

namespace synergy::nodeagent {

struct KeptWrite {
  std::string file;     // "/sys/fs/cgroup/cpu/kubepods/pod1-2/cpu.cfs_quota_us"
  uint64_t folder = 0;  // inode of the group's folder: distinguishes groups of the same name
  std::string former;   // text that restores the file's previous content
  std::string written;

  bool operator==(const KeptWrite&) const = default;
};

// The table's access to the machine. Failures: kNotFound if there is no such group.
class WriteFiles {
 public:
  virtual ~WriteFiles() = default;

  // Returns the inode of the folder that contains the file.
  virtual Result<uint64_t> FolderOf(const std::string& file) = 0;
  // Returns the content without the newline.
  virtual Result<std::string> Read(const std::string& file) = 0;
  virtual Result<> Write(const std::string& file, const std::string& text) = 0;
  // Replaces the saved records by `writes`. Saved records outlast this process.
  virtual Result<> Save(std::span<const KeptWrite> writes) = 0;
};

class TemporaryWrites {
 public:
  // Both must outlive the table.
  TemporaryWrites(WriteFiles& files, Logger& log) : files_(files), log_(log) {}

  // Takes over the records of an earlier process, and makes them all due.
  void Adopt(std::vector<KeptWrite> left, Instant now);
  // Records and writes `text` for at most `longest`. Returns kConflict if the table already has the
  // file, or another process already suspends the group or limits its reads. Returns kInvalid if
  // the file or the text has no kind (write_kind.h).
  Result<> Begin(const std::string& file, const std::string& text, Duration longest, Instant now);
  // Restores the file now. Returns kNotFound if the table does not have it, for example because its
  // time was over. Returns kUnavailable if the file cannot be restored yet; Step() retries it.
  Result<> End(const std::string& file, Instant now);
  // Makes all writes due.
  void EndAll(Instant now);
  // Restores the files that are due.
  void Step(Instant now);

  // Returns when there is something to do next; nullopt if never.
  std::optional<Instant> Next() const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    KeptWrite write;
    Instant due;
    int failures = 0;
  };

  // Returns whether the entry can be removed.
  bool Settle(Entry& entry, Instant now);
  bool Failed(Entry& entry, const Error& error, Instant now);
  Result<> Save();

  WriteFiles& files_;
  Logger& log_;
  std::vector<Entry> entries_;
};

}  // namespace synergy::nodeagent
