#pragma once

// The map of a cluster that is read again and again, for pages that ask what has changed since they
// asked last.
//
// Threading: one owner.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/progress.h"
#include "cli/cluster/queue_facts.h"
#include "cli/page/cluster_map.h"
#include "cli/page/map_progress.h"
#include "core/clock.h"

namespace synergy::cli {

class LiveMap {
 public:
  // How far pods are, and the queues: shown from the next update on. `now`: when they were read.
  void SetProgress(const ProgressFacts& facts, WallTime now);
  void SetQueues(const QueueFacts& facts, WallTime now);
  // `facts` with the cluster.
  void Update(const ClusterFacts& facts, WallTime now);

  // {"version":3,"patches":[...]} from a version that an answer named; {"version":3,"state":{...}}
  // for who has none, or one that is too old.
  std::string Since(std::optional<uint64_t> version) const;

 private:
  // About five minutes of a page that asks every three seconds.
  static constexpr size_t kRemembered = 100;

  MapRecorder map_;
  std::map<std::string, MapProgress> progress_;  // as it was told, by the pod's uid
  std::string progress_note_;
  std::vector<std::string> queue_notes_;
  uint64_t version_ = 0;
  std::deque<std::string> patches_;  // the last one led to version_
};

}  // namespace synergy::cli
