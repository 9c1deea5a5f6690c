#include "nodeagent/memory/v2_memory_group.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// The amount reclaimed per step. Between two steps a stop is noticed, and memory that was freed
// meanwhile is no longer reclaimed.
constexpr Bytes kStep = MiB(64);
// Give up after this many consecutive steps that release nothing.
constexpr int kMostReclaimsInVain = 3;

}  // namespace

Result<MemoryUse> V2MemoryGroup::Read() {
  const Result<std::string> usage = ReadCgroupFile(folder_ + "/memory.current");
  if (!usage) return Fail(usage.error());
  const Result<std::string> stat = ReadCgroupFile(folder_ + "/memory.stat");
  if (!stat) return Fail(stat.error());
  return ParseMemoryUseV2(*usage, *stat);
}

Result<Bytes> V2MemoryGroup::Limit() {
  const Result<std::string> text = ReadCgroupFile(folder_ + "/memory.max");
  if (!text) return Fail(text.error());
  return ParseMemoryLimit(*text);
}

Result<MemorySample> V2MemoryGroup::Sample() {
  const Result<std::string> usage = ReadCgroupFile(folder_ + "/memory.current");
  if (!usage) return Fail(usage.error());
  const Result<std::string> stat = ReadCgroupFile(folder_ + "/memory.stat");
  if (!stat) return Fail(stat.error());
  // Not every kernel is built or booted with pressure information.
  const Result<std::string> pressure = ReadCgroupFile(folder_ + "/memory.pressure");
  Result<MemorySample> sample = ParseMemorySampleV2(*usage, *stat, pressure ? *pressure : "");
  if (!sample) return sample;
  std::error_code error;
  sample->cache_can_be_released =
      !refused_ && std::filesystem::exists(folder_ + "/memory.reclaim", error);
  return sample;
}

bool V2MemoryGroup::MaySwap() const {
  const Result<std::string> most = ReadCgroupFile(folder_ + "/memory.swap.max");
  if (most && *most == "0\n") return false;
  const Result<std::string> swaps = ReadCgroupFile(proc_folder_ + "/swaps");
  // The file has a heading line, and a line for each swap area.
  return swaps && std::count(swaps->begin(), swaps->end(), '\n') > 1;
}

Result<bool> V2MemoryGroup::Drop(Bytes amount) {
  const std::string file = folder_ + "/memory.reclaim";
  const bool spare_anonymous = MaySwap();
  const Result<Written> written = WriteCgroupFile(
      file, fmt::format("{}{}", amount.count(), spare_anonymous ? " swappiness=0" : ""));
  if (!written) return Fail(written.error());
  // EAGAIN means that less was released than requested.
  if (written->done || written->error == EINTR) return true;
  if (written->error == EAGAIN) return false;
  refused_ = spare_anonymous && written->error == EINVAL;
  return Fail(CgroupError(file, written->error));
}

Result<> V2MemoryGroup::Release(Bytes target, const std::stop_token& stop) {
  Bytes before = Bytes(INT64_MAX);
  for (int in_vain = 0; in_vain < kMostReclaimsInVain && !stop.stop_requested();) {
    const Result<MemoryUse> use = Read();
    if (!use) return Fail(use.error());
    if (use->usage <= target) return {};
    in_vain = use->usage < before ? 0 : in_vain + 1;
    before = use->usage;
    const Bytes step = std::min(use->usage - target, kStep);
    if (const Result<bool> dropped = Drop(step); !dropped) return Fail(dropped.error());
  }
  return {};
}

}  // namespace synergy::nodeagent
