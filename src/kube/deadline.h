#pragma once

// A stop token that is stopped at a deadline, for calls that must not take longer.
//
// Threading: a Deadline has its own thread, and one owner; any thread may use the token.

#include <stop_token>
#include <thread>

#include "core/clock.h"

namespace synergy::kube {

// The token may outlive the Deadline, whose destructor does not stop the token.
class Deadline {
 public:
  // `clock` must outlive this object.
  Deadline(const Clock& clock, Duration within)
      : timer_([this, &clock, end = clock.Now() + within](const std::stop_token& ended) {
          if (clock.SleepUntil(end, ended)) source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread timer_;  // last, because it uses the other members
};

}  // namespace synergy::kube
