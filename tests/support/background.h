#pragma once

// A thread that plays the other side while the test runs, joined by the destructor. Not a
// std::jthread: under -O1 with sanitizers g++ 12 warns that the stop state of a jthread that is
// never stopped is uninitialized.
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
