#pragma once

// The quota files of control groups, and the records of those that are there for a moment: the file
// FOLDER/quotas, a line for each, which is replaced as a whole.
//
// Threading: one owner.
// Failures: as cgroup_files.h says. Only files that are named cpu.max or cpu.cfs_quota_us and lie
// under the folder of control groups are touched, whoever asks for others: kInvalid.

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

  // Makes the state folder where there is none, and takes it for this process alone, for as long as
  // it lives. kConflict while another one has it.
  Result<> Lock();
  // What was saved last; after Lock().
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

// INODE, FORMER, WRITTEN and FILE with tabs between them.
std::string WriteQuotaRecords(std::span<const KeptQuota> quotas);
// Lines that are none are left out.
std::vector<KeptQuota> ParseQuotaRecords(std::string_view text);

}  // namespace synergy::nodeagent
