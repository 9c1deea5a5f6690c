#include "nodeagent/devices/gpu_busy_file.h"

#include <array>
#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/cgroups/cgroup_files.h"
#include "wire/agents/gpu_busy.h"

namespace synergy::nodeagent {

Result<NodeBusy> ReadGpuBusyFile(const std::string& file) {
  const OpenFile open(file, O_RDONLY | O_NONBLOCK);
  if (open.fd() < 0) return Fail(CgroupError(file, errno));
  struct stat found{};
  if (::fstat(open.fd(), &found) != 0) return Fail(CgroupError(file, errno));
  if (!S_ISREG(found.st_mode)) return Fail(ErrorCode::kInvalid, file + " is not a plain file");
  std::string text;
  std::array<char, 4096> piece;
  while (text.size() <= wire::kLongestNodeBusy) {
    const ssize_t count = ::read(open.fd(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(CgroupError(file, errno));
    if (count == 0) break;
    text.append(piece.data(), static_cast<size_t>(count));
  }
  Result<NodeBusy> read = wire::ReadNodeBusy(text);
  if (!read) return Fail(read.error().code, fmt::format("{}: {}", file, read.error().message));
  return read;
}

}  // namespace synergy::nodeagent
