#include "nodeagent/probes/quota_table.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

constexpr Duration kRetryAfter = std::chrono::seconds(1);
// When a quota cannot be restored, log the first failure and then every 60th.
constexpr int kFailuresPerLogLine = 60;

}  // namespace

void QuotaTable::Adopt(std::vector<KeptQuota> left, Instant now) {
  for (KeptQuota& quota : left) entries_.push_back({std::move(quota), now});
}

Result<> QuotaTable::Begin(const std::string& file, const std::string& text, Duration longest,
                           Instant now) {
  const auto known = [&](const Entry& entry) { return entry.quota.file == file; };
  if (std::any_of(entries_.begin(), entries_.end(), known))
    return Fail(ErrorCode::kConflict, fmt::format("{} already has a temporary quota", file));
  const Result<uint64_t> folder = files_.FolderOf(file);
  if (!folder) return Fail(folder.error());
  Result<std::string> former = files_.Read(file);
  if (!former) return Fail(former.error());
  entries_.push_back(
      {{file, *folder, *std::move(former), text}, now + std::min(longest, kLongestQuota)});
  Result<> done = Save();
  if (done) {
    done = files_.Write(file, text);
    if (done) return {};
  }
  entries_.pop_back();
  // A record of a quota that was not written is dropped when it is read.
  static_cast<void>(Save());
  return done;
}

Result<> QuotaTable::End(const std::string& file, Instant now) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& one) { return one.quota.file == file; });
  if (entry == entries_.end())
    return Fail(ErrorCode::kNotFound, fmt::format("{} has no temporary quota", file));
  entry->due = now;
  Step(now);
  const bool left = std::any_of(entries_.begin(), entries_.end(),
                                [&](const Entry& one) { return one.quota.file == file; });
  if (left) return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be restored yet", file));
  return {};
}

void QuotaTable::EndAll(Instant now) {
  for (Entry& entry : entries_) entry.due = std::min(entry.due, now);
}

void QuotaTable::Step(Instant now) {
  const size_t before = entries_.size();
  // The last first: a container's quota before that of its pod, which must not be smaller.
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].due <= now && Settle(entries_[i], now))
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (entries_.size() == before) return;
  if (const Result<> saved = Save(); !saved)
    log_.Warn("cannot update the records of CPU quotas", {{"error", saved.error().message}});
}

std::optional<Instant> QuotaTable::Next() const {
  std::optional<Instant> next;
  for (const Entry& entry : entries_) next = std::min(next.value_or(entry.due), entry.due);
  return next;
}

bool QuotaTable::Settle(Entry& entry, Instant now) {
  const KeptQuota& quota = entry.quota;
  const auto drop = [&](const char* why) {
    log_.Info("a temporary CPU quota no longer exists", {{"file", quota.file}, {"why", why}});
    return true;
  };
  const auto give_up = [&](const Error& error) {
    if (error.code == ErrorCode::kNotFound) return drop("the control group is gone");
    if (error.code == ErrorCode::kInvalid) return drop("its record is invalid");
    return Failed(entry, error, now);
  };
  const Result<uint64_t> folder = files_.FolderOf(quota.file);
  if (!folder) return give_up(folder.error());
  if (*folder != quota.folder) return drop("the control group is gone");
  const Result<std::string> text = files_.Read(quota.file);
  if (!text) return give_up(text.error());
  if (*text == quota.former) return drop("it is already restored");
  if (*text != quota.written) return drop("another process has changed it");
  if (const Result<> restored = files_.Write(quota.file, quota.former); !restored)
    return Failed(entry, restored.error(), now);
  log_.Info("a temporary CPU quota is removed",
            {{"file", quota.file}, {"quota", quota.written}, {"now", quota.former}});
  return true;
}

bool QuotaTable::Failed(Entry& entry, const Error& error, Instant now) {
  entry.due = now + kRetryAfter;
  if (entry.failures++ % kFailuresPerLogLine == 0) {
    log_.Error("a temporary CPU quota cannot be removed",
               {{"file", entry.quota.file}, {"error", error.message}});
  }
  return false;
}

Result<> QuotaTable::Save() {
  std::vector<KeptQuota> quotas;
  for (const Entry& entry : entries_) quotas.push_back(entry.quota);
  return files_.Save(quotas);
}

}  // namespace synergy::nodeagent
