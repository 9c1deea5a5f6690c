#include "nodeagent/probes/cpu_quota.h"

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

// Returns microseconds. `present` negative: no quota.
Result<int64_t> QuotaOf(MilliCpu cpu, int64_t present, int64_t period) {
  const int64_t quota = cpu.count() * period / 1000;
  if (quota < kLeastQuota) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}m of CPU are less than {} us of {} us, the kernel's least quota",
                            cpu.count(), kLeastQuota, period));
  }
  if (present >= 0 && quota >= present) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{}m of CPU are not less than its quota, {} us of {} us", cpu.count(),
                            present, period));
  }
  return quota;
}

Error OddQuota(std::string_view quota, std::string_view period) {
  return {ErrorCode::kInvalid,
          fmt::format("\"{}\" of \"{}\" us is not a quota", Trimmed(quota), Trimmed(period))};
}

Result<std::string> ReadTrimmed(const std::string& file) {
  const Result<std::string> text = ReadCgroupFile(file);
  if (!text) return text;
  return std::string(Trimmed(*text));
}

class V2CpuQuotas final : public CpuQuotas {
 public:
  V2CpuQuotas(std::string hierarchy, std::string kubelet_cgroup_root)
      : folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<QuotaPlan> Plan(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container&,
                         MilliCpu cpu) override {
    const Result<std::string> folder = folders_.OfPod(pod);
    if (!folder) return Fail(folder.error());
    QuotaPlan plan{*folder + "/cpu.max", ""};
    const Result<std::string> present = Read(plan.file);
    if (!present) return Fail(present.error());
    Result<std::string> text = QuotaTextV2(cpu, *present);
    if (!text) return Fail(text.error());
    plan.text = *std::move(text);
    return plan;
  }
  Result<std::string> Read(const std::string& file) override { return ReadTrimmed(file); }

 private:
  const CgroupFolders folders_;
};

class V1CpuQuotas final : public CpuQuotas {
 public:
  V1CpuQuotas(std::string hierarchy, std::string kubelet_cgroup_root)
      : folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<QuotaPlan> Plan(const wire::ResizeStatus& pod,
                         const wire::ResizeStatus::Container& training, MilliCpu cpu) override {
    Result<std::string> folder = folders_.OfPod(pod);
    if (folder && AnyBelowHasQuota(*folder)) folder = folders_.OfContainer(pod, training);
    if (!folder) return Fail(folder.error());
    QuotaPlan plan{*folder + "/cpu.cfs_quota_us", ""};
    const Result<std::string> present = Read(plan.file);
    if (!present) return Fail(present.error());
    const Result<std::string> period = Read(*folder + "/cpu.cfs_period_us");
    if (!period) return Fail(period.error());
    Result<std::string> text = QuotaTextV1(cpu, *present, *period);
    if (!text) return Fail(text.error());
    plan.text = *std::move(text);
    return plan;
  }
  Result<std::string> Read(const std::string& file) override { return ReadTrimmed(file); }

 private:
  bool AnyBelowHasQuota(const std::string& folder) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const Result<std::string> quota = Read(entry.path().string() + "/cpu.cfs_quota_us");
      if (quota && *quota != "-1") return true;
    }
    return false;
  }

  const CgroupFolders folders_;
};

}  // namespace

Result<std::string> QuotaTextV2(MilliCpu cpu, std::string_view present) {
  present = Trimmed(present);
  const size_t space = present.find(' ');
  const std::string_view quota = present.substr(0, space);
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : present.substr(space + 1);
  const std::optional<int64_t> period = WholeNumber(rest);
  const std::optional<int64_t> number = quota == "max" ? -1 : WholeNumber(quota);
  if (!number || !period || *period <= 0) return Fail(OddQuota(quota, rest));
  const Result<int64_t> wanted = QuotaOf(cpu, *number, *period);
  if (!wanted) return Fail(wanted.error());
  return fmt::format("{} {}", *wanted, *period);
}

Result<std::string> QuotaTextV1(MilliCpu cpu, std::string_view present, std::string_view period) {
  const std::optional<int64_t> number = WholeNumber(Trimmed(present));
  const std::optional<int64_t> length = WholeNumber(Trimmed(period));
  if (!number || !length || *length <= 0) return Fail(OddQuota(present, period));
  const Result<int64_t> wanted = QuotaOf(cpu, *number, *length);
  if (!wanted) return Fail(wanted.error());
  return fmt::format("{}", *wanted);
}

Result<std::unique_ptr<CpuQuotas>> FindCpuQuotas(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root) {
  std::error_code error;
  if (fs::exists(cgroup_folder + "/cpu/cpu.stat", error)) {
    return std::make_unique<V1CpuQuotas>(cgroup_folder + "/cpu", std::move(kubelet_cgroup_root));
  }
  if (fs::exists(cgroup_folder + "/cpu.stat", error)) {
    return std::make_unique<V2CpuQuotas>(std::move(cgroup_folder), std::move(kubelet_cgroup_root));
  }
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: there is no CPU controller of control groups v1 or v2", cgroup_folder));
}

}  // namespace synergy::nodeagent
