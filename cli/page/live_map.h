#pragma once

// A cluster's map that is updated repeatedly, for pages that request the changes since their last
// request.
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
#include "core/clock.h"

namespace synergy::cli {

class LiveMap {
 public:
  // Versions count from `begun`, so that no page mistakes the changes of one map for those of
  // another.
  explicit LiveMap(WallTime begun = {});

  // Set the progress of pods, and the queues, which the next update shows. `now`: the time at which
  // they were read.
  void SetProgress(const ProgressFacts& facts, WallTime now);
  void SetQueues(const QueueFacts& facts, WallTime now);
  // If the facts contain no cluster, there are no nodes.
  void Update(const ClusterFacts& facts, WallTime now);

  // Returns {"version":3,"patches":[...]} from the version of an earlier answer, or
  // {"version":3,"state":{...}} if there is none, or it is too old.
  std::string Since(std::optional<uint64_t> version) const;

 private:
  // Enough for about five minutes of a page that refreshes every three seconds.
  static constexpr size_t kRemembered = 100;

  MapRecorder map_;
  std::map<std::string, MapProgress> progress_;  // as last sent, by the pod's UID
  std::string progress_note_;
  std::vector<std::string> queue_notes_;
  uint64_t version_;
  std::deque<std::string> patches_;  // the last patch leads to version_
};

}  // namespace synergy::cli
