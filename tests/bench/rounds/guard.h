#pragma once

// Detects slowdowns. Measures each subject's CPU time as a multiple of that of a yardstick, a fixed
// piece of work in the same run, and compares it with the stored multiple. So the figures are valid
// on machines of any speed.

#include <functional>
#include <span>
#include <string>

namespace synergy::bench {

struct Subject {
  std::string name;
  std::function<void()> work;  // the same work each time; takes some milliseconds
};

struct GuardOptions {
  std::string stored;   // file with the stored multiples
  double factor = 1.5;  // how many times its stored multiple each may be
  bool update = false;  // store the measurements instead of comparing them
  std::string json;     // file for all figures; empty: none is written
};

// Prints a table. Returns the exit status: 1 if a subject has become slower, or has no stored
// figure.
int Guard(std::span<const Subject> subjects, const GuardOptions& options);

}  // namespace synergy::bench
