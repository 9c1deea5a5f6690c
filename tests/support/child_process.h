#pragma once

// Runs a program under test as a child process.
//
// Threading: one owner. The destructor kills the process, unless Wait() has returned.

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

  // Returns the standard output and standard error so far.
  std::string Output() const;
  void Signal(int signal);
  // Waits for the process's end. Returns the exit status; -1 after a signal.
  int Wait();

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
};

// Polls `check` until it returns true, because a child process cannot notify a test. Returns false
// after 30 seconds.
bool Eventually(const std::function<bool()>& check);

}  // namespace synergy::testing
