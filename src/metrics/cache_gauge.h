#pragma once

// The state of a program's cache of one kind of object, read at each scrape.
//
// Threading: values.

#include <cstdint>
#include <string>

#include "core/clock.h"

namespace synergy::metrics {

struct CacheGauge {
  std::string resource;  // "nodes", "pods" ...
  bool synced = false;
  Duration staleness{};
  uint64_t objects = 0;
  uint64_t lists = 0;
  uint64_t watch_restarts = 0;
  uint64_t errors = 0;
  uint64_t events = 0;
  uint64_t problems = 0;
  uint64_t unread = 0;  // objects
};

}  // namespace synergy::metrics
