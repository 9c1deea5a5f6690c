#include "nodeagent/memory/data_use.h"

#include <memory>

#include "nodeagent/cgroups/cgroup_files.h"
#include "nodeagent/memory/memory_use.h"

namespace synergy::nodeagent {

std::optional<synergy::MemoryUse> KernelDataUse::Read(
    const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) {
  const Result<std::string> folder = folders_.OfContainer(pod, container);
  if (!folder) return std::nullopt;
  // Count the reads first, because without permission to see them, the rest is not needed.
  const auto reads = reads_.Of(*folder);
  if (!reads) return std::nullopt;
  const Result<std::unique_ptr<MemoryGroup>> group = groups_.OfContainer(pod, container);
  if (!group) return std::nullopt;
  const Result<MemorySample> sample = (*group)->Sample();
  if (!sample) return std::nullopt;
  const Result<std::string> pressure = ReadCgroupFile(*folder + "/io.pressure");
  synergy::MemoryUse use;
  // Mapped memory (programs and data) is not dropped, so it is not fungible.
  use.process = sample->use.held + sample->mapped;
  use.cache = sample->cache;
  use.read = reads->read;
  use.fetched = reads->fetched;
  if (pressure) use.starved = ParseSomeStalled(*pressure);
  return use;
}

}  // namespace synergy::nodeagent
