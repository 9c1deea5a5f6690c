#pragma once

// Detects slowdowns: compares each subject's CPU time, as a multiple of that of a yardstick (a
// fixed piece of work measured in the same run), with the stored multiple. The figures are
// therefore valid on machines of any speed.

#include <functional>
#include <span>
#include <string>

namespace synergy::bench {

struct Subject {
  std::string name;
  std::function<void()> work;  // the same each time; some milliseconds
};

struct GuardOptions {
  std::string stored;   // the file of multiples
  double factor = 1.5;  // allowed multiple of a subject's stored multiple
  bool update = false;  // store the measurements instead
  std::string json;     // file for all figures; empty: none
};

// Prints a table. Returns the exit status: 1 if a subject became slower, or has no stored figure.
int Guard(std::span<const Subject> subjects, const GuardOptions& options);

}  // namespace synergy::bench
