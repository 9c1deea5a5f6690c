#pragma once

// Every metric of live profiling. profiling_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace synergy::metrics {

class ProfilingMetrics {
 public:
  ProfilingMetrics();
  ~ProfilingMetrics();

  // Counts actions on probes: "begun", "ended" (removed from the pod), "failed" (the API server
  // rejected it).
  void CountProbe(std::string_view outcome);
  // Counts measured profiles: "published", "failed".
  void CountPublished(std::string_view outcome);
  // Sets the numbers of measured profiles: confirmed by probes, estimated from progress alone, and
  // drifted.
  void SetMeasurements(size_t confirmed, size_t estimated, size_t drifted);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
