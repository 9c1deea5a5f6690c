#include "nodeagent/cgroups/cgroup_files.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace synergy::nodeagent {
namespace {

constexpr size_t kLargest = size_t{64} << 10;
// About a hundred years in microseconds; a much longer time would not fit into a Duration.
constexpr int64_t kMostWaitedUs = 3'000'000'000'000'000;

}  // namespace

std::optional<Duration> ParseSomeStalled(std::string_view pressure) {
  constexpr std::string_view kTotal = "total=";
  if (!pressure.starts_with("some ")) return std::nullopt;
  const std::string_view line = pressure.substr(0, pressure.find('\n'));
  const size_t at = line.find(kTotal);
  if (at == std::string_view::npos) return std::nullopt;
  int64_t total = 0;
  const char* const last = line.data() + line.size();
  const auto [end, error] = std::from_chars(line.data() + at + kTotal.size(), last, total);
  if (error != std::errc() || end != last || total < 0 || total > kMostWaitedUs)
    return std::nullopt;
  return std::chrono::microseconds(total);
}

Error CgroupError(const std::string& file, int error) {
  const auto code = [error] {
    switch (error) {
      case ENOENT:
      case ENODEV:  // the group was removed while the file was open
        return ErrorCode::kNotFound;
      case EACCES:
      case EPERM:
      case EROFS:
        return ErrorCode::kDenied;
      case EINVAL:
        return ErrorCode::kInvalid;
      default:
        return ErrorCode::kUnavailable;
    }
  };
  return {code(), fmt::format("{}: {}", file, std::generic_category().message(error))};
}

Result<std::string> ReadCgroupFile(const std::string& file) {
  const OpenFile open(file, O_RDONLY);
  if (open.fd() < 0) return Fail(CgroupError(file, errno));
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() < kLargest) {
    const ssize_t count = ::read(open.fd(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(CgroupError(file, errno));
    if (count == 0) break;
    text.append(piece.data(), static_cast<size_t>(count));
  }
  return text;
}

Result<Written> WriteCgroupFile(const std::string& file, const std::string& text) {
  const OpenFile open(file, O_WRONLY);
  if (open.fd() < 0) return Fail(CgroupError(file, errno));
  if (::write(open.fd(), text.data(), text.size()) >= 0) return Written{true, 0};
  return Written{false, errno};
}

}  // namespace synergy::nodeagent
