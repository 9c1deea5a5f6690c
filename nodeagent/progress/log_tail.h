#pragma once

// What a container writes to its log, from the files that its runtime writes and the kubelet
// rotates: FOLDER/N.log, N counting the container's restarts, and FOLDER/N.log.TIME once rotated.
//
// A log that is a link is not read: whoever may write there could have other files read. Docker's
// json-file logs are links out of the kubelet's folder, where the agent cannot see.
//
// No file stays open between two calls: a file that is deleted gives its disk space back at once.
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
  // Pieces of the log in order. Every piece but one that goes on where the last one ended begins
  // with a line.
  using OnText = std::function<void(std::string_view)>;

  // `folder`: the container's ("/var/log/pods/team_train-0_1-2/train"), which need not exist yet.
  explicit LogTail(std::string folder) : folder_(std::move(folder)) {}

  // What was written since the last call; at the first one the last quarter of a MiB. Of a log that
  // grows by more than a MiB between two calls the middle is passed over.
  // How many bytes there were. kNotFound: no log; kInvalid: it is a link, and the error says where
  // to; kDenied, kUnavailable: it cannot be read.
  Result<size_t> Read(const OnText& on_text);

  // Bytes that were passed over.
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
  bool mid_line_ = false;  // what comes next is the rest of a line that was passed over
  uint64_t skipped_ = 0;
};

}  // namespace synergy::nodeagent
