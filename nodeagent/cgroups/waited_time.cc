#include "nodeagent/cgroups/waited_time.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/result.h"
#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// Removes and returns the number at the beginning of `text`, with the separator after it.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (!text.empty()) text.remove_prefix(1);
  return number;
}

}  // namespace

std::optional<Duration> WaitedTimes::Of(const std::string& folder) {
  const Result<std::string> text = ReadCgroupFile(folder + "/tasks");
  if (!text) return std::nullopt;
  std::vector<int64_t> threads;
  std::string_view rest = *text;
  for (auto thread = TakeNumber(rest); thread; thread = TakeNumber(rest)) {
    threads.push_back(*thread);
    if (threads.size() > kMostThreads) return std::nullopt;
  }
  std::map<int64_t, Duration> now;
  for (const int64_t thread : threads) {
    if (const auto waited = OfThread(thread)) now.emplace(thread, *waited);
  }
  if (now.empty()) return std::nullopt;

  const std::lock_guard lock(mutex_);
  if (!groups_.contains(folder)) {
    std::error_code error;
    std::erase_if(groups_,
                  [&](const auto& group) { return !std::filesystem::exists(group.first, error); });
  }
  Group& group = groups_[folder];
  for (const auto& [thread, waited] : now) {
    const auto before = group.threads.find(thread);
    const bool same = before != group.threads.end() && before->second <= waited;
    group.sum += same ? waited - before->second : waited;
  }
  group.threads = std::move(now);
  return group.sum;
}

std::optional<Duration> WaitedTimes::OfThread(int64_t thread) const {
  const Result<std::string> text =
      ReadCgroupFile(fmt::format("{}/{}/schedstat", proc_folder_, thread));
  if (!text) return std::nullopt;
  // Nanoseconds on a CPU, then nanoseconds waiting for one.
  std::string_view rest = *text;
  if (!TakeNumber(rest)) return std::nullopt;
  const auto waited = TakeNumber(rest);
  if (!waited) return std::nullopt;
  return std::chrono::nanoseconds(*waited);
}

}  // namespace synergy::nodeagent
