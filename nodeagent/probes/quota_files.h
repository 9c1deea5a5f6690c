#pragma once

// The quota files of control groups, and the records of temporary quotas: the file FOLDER/quotas,
// with a line for each, which is always replaced as a whole.
//
// Threading: one owner.
// Failures: as cgroup_files.h says. Touches only files named cpu.max or cpu.cfs_quota_us below the
// folder of control groups; kInvalid for any other.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/probes/quota_table.h"

namespace synergy::nodeagent {

class CgroupQuotaFiles final : public QuotaFiles {
 public:
  CgroupQuotaFiles(std::string cgroup_folder, std::string state_folder)
      : cgroup_folder_(std::move(cgroup_folder)), state_folder_(std::move(state_folder)) {}

  // Creates the state folder if necessary, and locks it for this process as long as it lives.
  // kConflict: another process holds the lock.
  Result<> Lock();
  // Returns the records saved last. REQUIRES: Lock() has succeeded.
  Result<std::vector<KeptQuota>> Load() const;

  Result<uint64_t> FolderOf(const std::string& file) override;
  Result<std::string> Read(const std::string& file) override;
  Result<> Write(const std::string& file, const std::string& text) override;
  Result<> Save(std::span<const KeptQuota> quotas) override;

 private:
  Result<> Check(const std::string& file) const;

  const std::string cgroup_folder_;
  const std::string state_folder_;
  std::unique_ptr<OpenFile> lock_;
};

// Formats lines of INODE, FORMER, WRITTEN and FILE, separated by tabs.
std::string WriteQuotaRecords(std::span<const KeptQuota> quotas);
// Skips malformed lines.
std::vector<KeptQuota> ParseQuotaRecords(std::string_view text);

}  // namespace synergy::nodeagent
