#pragma once

// Replays a recording, and checks that every decision comes out the same.
//
// Threading: pure.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy::record {

struct Difference {
  size_t line = 0;  // in the recording, counted from 1
  std::string recorded;
  std::string replayed;  // the result of the replay, or its error
};

struct ReplayReport {
  static constexpr size_t kMostShown = 5;

  struct Count {
    uint64_t same = 0;
    uint64_t different = 0;
  };
  // Counts by kind of line: "Filter", "Prioritize", "Bind", "Preempt", "TunerDecided",
  // "QueuesPlanned", and "Change" for changes of the cluster. A change must lead to the same
  // version, and an Assume to the same outcome.
  std::map<std::string, Count> counts;
  std::vector<Difference> differences;  // only the first ones
  uint64_t runs = 0;

  bool same() const { return differences.empty(); }
};

// Replays each run in `text` separately. Ignores a last line that a killed program did not finish.
// Returns kInvalid, with the line, if this is not a recording.
Result<ReplayReport> Replay(std::string_view text);

}  // namespace synergy::record
