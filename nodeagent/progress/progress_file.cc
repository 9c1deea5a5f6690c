#include "nodeagent/progress/progress_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/annotations.h"

namespace synergy::nodeagent {
namespace {

constexpr size_t kMostDigits = 15;
constexpr const char* kEmptyDirs = "kubernetes.io~empty-dir";  // the kubelet's name for the plugin

class Handle {
 public:
  explicit Handle(int fd = -1) : fd_(fd) {}
  ~Handle() {
    if (fd_ >= 0) ::close(fd_);
  }
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// Takes digits from the front of `text`.
std::optional<int64_t> TakeNumber(std::string_view& text) {
  int64_t number = 0;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits) return std::nullopt;
  std::from_chars(text.data(), text.data() + digits, number);
  text.remove_prefix(digits);
  return number;
}

bool IsOneName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

// Finds the file without opening it. Each step opens one name in the folder of the previous step,
// and follows no link.
Result<Handle> FindFile(const std::string& pods_folder, const std::string& uid) {
  if (!IsOneName(uid)) return Fail(ErrorCode::kInvalid, "the pod's uid is not a folder's name");
  Handle at(::open(pods_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.fd() < 0) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{}: {}", pods_folder, std::generic_category().message(errno)));
  }
  const std::string volume(annotations::kProgressVolume);
  for (const std::string& name : {uid, std::string("volumes"), std::string(kEmptyDirs), volume}) {
    at = Handle(::openat(at.fd(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at.fd() < 0 && errno == ENOENT) {
      return Fail(ErrorCode::kInvalid,
                  fmt::format("the pod has no emptyDir volume {}; it is added to managed pods that "
                              "have the annotation when they are created",
                              volume));
    }
    if (at.fd() < 0) {
      return Fail(ErrorCode::kUnavailable, fmt::format("{} of pod {}: {}", name, uid,
                                                       std::generic_category().message(errno)));
    }
  }
  const std::string file(annotations::kProgressFileName);
  Handle found(::openat(at.fd(), file.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (found.fd() < 0 && errno == ENOENT) return Fail(ErrorCode::kNotFound, "no file yet");
  if (found.fd() < 0) return Fail(ErrorCode::kUnavailable, std::generic_category().message(errno));
  struct stat status{};
  if (::fstat(found.fd(), &status) != 0 || !S_ISREG(status.st_mode))
    return Fail(ErrorCode::kInvalid, fmt::format("{} must be a regular file", file));
  return found;
}

}  // namespace

std::optional<FileCount> ParseProgressFile(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  text = text.substr(0, text.find_last_not_of(kSpace) + 1);
  FileCount count;
  const std::optional<int64_t> iteration = TakeNumber(text);
  if (!iteration) return std::nullopt;
  count.iteration = *iteration;
  if (text.empty()) return count;
  if (text.front() != '/') return std::nullopt;
  text.remove_prefix(1);
  count.total = TakeNumber(text);
  if (!count.total || !text.empty()) return std::nullopt;
  return count;
}

Result<FileCount> ReadProgressFile(const std::string& pods_folder, const std::string& uid) {
  const Result<Handle> found = FindFile(pods_folder, uid);
  if (!found) return Fail(found.error());
  // Open the inode that was checked, even if another file has the name by now.
  const Handle file(::open(fmt::format("/proc/self/fd/{}", found->fd()).c_str(),
                           O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.fd() < 0 && (errno == EACCES || errno == EPERM)) {
    return Fail(ErrorCode::kDenied, fmt::format("{} must be readable by all (mode 0644)",
                                                annotations::kProgressFileName));
  }
  if (file.fd() < 0) return Fail(ErrorCode::kUnavailable, std::generic_category().message(errno));
  std::array<char, kMostProgressBytes + 1> bytes{};
  const ssize_t got = ::pread(file.fd(), bytes.data(), bytes.size(), 0);
  if (got < 0) return Fail(ErrorCode::kUnavailable, std::generic_category().message(errno));
  if (got == 0) return Fail(ErrorCode::kNotFound, "the file is empty");
  const std::string_view text(bytes.data(), static_cast<size_t>(got));
  const auto count = text.size() > kMostProgressBytes ? std::nullopt : ParseProgressFile(text);
  if (!count) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} must contain ITERATION or ITERATION/TOTAL, in at most {} bytes",
                            annotations::kProgressFileName, kMostProgressBytes));
  }
  return *count;
}

}  // namespace synergy::nodeagent
