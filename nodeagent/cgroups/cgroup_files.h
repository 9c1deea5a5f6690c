#pragma once

// Small files of control groups, and other files of containers.
//
// Threading: from any thread.
// Failures: kNotFound when the file, or the group meanwhile, is not there; kDenied without the
// right; kUnavailable otherwise. Messages name the file.

#include <string>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/result.h"

namespace synergy::nodeagent {

// At most 64 KiB.
Result<std::string> ReadCgroupFile(const std::string& file);

// What write() said, for callers to whom EAGAIN and EINTR mean something.
struct Written {
  bool done = false;
  int error = 0;  // errno when not done
};
Result<Written> WriteCgroupFile(const std::string& file, const std::string& text);

// The failure that errno stands for.
Error CgroupError(const std::string& file, int error);

// A file that is open for as long as this object lives. A symbolic link is not followed: it could
// lead out of the folder that was meant. One owner.
class OpenFile {
 public:
  // `mode`: of a file that is made.
  OpenFile(const std::string& file, int flags, mode_t mode = 0)
      : fd_(::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }  // negative: not opened, and errno says why

 private:
  const int fd_;
};

}  // namespace synergy::nodeagent
