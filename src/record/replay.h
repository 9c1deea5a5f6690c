#pragma once

// Goes through a recording again, and finds out whether every decision comes out as it did.
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
  size_t line = 0;  // of the recording, from 1
  std::string recorded;
  std::string replayed;  // or what went wrong
};

struct ReplayReport {
  static constexpr size_t kMostShown = 5;

  struct Count {
    uint64_t same = 0;
    uint64_t different = 0;
  };
  // "Filter", "Prioritize", "Bind", "Preempt" and "TunerDecided", and "Change": those of the
  // cluster, which are to lead to the same version, and an Assume to the same outcome.
  std::map<std::string, Count> counts;
  std::vector<Difference> differences;  // the first ones
  uint64_t runs = 0;

  bool same() const { return differences.empty(); }
};

// The runs in `text`, each for itself. A line that a killed program did not finish is left out.
// kInvalid, with the line: this is no recording.
Result<ReplayReport> Replay(std::string_view text);

}  // namespace synergy::record
