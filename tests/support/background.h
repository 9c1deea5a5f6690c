#pragma once

// Runs a part of a test, such as a server, in a thread. The destructor joins the thread. It is not
// a std::jthread: with -O1 and sanitizers, g++ 12 warns about an uninitialized stop state if a
// jthread is never stopped.
//
// Threading: one owner.

#include <functional>
#include <thread>
#include <utility>

namespace synergy::testing {

class Background {
 public:
  explicit Background(std::function<void()> work) : thread_(std::move(work)) {}
  Background(Background&&) = default;
  Background& operator=(Background&&) = delete;
  ~Background() { Join(); }

  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace synergy::testing
