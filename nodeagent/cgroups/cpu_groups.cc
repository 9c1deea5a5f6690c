#include "nodeagent/cgroups/cpu_groups.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/cgroups/cgroup_folders.h"
#include "nodeagent/cgroups/waited_time.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

std::optional<int64_t> ToNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() || number < 0) return std::nullopt;
  return number;
}

// Returns the number after `name`, which must begin a line or follow a space.
std::optional<int64_t> Find(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || text[at - 1] == '\n' || text[at - 1] == ' ')
      return ToNumber(text.substr(at + name.size()));
  }
  return std::nullopt;
}

Error Invalid(std::string_view file, std::string_view text) {
  return {ErrorCode::kInvalid, fmt::format("{} says \"{}\"", file, text.substr(0, 100))};
}

// Returns how long the pod's own quota has throttled its containers. The kernel counts this time
// only in the pod's group.
int64_t ThrottledAbove(const std::string& container_folder, std::string_view name) {
  const Result<std::string> stat =
      ReadCgroupFile(fs::path(container_folder).parent_path().string() + "/cpu.stat");
  return stat ? Find(*stat, name).value_or(0) : 0;
}

class V2CpuGroups final : public CpuGroups {
 public:
  V2CpuGroups(std::string hierarchy, std::string kubelet_cgroup_root)
      : folders_(std::move(hierarchy), std::move(kubelet_cgroup_root)) {}

  Result<CpuUse> Read(const wire::ResizeStatus& pod,
                      const wire::ResizeStatus::Container& container) override {
    const Result<std::string> folder = folders_.OfContainer(pod, container);
    if (!folder) return Fail(folder.error());
    const Result<std::string> stat = ReadCgroupFile(*folder + "/cpu.stat");
    if (!stat) return Fail(stat.error());
    const Result<std::string> pressure = ReadCgroupFile(*folder + "/cpu.pressure");
    Result<CpuUse> use = ParseCpuUseV2(*stat, pressure ? *pressure : "");
    if (use)
      use->throttled += std::chrono::microseconds(ThrottledAbove(*folder, "throttled_usec "));
    return use;
  }

 private:
  const CgroupFolders folders_;
};

// The hierarchies cpuacct and cpu, which are the same on most machines.
class V1CpuGroups final : public CpuGroups {
 public:
  V1CpuGroups(const std::string& cgroup_folder, const std::string& kubelet_cgroup_root)
      : times_(cgroup_folder + "/cpuacct", kubelet_cgroup_root),
        quotas_(cgroup_folder + "/cpu", kubelet_cgroup_root),
        waited_("/proc") {}

  Result<CpuUse> Read(const wire::ResizeStatus& pod,
                      const wire::ResizeStatus::Container& container) override {
    const Result<std::string> times = times_.OfContainer(pod, container);
    if (!times) return Fail(times.error());
    const Result<std::string> quotas = quotas_.OfContainer(pod, container);
    if (!quotas) return Fail(quotas.error());
    const Result<std::string> usage = ReadCgroupFile(*times + "/cpuacct.usage");
    if (!usage) return Fail(usage.error());
    const Result<std::string> stat = ReadCgroupFile(*quotas + "/cpu.stat");
    if (!stat) return Fail(stat.error());
    Result<CpuUse> use = ParseCpuUseV1(*usage, *stat);
    if (!use) return use;
    use->throttled += std::chrono::nanoseconds(ThrottledAbove(*quotas, "throttled_time "));
    use->waited = waited_.Of(*times);
    return use;
  }

 private:
  const CgroupFolders times_;
  const CgroupFolders quotas_;
  WaitedTimes waited_;
};

}  // namespace

Result<CpuUse> ParseCpuUseV2(std::string_view stat, std::string_view pressure) {
  using std::chrono::microseconds;
  const auto used = Find(stat, "usage_usec ");
  if (!used) return Fail(Invalid("cpu.stat", stat));
  CpuUse use{.used = microseconds(*used)};
  // Without the CPU controller there is neither a quota nor this line.
  use.throttled = microseconds(Find(stat, "throttled_usec ").value_or(0));
  use.waited = ParseSomeStalled(pressure);
  return use;
}

Result<CpuUse> ParseCpuUseV1(std::string_view usage, std::string_view stat) {
  using std::chrono::nanoseconds;
  const auto used = ToNumber(usage);
  if (!used) return Fail(Invalid("cpuacct.usage", usage));
  return CpuUse{.used = nanoseconds(*used),
                .throttled = nanoseconds(Find(stat, "throttled_time ").value_or(0)),
                .waited = std::nullopt};
}

Result<std::unique_ptr<CpuGroups>> FindCpuGroups(std::string cgroup_folder,
                                                 std::string kubelet_cgroup_root) {
  std::error_code error;
  if (fs::exists(cgroup_folder + "/cpuacct/cpuacct.usage", error) &&
      fs::exists(cgroup_folder + "/cpu/cpu.stat", error)) {
    return std::make_unique<V1CpuGroups>(cgroup_folder, kubelet_cgroup_root);
  }
  if (fs::exists(cgroup_folder + "/cpu.stat", error)) {
    return std::make_unique<V2CpuGroups>(std::move(cgroup_folder), std::move(kubelet_cgroup_root));
  }
  return Fail(
      ErrorCode::kNotFound,
      fmt::format("{}: there is no CPU controller of control groups v1 or v2", cgroup_folder));
}

}  // namespace synergy::nodeagent
