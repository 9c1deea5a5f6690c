#pragma once

// A stop token that fires at a moment, for calls that must not take longer than until then.
//
// Threading: one owner; token() may be used from any thread, also after the deadline's own end,
// which does not fire it.

#include <stop_token>
#include <thread>

#include "core/clock.h"

namespace synergy::extender {

class Deadline {
 public:
  // `clock` outlives this.
  Deadline(const Clock& clock, Duration within)
      : timer_([this, &clock, end = clock.Now() + within](const std::stop_token& ended) {
          if (clock.SleepUntil(end, ended)) source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread timer_;  // last: it uses the rest
};

}  // namespace synergy::extender
