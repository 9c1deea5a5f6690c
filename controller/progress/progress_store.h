#pragma once

// The latest progress of the cluster's pods as their node agents reported it, kept for two minutes.
//
// Threading: any thread.

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/tuner/tuner_memory.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

class ProgressStore {
 public:
  static constexpr Duration kLongest = std::chrono::minutes(2);

  // Stores the report of a node's agent, which started at `since`, about its pods.
  void Observe(const std::string& node, WallTime since, std::vector<PodProgress> pods, Moment now);
  // Returns nullopt if nothing was reported, or the last report is too old.
  std::optional<KnownProgress> Of(const std::string& uid, Instant now) const;
  // Returns the progress in one namespace, or in all if `pod_namespace` is empty, sorted by
  // namespace and name.
  ClusterProgress Read(const std::string& pod_namespace, Instant now) const;
  // Returns the pods that were reported idle for at least that long, by uid.
  std::map<std::string, IdlePod> Idle(Duration least, Instant now) const;
  // Drops entries that are too old, and those of pods that have left their node.
  void Forget(const ClusterSnapshot& cluster, Instant now);

  // Turns the recording of updated pods for TakeNews() on or off, and clears it.
  void KeepNews(bool keep);
  // Returns the latest progress of each pod updated since the last call, unless it is no longer in
  // the store.
  std::vector<KnownProgress> TakeNews(Instant now);

  struct Extent {
    size_t pods = 0;
    Duration oldest{};
  };
  Extent extent(Instant now) const;

 private:
  struct Entry {
    KnownProgress known;
    Instant observed;
  };

  static KnownProgress WithAge(const Entry& entry, Instant now);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // by uid
  bool keeps_news_ = false;
  std::unordered_set<std::string> news_;  // uids
};

}  // namespace synergy::controller
