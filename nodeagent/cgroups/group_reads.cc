#include "nodeagent/cgroups/group_reads.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/result.h"
#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// From the end of a process until its parent waits for it (normally at once), no sum includes its
// counts. Counts still missing after this many readings are considered lost.
constexpr int kGivenUp = 3;

std::optional<double> CountAfter(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) return std::nullopt;
  text.remove_prefix(at + name.size());
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  return static_cast<double>(count);
}

// Returns the group's processes, oldest first; nullopt if there are none, too many, or one without
// an ID in the agent's PID namespace.
std::optional<std::vector<int64_t>> ProcessesOf(const std::string& folder) {
  const Result<std::string> text = ReadCgroupFile(folder + "/cgroup.procs");
  if (!text) return std::nullopt;
  std::vector<int64_t> processes;
  std::string_view rest = *text;
  while (!rest.empty()) {
    int64_t process = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), process);
    if (error != std::errc() || process <= 0) return std::nullopt;
    processes.push_back(process);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    while (rest.starts_with('\n')) rest.remove_prefix(1);
  }
  // Read parents first, so that the counts of a child that ends meanwhile are not counted twice.
  std::sort(processes.begin(), processes.end());
  if (processes.empty() || processes.size() > kMostProcesses) return std::nullopt;
  return processes;
}

}  // namespace

std::optional<ReadTotals> ParseProcessReads(std::string_view io) {
  const auto read = CountAfter(io, "rchar: ");
  const auto fetched = CountAfter(io, "read_bytes: ");
  if (!read || !fetched) return std::nullopt;
  return ReadTotals{*read, *fetched};
}

std::optional<ReadTotals> GroupReads::Sum(const std::string& folder) const {
  const auto processes = ProcessesOf(folder);
  if (!processes) return std::nullopt;
  ReadTotals sum;
  bool any = false;
  for (const int64_t process : *processes) {
    const Result<std::string> text = ReadCgroupFile(fmt::format("{}/{}/io", proc_folder_, process));
    // A process that has ended meanwhile is not a failure.
    if (!text && text.error().code == ErrorCode::kDenied) return std::nullopt;
    const auto reads = text ? ParseProcessReads(*text) : std::nullopt;
    if (!reads) continue;
    any = true;
    sum.read += reads->read;
    sum.fetched += reads->fetched;
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<ReadTotals> GroupReads::Of(const std::string& folder) {
  const auto sum = Sum(folder);
  const std::lock_guard lock(mutex_);
  if (!sum) return std::nullopt;
  if (!groups_.contains(folder)) {
    std::error_code error;
    std::erase_if(groups_,
                  [&](const auto& group) { return !std::filesystem::exists(group.first, error); });
  }
  Group& group = groups_[folder];
  const ReadTotals now{group.lost.read + sum->read, group.lost.fetched + sum->fetched};
  const bool behind = now.read < group.reported.read || now.fetched < group.reported.fetched;
  group.behind = behind ? group.behind + 1 : 0;
  group.reported = {std::max(group.reported.read, now.read),
                    std::max(group.reported.fetched, now.fetched)};
  if (group.behind >= kGivenUp) {
    group.lost = {group.reported.read - sum->read, group.reported.fetched - sum->fetched};
    group.behind = 0;
  }
  return group.reported;
}

}  // namespace synergy::nodeagent
