#include "nodeagent/memory/memory_use.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// Without a limit, cgroup v1 writes the largest number of whole pages.
constexpr int64_t kNoLimitV1 = std::numeric_limits<int64_t>::max() / 65536 * 65536;

std::optional<int64_t> ParseCount(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0) return std::nullopt;
  return count;
}

tl::unexpected<Error> NoNumber(std::string_view what, std::string_view text) {
  return Fail(ErrorCode::kInvalid,
              fmt::format("{}: \"{}\" is not a number", what, text.substr(0, 60)));
}

// Returns the value of a line "name value" of memory.stat.
std::optional<int64_t> Stat(std::string_view stat, std::string_view name) {
  while (!stat.empty()) {
    const std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(stat.size(), line.size() + 1));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ')
      return ParseCount(line.substr(name.size() + 1));
  }
  return std::nullopt;
}

Result<Bytes> Sum(std::string_view stat, std::initializer_list<std::string_view> names) {
  Bytes sum;
  for (const std::string_view name : names) {
    const std::optional<int64_t> value = Stat(stat, name);
    if (!value)
      return Fail(ErrorCode::kInvalid, fmt::format("memory.stat: {} cannot be read", name));
    sum += Bytes(*value);
  }
  return sum;
}

// Assumes that machines with GPUs have pages of 4 KiB. With larger pages, byte counts would be too
// low by the ratio of the page sizes.
constexpr int64_t kPage = 4096;

// Returns the value of a line "name:   123 kB" of /proc/meminfo.
std::optional<Bytes> Kilobytes(std::string_view meminfo, std::string_view name) {
  while (!meminfo.empty()) {
    std::string_view line = meminfo.substr(0, meminfo.find('\n'));
    meminfo.remove_prefix(std::min(meminfo.size(), line.size() + 1));
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    const size_t begin = line.find_first_not_of(' ');
    const size_t end = line.rfind(" kB");
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) break;
    const std::optional<int64_t> count = ParseCount(line.substr(begin, end - begin));
    if (!count) break;
    return Bytes(*count * 1024);
  }
  return std::nullopt;
}

// Returns the page cache of files: the pages on the kernel's lists, and locked pages, which are on
// no list. `cached`: including shared memory.
Bytes WithLocked(Bytes listed, std::optional<int64_t> cached, std::optional<int64_t> shared) {
  return cached && shared ? std::max(listed, Bytes(*cached - *shared)) : listed;
}

}  // namespace

Result<MemorySample> ParseMemorySampleV2(std::string_view usage, std::string_view stat,
                                         std::string_view pressure) {
  const Result<MemoryUse> use = ParseMemoryUseV2(usage, stat);
  if (!use) return Fail(use.error());
  const Result<Bytes> inactive = Sum(stat, {"inactive_file"});
  const Result<Bytes> listed = Sum(stat, {"active_file", "inactive_file"});
  const Result<Bytes> mapped = Sum(stat, {"file_mapped"});
  const Result<Bytes> unwritten = Sum(stat, {"file_dirty", "file_writeback"});
  for (const Result<Bytes>* part : {&inactive, &listed, &mapped, &unwritten}) {
    if (!*part) return Fail(part->error());
  }
  MemorySample sample;
  sample.use = *use;
  // Mapped shared memory is also part of `held`; counting it twice errs on the safe side.
  sample.mapped = std::min(*mapped, WithLocked(*listed, Stat(stat, "file"), Stat(stat, "shmem")));
  sample.cache = std::max(*listed - sample.mapped - *unwritten, Bytes(0));
  sample.working_set = std::max(use->usage - *inactive, Bytes(0));
  // Before Linux 5.9 there is one count for all refaults.
  const auto refaults = Stat(stat, "workingset_refault_file");
  sample.refaulted = Bytes(refaults.value_or(Stat(stat, "workingset_refault").value_or(0)) * kPage);
  sample.stalled = ParseSomeStalled(pressure);
  return sample;
}

Result<MemorySample> ParseMemorySampleV1(std::string_view usage, std::string_view stat,
                                         std::string_view kernel) {
  const Result<MemoryUse> use = ParseMemoryUseV1(usage, stat, kernel);
  if (!use) return Fail(use.error());
  const Result<Bytes> inactive = Sum(stat, {"total_inactive_file"});
  if (!inactive) return Fail(inactive.error());
  MemorySample sample;
  sample.use = *use;
  sample.working_set = std::max(use->usage - *inactive, Bytes(0));
  const auto count = [stat](std::string_view name) { return Bytes(Stat(stat, name).value_or(0)); };
  const Bytes listed = count("total_active_file") + *inactive;
  sample.mapped = std::min(count("total_mapped_file"), WithLocked(listed, Stat(stat, "total_cache"),
                                                                  Stat(stat, "total_shmem")));
  const Bytes unwritten = count("total_dirty") + count("total_writeback");
  sample.cache = std::max(listed - sample.mapped - unwritten, Bytes(0));
  return sample;
}

Result<NodeMemory> ParseNodeMemory(std::string_view meminfo) {
  NodeMemory memory;
  const std::optional<Bytes> total = Kilobytes(meminfo, "MemTotal");
  const std::optional<Bytes> free = Kilobytes(meminfo, "MemFree");
  const std::optional<Bytes> inactive = Kilobytes(meminfo, "Inactive(file)");
  if (!total || !free || !inactive) {
    return Fail(ErrorCode::kInvalid,
                "/proc/meminfo: MemTotal, MemFree or Inactive(file) cannot be read");
  }
  return NodeMemory{*total, *free, *free + *inactive};
}

Result<MemoryUse> ParseMemoryUseV1(std::string_view usage, std::string_view stat,
                                   std::string_view kernel) {
  const std::optional<int64_t> used = ParseCount(usage);
  if (!used) return NoNumber("memory.usage_in_bytes", usage);
  const Result<Bytes> held = Sum(stat, {"total_rss", "total_shmem"});
  if (!held) return Fail(held.error());
  const std::optional<int64_t> own = kernel.empty() ? int64_t{0} : ParseCount(kernel);
  if (!own) return NoNumber("memory.kmem.usage_in_bytes", kernel);
  return MemoryUse{Bytes(*used), *held + Bytes(*own)};
}

Result<MemoryUse> ParseMemoryUseV2(std::string_view usage, std::string_view stat) {
  const std::optional<int64_t> used = ParseCount(usage);
  if (!used) return NoNumber("memory.current", usage);
  const Result<Bytes> held = Sum(stat, {"anon", "shmem"});
  if (!held) return Fail(held.error());
  // The line "kernel" exists since Linux 5.18. The part that can be released with the page cache
  // does not count as held.
  const int64_t kernel = Stat(stat, "kernel").value_or(0);
  const int64_t reclaimable = Stat(stat, "slab_reclaimable").value_or(0);
  return MemoryUse{Bytes(*used), *held + Bytes(std::max<int64_t>(kernel - reclaimable, 0))};
}

Result<Bytes> ParseMemoryLimit(std::string_view text) {
  if (text == "max\n" || text == "max") return kNoMemoryLimit;
  const std::optional<int64_t> limit = ParseCount(text);
  if (!limit) return NoNumber("a memory limit", text);
  return *limit >= kNoLimitV1 ? kNoMemoryLimit : Bytes(*limit);
}

}  // namespace synergy::nodeagent
