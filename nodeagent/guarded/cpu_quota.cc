#include "nodeagent/guarded/cpu_quota.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cgroup_folders.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLeastQuota = 1000;  // microseconds; the kernel's minimum

std::string_view Trimmed(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A group's quota and its period, in microseconds.
struct GroupQuota {
  int64_t quota = 0;  // negative: none
  int64_t period = 0;
};

Result<std::string> ReadTrimmed(const std::string& file) {
  const Result<std::string> text = ReadCgroupFile(file);
  if (!text) return text;
  return std::string(Trimmed(*text));
}

Result<GroupQuota> ParseQuota(const std::string& file, std::string_view quota,
                              std::string_view period) {
  const std::optional<int64_t> number = quota == "max" ? -1 : WholeNumber(quota);
  const std::optional<int64_t> length = WholeNumber(period);
  if (number && length && *length > 0) return GroupQuota{*number, *length};
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}: \"{}\" of \"{}\" us is not a quota", file, quota, period));
}

// Returns the quota in microseconds, one more than a kubelet would write for the same amount.
Result<int64_t> Wanted(const CpuProbe& probe, const GroupQuota& present) {
  const int64_t quota = probe.cpu.count() * present.period / 1000;
  if (quota < kLeastQuota) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}m of CPU are less than {} us of {} us, the kernel's least quota",
                            probe.cpu.count(), kLeastQuota, present.period));
  }
  const bool changes = probe.burst         ? present.quota >= 0 && quota > present.quota
                       : present.quota < 0 ? true
                                           : quota < present.quota;
  if (!changes) {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{}m of CPU are not {} than its quota, {} us of {} us", probe.cpu.count(),
                    probe.burst ? "more" : "less", present.quota, present.period));
  }
  return quota + 1;
}

// One version of control groups. `Files` reads and formats the quota of a group's folder.
template <class Files>
class GroupQuotas final : public CpuQuotas {
 public:
  GroupQuotas(std::string hierarchy, std::string kubelet_cgroup_root)
      : folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<QuotaPlan> Plan(const wire::ResizeStatus& pod,
                         const wire::ResizeStatus::Container& training,
                         const CpuProbe& probe) override {
    const Result<std::string> of_pod = folders_.OfPod(pod);
    if (!of_pod) return Fail(of_pod.error());
    const bool container = probe.burst || Files::MustBeOfContainer(*of_pod);
    const Result<std::string> folder = container ? folders_.OfContainer(pod, training) : of_pod;
    if (!folder) return Fail(folder.error());
    const Result<GroupQuota> present = Files::Read(*folder);
    if (!present) return Fail(present.error());
    const Result<int64_t> wanted = Wanted(probe, *present);
    if (!wanted) return Fail(wanted.error());
    QuotaPlan plan{Files::Write(*folder, {*wanted, present->period})};
    if (!probe.burst) return plan;
    const Result<GroupQuota> whole = Files::Read(*of_pod);
    if (!whole) return Fail(whole.error());
    if (whole->quota < 0) return plan;
    // Their periods are equal, because the kubelet sets both.
    const int64_t more = *wanted - present->quota;
    plan.insert(plan.begin(), Files::Write(*of_pod, {whole->quota + more, whole->period}));
    return plan;
  }
  Result<std::string> Read(const std::string& file) override { return ReadTrimmed(file); }

 private:
  const CgroupFolders folders_;
};

struct V2Files {
  static bool MustBeOfContainer(const std::string&) { return false; }
  static Result<GroupQuota> Read(const std::string& folder) {
    const std::string file = folder + "/cpu.max";  // "max 100000" or "40000 100000"
    const Result<std::string> text = ReadTrimmed(file);
    if (!text) return Fail(text.error());
    const size_t space = std::min(text->find(' '), text->size());
    const std::string_view all = *text;
    return ParseQuota(file, all.substr(0, space), all.substr(std::min(space + 1, all.size())));
  }
  static PlannedQuota Write(const std::string& folder, const GroupQuota& quota) {
    return {folder + "/cpu.max", fmt::format("{} {}", quota.quota, quota.period)};
  }
};

struct V1Files {
  static bool MustBeOfContainer(const std::string& of_pod) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(of_pod, error)) {
      const Result<std::string> quota = ReadTrimmed(entry.path().string() + "/cpu.cfs_quota_us");
      if (quota && *quota != "-1") return true;
    }
    return false;
  }
  static Result<GroupQuota> Read(const std::string& folder) {
    const std::string file = folder + "/cpu.cfs_quota_us";  // "-1" or "40000"
    const Result<std::string> quota = ReadTrimmed(file);
    if (!quota) return Fail(quota.error());
    const Result<std::string> period = ReadTrimmed(folder + "/cpu.cfs_period_us");
    if (!period) return Fail(period.error());
    return ParseQuota(file, *quota, *period);
  }
  static PlannedQuota Write(const std::string& folder, const GroupQuota& quota) {
    return {folder + "/cpu.cfs_quota_us", fmt::to_string(quota.quota)};
  }
};

}  // namespace

Result<std::unique_ptr<CpuQuotas>> FindCpuQuotas(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root) {
  std::error_code error;
  if (fs::exists(cgroup_folder + "/cpu/cpu.stat", error)) {
    return std::make_unique<GroupQuotas<V1Files>>(cgroup_folder + "/cpu",
                                                  std::move(kubelet_cgroup_root));
  }
  if (fs::exists(cgroup_folder + "/cpu.stat", error)) {
    return std::make_unique<GroupQuotas<V2Files>>(std::move(cgroup_folder),
                                                  std::move(kubelet_cgroup_root));
  }
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: there is no CPU controller of control groups v1 or v2", cgroup_folder));
}

}  // namespace synergy::nodeagent
