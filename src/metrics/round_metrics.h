#pragma once

// Every metric of rounds in Kueue's queues. round_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace synergy::metrics {

// The number of workloads in each band.
struct RoundCounts {
  int64_t runs = 0;
  int64_t next = 0;
  int64_t waits = 0;
};

class RoundMetrics {
 public:
  RoundMetrics();
  ~RoundMetrics();

  // Counts writes. `what`: "band" and "restored" (priorities of workloads), "note" (what a workload
  // has received), "status" (of a policy), "workers" (of a job), "check" (an admission check's
  // answers). `outcome`: "written", "outdated" (the object had changed meanwhile), "failed".
  void CountWrite(std::string_view what, std::string_view outcome);
  // Counts how long a workload of the ClusterQueue waited. `delay` is its cause: "fair_share" or
  // "fragmentation".
  void CountDelay(const std::string& queue, std::string_view delay, double seconds);
  void CountLostTurn(const std::string& queue);
  // Sets the counts of all ordered ClusterQueues, by name. Drops the series of all others.
  void SetWorkloads(const std::map<std::string, RoundCounts>& queues);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
