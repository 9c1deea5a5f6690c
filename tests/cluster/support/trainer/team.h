#pragma once

// The workers of an elastic job. Each reports in a shared folder that it is alive, so that all know
// how many they are, as with torchrun's rendezvous. The first worker trains, and trains faster with
// more workers; the others stand for the GPUs that they add, and end when the first one does.
//
// Threading: a thread of its own; size() from any. Failures: if the folder cannot be written, the
// process ends.

#include <atomic>
#include <string>
#include <thread>

namespace synergy::trainer {

class Team {
 public:
  // With an empty folder, this worker is alone.
  Team(std::string folder, int rank);

  bool HasLeader() const { return !folder_.empty() && rank_ > 0; }
  // Returns the number of workers, including this one, that reported within the last second.
  int size() const { return size_; }
  // The leader calls ReportDone() when the training is complete; IsDone() then returns true in the
  // other workers.
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
