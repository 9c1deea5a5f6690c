#pragma once

// Runs a task on only one of several replicas. While this replica may act and sees what the task
// needs, it starts the task over once, then steps repeatedly. A replica that may act again starts
// over if another one may have acted meanwhile. While it may act but does not see what the task
// needs, it makes no steps.
//
//   Start -> wait -> may_act? sees? -> start_over or rest, if changed -> step -> every_look
//             ^                                                                  |
//             +------------------------------------------------------------------+
//
// Threading: one thread makes all calls; one owner calls Start(), Stop() and the destructor; any
// thread may call Waker::Wake(). Failures: a step handles its own; the loop continues.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "core/clock.h"

namespace synergy::controller {

// Ends the waits of a LeaderLoop early.
class Waker {
 public:
  // Ends the current wait, or the next one if none is in progress.
  void Wake();
  // Blocks until Wake(), for `most`, or until `stop` is requested. Returns whether it was woken.
  bool Await(Duration most, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool pending_ = false;
};

struct LeaderTask {
  // Returns whether this replica is the leader, and may change the cluster.
  std::function<bool()> may_act;
  // Returns whether this replica sees everything that a step needs.
  std::function<bool()> sees = [] { return true; };
  // Returns the number of this replica's present term as the leader. A task with this function
  // continues after a pause within a term; a task without it starts over after each pause.
  std::function<uint64_t()> term = nullptr;
  // Runs before the first step, and before the first step of each later term.
  std::function<void()> start_over = [] {};
  // Runs when this replica has acted and may no longer act; does not run at the end of the loop.
  std::function<void()> rest = [] {};
  // Returns whether a step is due although nothing woke the loop; used only with a Waker.
  std::function<bool()> due = [] { return false; };
  std::function<void(const std::stop_token&)> step;
  // Runs after each look on every replica. `acts`: whether this replica may act and sees what a
  // step needs.
  std::function<void(bool acts, const std::stop_token&)> every_look = [](bool,
                                                                         const std::stop_token&) {};
};

class LeaderLoop {
 public:
  // Looks, and steps, every `period` of `clock`. `clock` and all that `task` refers to must outlive
  // this object.
  LeaderLoop(LeaderTask task, Duration period, const Clock& clock);
  // Looks every `period`, and when `waker`, which must outlive this object, is woken. Steps when
  // woken, when the task is due, and after starting over.
  LeaderLoop(LeaderTask task, Duration period, Waker& waker);

  void Start();
  // Blocks until the current step has ended. Does nothing before Start() and after Stop().
  void Stop();

 private:
  void Run(const std::stop_token& stop);

  const LeaderTask task_;
  // Blocks until the next look. Returns whether a step is due then.
  const std::function<bool(const std::stop_token&)> wait_;
  std::jthread thread_;
};

}  // namespace synergy::controller
