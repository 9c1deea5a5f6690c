#include "record/recorder.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/version.h"
#include "wire/journal/decisions.h"
#include "wire/journal/journal.h"
#include "wire/journal/queue_steps.h"

namespace synergy::record {
namespace {

std::string LastError() { return std::generic_category().message(errno); }

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::Open(const std::string& file, Bytes limit,
                                                 std::string_view program, Logger& log) {
  constexpr mode_t kOwnerOnly = 0600;
  const int opened =
      open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly);
  struct stat status{};
  if (opened < 0 || fchmod(opened, kOwnerOnly) != 0 || fstat(opened, &status) != 0) {
    std::string why = LastError();
    if (opened >= 0) close(opened);
    return Fail(ErrorCode::kInvalid, fmt::format("recordFile {}: {}", file, why));
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  std::unique_ptr<Recorder> recorder(
      new Recorder(opened, size, static_cast<uint64_t>(limit.count()), log));
  // A killed run may have left half a line.
  const std::string_view separator = size == 0 ? "" : "\n";
  recorder->Append(fmt::format(R"({}{{"recording":"{}","version":"{}","commit":"{}"}})", separator,
                               program, Version(), Commit()));
  return recorder;
}

Recorder::~Recorder() {
  if (file_ >= 0) close(file_);
}

void Recorder::Wrote(const ClusterChange& change) { Append(wire::WriteJournalLine(change)); }

void Recorder::Wrote(const Decision& decision) { Append(wire::WriteDecisionLine(decision)); }

void Recorder::Wrote(const QueueStep& step) { Append(wire::WriteQueueLine(step)); }

void Recorder::Append(std::string line) {
  line.push_back('\n');
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  if (size_ + line.size() > limit_) {
    End("the file is full");
    return;
  }
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      End(LastError());
      return;
    }
    rest.remove_prefix(static_cast<size_t>(written));
  }
  size_ += line.size();
}

void Recorder::End(std::string_view why) {
  log_.Warn("recording ended", {{"reason", why}, {"bytes", size_}});
  close(std::exchange(file_, -1));
}

}  // namespace synergy::record
