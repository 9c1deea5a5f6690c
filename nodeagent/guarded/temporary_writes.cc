#include "nodeagent/guarded/temporary_writes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace synergy::nodeagent {
namespace {

constexpr Duration kRetryAfter = std::chrono::seconds(1);
// When a file cannot be restored, log the first failure and then every 60th.
constexpr int kFailuresPerLogLine = 60;

}  // namespace

void TemporaryWrites::Adopt(std::vector<KeptWrite> left, Instant now) {
  for (KeptWrite& write : left) entries_.push_back({std::move(write), now});
}

Result<> TemporaryWrites::Begin(const std::string& file, const std::string& text, Duration longest,
                                Instant now) {
  const WriteKind* const kind = WriteKindOf(file);
  if (kind == nullptr)
    return Fail(ErrorCode::kInvalid, fmt::format("\"{}\" may not be written for a time", file));
  const auto known = [&](const Entry& entry) { return entry.write.file == file; };
  if (std::any_of(entries_.begin(), entries_.end(), known))
    return Fail(ErrorCode::kConflict, fmt::format("{} is already written for a time", file));
  const Result<uint64_t> folder = files_.FolderOf(file);
  if (!folder) return Fail(folder.error());
  const Result<std::string> content = files_.Read(file);
  if (!content) return Fail(content.error());
  Result<std::string> former = kind->former(*content, text);
  if (!former) return Fail(former.error());
  entries_.push_back(
      {{file, *folder, *std::move(former), text}, now + std::min(longest, kind->longest)});
  Result<> done = Save();
  if (done) {
    done = files_.Write(file, text);
    if (done) return {};
  }
  entries_.pop_back();
  // If this fails, the file keeps a record of a text that was not written. Adopting it is harmless.
  static_cast<void>(Save());
  return done;
}

Result<> TemporaryWrites::End(const std::string& file, Instant now) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& one) { return one.write.file == file; });
  if (entry == entries_.end())
    return Fail(ErrorCode::kNotFound, fmt::format("{} is not written for a time", file));
  entry->due = now;
  Step(now);
  const bool left = std::any_of(entries_.begin(), entries_.end(),
                                [&](const Entry& one) { return one.write.file == file; });
  if (left) return Fail(ErrorCode::kUnavailable, fmt::format("{} cannot be restored yet", file));
  return {};
}

void TemporaryWrites::EndAll(Instant now) {
  for (Entry& entry : entries_) entry.due = std::min(entry.due, now);
}

void TemporaryWrites::Step(Instant now) {
  const size_t before = entries_.size();
  // Settle the last entry first: a pod's quota must not be smaller than that of its container, so
  // the container's is restored first.
  for (size_t i = entries_.size(); i-- > 0;) {
    if (entries_[i].due <= now && Settle(entries_[i], now))
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (entries_.size() == before) return;
  if (const Result<> saved = Save(); !saved)
    log_.Warn("cannot update the records of temporary writes", {{"error", saved.error().message}});
}

std::optional<Instant> TemporaryWrites::Next() const {
  std::optional<Instant> next;
  for (const Entry& entry : entries_) next = std::min(next.value_or(entry.due), entry.due);
  return next;
}

bool TemporaryWrites::Settle(Entry& entry, Instant now) {
  const KeptWrite& write = entry.write;
  const auto drop = [&](const char* why) {
    log_.Info("a temporary write no longer exists", {{"file", write.file}, {"why", why}});
    return true;
  };
  const auto give_up = [&](const Error& error) {
    if (error.code == ErrorCode::kNotFound) return drop("the control group is gone");
    if (error.code == ErrorCode::kInvalid) return drop("its record is invalid");
    return Failed(entry, error, now);
  };
  const WriteKind* const kind = WriteKindOf(write.file);
  if (kind == nullptr) return drop("its record is invalid");
  const Result<uint64_t> folder = files_.FolderOf(write.file);
  if (!folder) return give_up(folder.error());
  if (*folder != write.folder) return drop("the control group is gone");
  const Result<std::string> content = files_.Read(write.file);
  if (!content) return give_up(content.error());
  if (kind->holds(*content, write.former)) return drop("it is already restored");
  if (!kind->holds(*content, write.written)) return drop("another process has changed it");
  if (const Result<> restored = files_.Write(write.file, write.former); !restored)
    return Failed(entry, restored.error(), now);
  // Suspensions are frequent, about one per minute.
  log_.Log(kind->suspends ? LogLevel::kDebug : LogLevel::kInfo, "a temporary write is removed",
           {{"file", write.file}, {"written", write.written}, {"now", write.former}});
  return true;
}

bool TemporaryWrites::Failed(Entry& entry, const Error& error, Instant now) {
  entry.due = now + kRetryAfter;
  if (entry.failures++ % kFailuresPerLogLine == 0) {
    log_.Error("a temporary write cannot be removed",
               {{"file", entry.write.file}, {"error", error.message}});
  }
  return false;
}

Result<> TemporaryWrites::Save() {
  std::vector<KeptWrite> writes;
  for (const Entry& entry : entries_) writes.push_back(entry.write);
  return files_.Save(writes);
}

}  // namespace synergy::nodeagent
