#pragma once

// Reads a container's log from the files that its runtime writes and the kubelet rotates:
// FOLDER/N.log, where N counts the container's restarts, and FOLDER/N.log.TIME after rotation.
//
// LogTail does not read a log that is a link, because a process that can write to the folder could
// redirect the agent to other files. Docker's json-file logs are such links. They lead out of the
// kubelet's folder, to files that the agent cannot see.
//
// No file stays open between two calls, so that deleting a file frees its disk space at once.
//
// Threading: one owner.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

#include "core/result.h"

namespace synergy::nodeagent {

class LogTail {
 public:
  // Receives pieces of the log in order. Each piece begins with a line, unless it continues the
  // previous piece.
  using OnText = std::function<void(std::string_view)>;

  // `folder`: the container's folder ("/var/log/pods/team_train-0_1-2/train"), which need not exist
  // yet.
  explicit LogTail(std::string folder) : folder_(std::move(folder)) {}

  // Reads what was written since the last call; the first call reads the last 256 KiB. If the log
  // has grown by more than 1 MiB between two calls, skips the middle. Returns the number of bytes
  // delivered. Returns kNotFound if there is no log, kInvalid if it is a link (the error contains
  // its target), and kDenied or kUnavailable if it cannot be read.
  Result<size_t> Read(const OnText& on_text);

  // Returns the number of restarts of the container before the run whose log was last read; -1: no
  // log was read.
  int restarts() const { return file_.number; }

  // Returns the number of bytes skipped.
  uint64_t skipped() const { return skipped_; }

 private:
  struct File {
    int number = 0;
    ino_t inode = 0;
    off_t offset = 0;
  };

  std::string PathOf(int number) const;
  int NewestNumber() const;  // -1: there is no log
  Result<size_t> ReadOn(const std::string& path, const OnText& on_text);
  Result<size_t> ReadRotated(const OnText& on_text);
  size_t Deliver(std::string_view text, const OnText& on_text);
  void SkipTo(off_t offset);

  const std::string folder_;
  File file_{.number = -1, .inode = 0, .offset = 0};
  bool begun_ = false;
  bool mid_line_ = false;  // the next text is the rest of a skipped line
  uint64_t skipped_ = 0;
};

}  // namespace synergy::nodeagent
