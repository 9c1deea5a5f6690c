#pragma once

// Reads, parses and writes small control-group files, and opens other files of containers.
//
// Threading: any thread. Failures: kNotFound if the file does not exist, or its group has
// disappeared; kDenied without permission; otherwise kUnavailable. Messages name the file.

#include <optional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/result.h"

namespace synergy::nodeagent {

// Reads at most 64 KiB.
Result<std::string> ReadCgroupFile(const std::string& file);

// The result of write(), for callers that treat EAGAIN and EINTR specially.
struct Written {
  bool done = false;
  int error = 0;  // errno when not done
};
Result<Written> WriteCgroupFile(const std::string& file, const std::string& text);

// Parses a group's pressure file. Returns how long any of the group's threads has waited since the
// group was created (PSI, `some`); nullopt if the file does not contain this time.
std::optional<Duration> ParseSomeStalled(std::string_view pressure);

// Converts errno to an error.
Error CgroupError(const std::string& file, int error);

// A file that stays open while this object exists. It does not follow symbolic links, because they
// could lead out of the intended folder. Threading: one owner.
class OpenFile {
 public:
  // `mode`: the permissions of the file if it is created.
  OpenFile(const std::string& file, int flags, mode_t mode = 0)
      : fd_(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }  // negative: not opened, see errno

 private:
  const int fd_;
};

}  // namespace synergy::nodeagent
