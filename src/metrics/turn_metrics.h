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
  // Counts plans: "complete" if all changes of the plan were written, otherwise "incomplete".
  void CountPass(std::string_view outcome);
  // Counts the outcomes of packs, by ToString(PackOutcome).
  void CountPack(std::string_view outcome);
  // Counts writes of the results of packs into profiles ("written", "failed"), and the stored
  // results that a new leader uses or not ("loaded", "ignored").
  void CountPackResults(std::string_view outcome, size_t count = 1);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
