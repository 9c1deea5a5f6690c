#pragma once

// Detects that something got slower: compares each subject's CPU time, as a multiple of that of a
// yardstick (a fixed piece of work measured in the same run), with the stored multiple. So the
// figures hold on machines of any speed.

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
  double factor = 1.5;  // how many times its stored multiple a subject may come to
  bool update = false;  // store what is measured instead
  std::string json;     // where to write all figures; empty: nowhere
};

// Prints a table. Returns the exit status: 1 if a subject got slower, or has no stored figure.
int Guard(std::span<const Subject> subjects, const GuardOptions& options);

}  // namespace synergy::bench
