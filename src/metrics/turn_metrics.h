#pragma once

// Every metric of turns on GPUs. Names, labels and units are only in turn_metrics.cc;
// docs/metrics.md lists them for users.
//
// Threading: from any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace synergy::metrics {

class TurnMetrics {
 public:
  TurnMetrics();
  ~TurnMetrics();

  // Sets the pods that take turns, and those that are suspended at the moment.
  void SetPods(size_t in_turns, size_t suspended);
  // Counts writes of a pod's turns: "written", "failed".
  void CountWrite(std::string_view outcome);
  // Counts plans: "complete" if all that it changed was written, "incomplete".
  void CountPass(std::string_view outcome);

  // The text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
