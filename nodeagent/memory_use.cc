#include "nodeagent/memory_use.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

// cgroup v1 writes the largest number of whole pages where there is no limit.
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

// The value of a line "name value" of memory.stat.
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

}  // namespace

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
  // Since Linux 5.18; what of it can be given back with the page cache is not held.
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
