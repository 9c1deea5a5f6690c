#pragma once

// The workers of an elastic job: each says in a folder that all of them see that it is alive, so
// that they know how many they are, as torchrun's rendezvous tells. The first one trains, faster
// the more there are; the others lend it their GPUs, and end when it does.
//
// Threading: a thread of its own; size() from any. Failures: a folder in which nothing can be
// written ends the process.

#include <atomic>
#include <string>
#include <thread>

namespace synergy::trainer {

class Team {
 public:
  // An empty folder: this worker is alone.
  Team(std::string folder, int rank);

  bool HasLeader() const { return !folder_.empty() && rank_ > 0; }
  // Workers that were alive within the last second, with this one.
  int size() const { return size_; }
  // The leader's, once all is trained; the others see it.
  void SayDone() const;
  bool IsDone() const;

 private:
  void Look();

  const std::string folder_;
  const int rank_;
  std::atomic<int> size_ = 1;
  std::jthread thread_;
};

}  // namespace synergy::trainer
