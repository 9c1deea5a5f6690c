#pragma once

// The workers of an elastic job: each reports in a shared folder that it is alive, so that all
// workers know their number, as with torchrun's rendezvous. The first one trains, faster with more
// workers; the others lend it their GPUs, and end when it does.
//
// Threading: a thread of its own; size() from any. Failures: a folder that cannot be written ends
// the process.

#include <atomic>
#include <string>
#include <thread>

namespace synergy::trainer {

class Team {
 public:
  // With an empty folder, this worker is alone.
  Team(std::string folder, int rank);

  bool HasLeader() const { return !folder_.empty() && rank_ > 0; }
  // Returns the workers that were alive within the last second, including this one.
  int size() const { return size_; }
  // The leader calls ReportDone() when all is trained; the others see it by IsDone().
  void ReportDone() const;
  bool IsDone() const;

 private:
  void Look();

  const std::string folder_;
  const int rank_;
  std::atomic<int> size_ = 1;
  std::jthread thread_;
};

}  // namespace synergy::trainer
