#pragma once

// Every metric of live profiling. Names, labels and units are in profiling_metrics.cc and nowhere
// else; docs/metrics.md lists them for people.
//
// Threading: from any thread.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace synergy::metrics {

class ProfilingMetrics {
 public:
  ProfilingMetrics();
  ~ProfilingMetrics();

  // What was done about a probe: "begun", "ended" (taken from the pod), "failed" (the API server
  // did not take it).
  void CountProbe(std::string_view outcome);
  // A measured profile: "published", "failed".
  void CountPublished(std::string_view outcome);
  // Measured profiles that there are: confirmed by probes, estimated by progress alone, drifted.
  void SetMeasurements(size_t confirmed, size_t estimated, size_t drifted);

  // The text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
