#include "nodeagent/progress/log_tail.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

constexpr off_t kFirst = off_t{256} << 10;
constexpr off_t kMostAtOnce = off_t{1} << 20;

// Returns N of "N.log"; -1 for other names.
int NumberOf(std::string_view name) {
  constexpr std::string_view kEnd = ".log";
  if (!name.ends_with(kEnd)) return -1;
  name.remove_suffix(kEnd.size());
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

// Returns whether there is a file; a link counts as a file, whatever its target.
bool Exists(const std::string& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0;
}

Error IsALink(const std::string& path) {
  std::error_code error;
  return {ErrorCode::kInvalid,
          fmt::format("{} is a link to {}", path, fs::read_symlink(path, error).string())};
}

}  // namespace

std::string LogTail::PathOf(int number) const {
  return fs::path(folder_) / fmt::format("{}.log", number);
}

int LogTail::NewestNumber() const {
  int newest = -1;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    newest = std::max(newest, NumberOf(entry.path().filename().string()));
  }
  return newest;
}

Result<size_t> LogTail::Read(const OnText& on_text) {
  if (file_.number < 0) {
    const int newest = NewestNumber();
    if (newest < 0) return Fail(ErrorCode::kNotFound, fmt::format("{} has no log", folder_));
    file_ = {.number = newest, .inode = 0, .offset = 0};
  }
  const std::string path = PathOf(file_.number);
  struct stat now{};
  const bool exists = Exists(path, now);
  if (exists && S_ISLNK(now.st_mode)) return Fail(IsALink(path));
  size_t read = 0;
  if (exists && file_.inode == 0) {
    file_.inode = now.st_ino;
    if (!begun_ && now.st_size > kFirst) SkipTo(now.st_size - kFirst);
    if (!begun_) skipped_ = 0;  // text from before the first call does not count
    begun_ = true;
  } else if (!exists || now.st_ino != file_.inode) {
    const Result<size_t> rest = ReadRotated(on_text);
    if (!rest) return rest;
    read = *rest;
    file_.inode = exists ? now.st_ino : 0;
    file_.offset = 0;
    mid_line_ = false;
  }
  if (exists && now.st_size != file_.offset) {
    const Result<size_t> more = ReadOn(path, on_text);
    if (!more) return more;
    return read + *more;
  }
  // A restarted container writes to the next file.
  struct stat next{};
  if (read == 0 && (!exists || Exists(PathOf(file_.number + 1), next))) {
    const int newest = NewestNumber();
    if (newest < 0) return Fail(ErrorCode::kNotFound, fmt::format("{} has no log", folder_));
    if (newest != file_.number) {
      file_ = {.number = newest, .inode = 0, .offset = 0};
      mid_line_ = false;
      if (Exists(PathOf(newest), next)) file_.inode = next.st_ino;
      return ReadOn(PathOf(newest), on_text);
    }
  }
  return read;
}

Result<size_t> LogTail::ReadRotated(const OnText& on_text) {
  const std::string prefix = fmt::format("{}.log.", file_.number);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    // Skip the kubelet's compressed copies, each of which is a new file and may have the inode of
    // the old one.
    if (!name.starts_with(prefix) || name.ends_with(".gz") || name.ends_with(".tmp")) continue;
    struct stat rotated{};
    if (!Exists(entry.path(), rotated) || rotated.st_ino != file_.inode) continue;
    return ReadOn(entry.path().string(), on_text);
  }
  return 0;  // compressed, or deleted
}

Result<size_t> LogTail::ReadOn(const std::string& path, const OnText& on_text) {
  const OpenFile file(path, O_RDONLY | O_NONBLOCK);
  struct stat now{};
  if (file.fd() < 0 || ::fstat(file.fd(), &now) != 0) return Fail(CgroupError(path, errno));
  if (!S_ISREG(now.st_mode))
    return Fail(ErrorCode::kUnavailable, fmt::format("{} is not a plain file", path));
  if (now.st_size < file_.offset) {  // the file was truncated
    file_.offset = 0;
    mid_line_ = false;
  }
  if (now.st_size - file_.offset > kMostAtOnce) SkipTo(now.st_size - kFirst);
  size_t read = 0;
  std::array<char, size_t{32} << 10> piece;
  while (file_.offset < now.st_size) {
    const ssize_t got = ::pread(file.fd(), piece.data(), piece.size(), file_.offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(CgroupError(path, errno));
    if (got == 0) break;
    file_.offset += got;
    read += Deliver({piece.data(), static_cast<size_t>(got)}, on_text);
  }
  return read;
}

size_t LogTail::Deliver(std::string_view text, const OnText& on_text) {
  if (mid_line_) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return 0;
    text.remove_prefix(end + 1);
    mid_line_ = false;
  }
  if (!text.empty()) on_text(text);
  return text.size();
}

void LogTail::SkipTo(off_t offset) {
  skipped_ += static_cast<uint64_t>(offset - file_.offset);
  file_.offset = offset;
  mid_line_ = true;
}

}  // namespace synergy::nodeagent
