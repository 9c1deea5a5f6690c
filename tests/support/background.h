#pragma once

// A thread that plays the other side while the test goes on; joined at its end. Not a std::jthread:
// g++ 12 takes the stop state of one that nobody stops for uninitialized under -O1 with sanitizers.
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
