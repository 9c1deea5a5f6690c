#pragma once

// The control-group files that are written for a limited time (write_kind.h), and the records of
// these writes. The records are the lines of the file FOLDER/writes, which is always replaced as a
// whole.
//
// Threading: one owner. Failures: as in cgroup_files.h; kInvalid for a file that has no kind or is
// not below the folder of control groups.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/guarded/temporary_writes.h"

namespace synergy::nodeagent {

class GroupWriteFiles final : public WriteFiles {
 public:
  GroupWriteFiles(std::string cgroup_folder, std::string state_folder)
      : cgroup_folder_(std::move(cgroup_folder)), state_folder_(std::move(state_folder)) {}

  // Creates the state folder if necessary, and locks it for this process while it lives. Returns
  // kConflict if another process holds the lock.
  Result<> Lock();
  // Returns the saved records; without Lock() they may belong to another process.
  Result<std::vector<KeptWrite>> Load() const;
  // Returns whether the file FOLDER/suspends exists. It exists from the first suspension until a
  // clean end of the agent and the guardian. If it exists at a start, the last end was unclean.
  bool Suspends() const;
  Result<> SetSuspends(bool suspends);

  Result<uint64_t> FolderOf(const std::string& file) override;
  Result<std::string> Read(const std::string& file) override;
  Result<> Write(const std::string& file, const std::string& text) override;
  Result<> Save(std::span<const KeptWrite> writes) override;

 private:
  Result<> Check(const std::string& file) const;

  const std::string cgroup_folder_;
  const std::string state_folder_;
  std::unique_ptr<OpenFile> lock_;
};

// Formats lines of INODE, FORMER, WRITTEN and FILE, separated by tabs.
std::string FormatWriteRecords(std::span<const KeptWrite> writes);
// Skips malformed lines.
std::vector<KeptWrite> ParseWriteRecords(std::string_view text);

}  // namespace synergy::nodeagent
