#pragma once

// A program under test as a process of its own.
//
// Threading: one owner. It is killed with this object, unless it was waited for.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "support/temporary_folder.h"

namespace synergy::testing {

class ChildProcess {
 public:
  ChildProcess(const std::string& program, std::vector<std::string> arguments);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Standard output and error so far.
  std::string Output() const;
  void Signal(int signal);
  // The exit status; -1 after a signal.
  int Wait();

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

// Polls, because a process offers nothing to wait on; false after 30 seconds.
bool Eventually(const std::function<bool()>& check);

}  // namespace synergy::testing
