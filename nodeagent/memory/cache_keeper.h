#pragma once

// Limits the page cache of managed pods to their shares (cache_policy.h), and records on the pods
// how much memory they use (memory_reading.h). It only drops cache, and sets no limits or
// thresholds, so no effect outlasts this process.
//
// Threading: one thread calls Step; any thread may call the rest. Failures: a failed read or drop
// is counted, logged if it is new, and retried.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/state/pod_acts.h"
#include "core/clock.h"
#include "core/log.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/memory/cache_policy.h"
#include "nodeagent/memory/memory_groups.h"
#include "nodeagent/memory/memory_reading.h"
#include "nodeagent/reading_writer.h"

namespace synergy::nodeagent {

struct CacheRules {
  // The kubelet's evictionHard value for memory.available.
  Bytes eviction_threshold = MiB(100);
};

class CacheKeeper {
 public:
  using ReadNode = std::function<Result<NodeMemory>()>;

  // All references must outlive the keeper.
  CacheKeeper(const NodePods& pods, MemoryGroups& groups, ReadNode read_node, ReadingWriter& writer,
              PodActs& acts, const Clock& clock, Logger& log, metrics::NodeAgentMetrics& metrics,
              CacheRules rules);
  ~CacheKeeper();

  // Looks at every pod once. Returns the delay until the next look.
  Duration Step(const std::stop_token& stop);

  size_t kept_pods() const;
  bool node_short() const;

 private:
  struct Kept;
  struct Look;

  void ForgetOthers(const std::vector<PodPointer>& pods);
  // Returns a sample of the container's memory; nullopt if it cannot be read.
  std::optional<MemorySample> SampleOf(Kept& kept, const wire::ResizeStatus& pod);
  // Returns whether anything was dropped.
  bool Drop(Kept& kept, const wire::ResizeStatus& pod, Bytes amount, const std::stop_token& stop);
  void Report(Kept& kept, const wire::ResizeStatus& pod, std::string_view reason,
              const Error& error);

  const NodePods& pods_;
  MemoryGroups& groups_;
  const ReadNode read_node_;
  ReadingWriter& writer_;
  PodActs& acts_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;
  const CacheRules rules_;

  mutable std::mutex mutex_;
  size_t kept_pods_ = 0;
  bool node_short_ = false;

  // Only the stepping thread uses these.
  std::map<std::string, Kept> kept_;  // by uid
};

}  // namespace synergy::nodeagent
