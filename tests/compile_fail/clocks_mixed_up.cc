#include "core/clock.h"

auto Age(synergy::Instant now, synergy::WallTime then) {
  return now - then;  // must not compile
}
