#pragma once

// A file that is open for as long as this object lives. A symbolic link is not followed: it could
// lead out of the folder that was meant. Private to this folder.
//
// Threading: one owner.

#include <string>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace synergy::nodeagent {

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
