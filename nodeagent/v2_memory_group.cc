#include "nodeagent/v2_memory_group.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <fmt/format.h>

#include "nodeagent/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// In steps, so that a stop is heeded and nothing is taken that has gone by itself meanwhile.
constexpr Bytes kStep = MiB(64);
// Steps in a row that brought nothing.
constexpr int kMostInVain = 3;

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

Result<> V2MemoryGroup::Release(Bytes target, const std::stop_token& stop) {
  const std::string file = folder_ + "/memory.reclaim";
  Bytes before = Bytes(INT64_MAX);
  for (int in_vain = 0; in_vain < kMostInVain && !stop.stop_requested();) {
    const Result<MemoryUse> use = Read();
    if (!use) return Fail(use.error());
    if (use->usage <= target) return {};
    in_vain = use->usage < before ? 0 : in_vain + 1;
    before = use->usage;
    const Bytes step = std::min(use->usage - target, kStep);
    const Result<Written> written = WriteCgroupFile(file, std::to_string(step.count()));
    if (!written) return Fail(written.error());
    // EAGAIN: less was given back than asked for.
    if (!written->done && written->error != EAGAIN && written->error != EINTR)
      return Fail(CgroupError(file, written->error));
  }
  return {};
}

}  // namespace synergy::nodeagent
