#pragma once

// Every metric of turns on GPUs. turn_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace synergy::metrics {

class TurnMetrics {
 public:
  TurnMetrics();
  ~TurnMetrics();

  // Sets how many pods take turns, are suspended at the moment, and run packed with another one.
  void SetPods(size_t in_turns, size_t suspended, size_t packed);
  // Counts writes of a pod's turns: "written", "failed".
  void CountWrite(std::string_view outcome);
  // Counts plans: "complete" if all its changes were written, otherwise "incomplete".
  void CountPass(std::string_view outcome);
  // Counts what becomes of packs: as ToString(PackOutcome).
  void CountPack(std::string_view outcome);
  // Counts writes of profiles' results of packs ("written", "failed"), and the results that a new
  // leader takes over or not ("loaded", "ignored").
  void CountPackResults(std::string_view outcome, size_t count = 1);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
