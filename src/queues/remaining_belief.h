#pragma once

// Whether a job is believed how long it still needs. It tells that itself, by its log: whoever says
// "a minute" for ever would go first, and never lose its turn. So what it tells is held against the
// time that it has run since. It is refuted when it has run for twice as long as it said, and ten
// minutes more, and does not say half as much yet; believed again when it does. A job that finds
// out that it needs longer, twice as long as it ever said, starts anew.
//
// Threading: a value.

#include <optional>

#include "core/clock.h"

namespace synergy {

class RemainingBelief {
 public:
  // Returns what is believed of `told`; none where it is refuted. `ran`: how long it has run in
  // all.
  std::optional<Seconds> Hear(Seconds told, Seconds ran);
  bool refuted() const { return refuted_; }

 private:
  std::optional<Seconds> said_;  // what is held against it
  Seconds said_at_{};            // by what it had run then
  Seconds most_{};               // that it has ever said
  bool refuted_ = false;
};

}  // namespace synergy
