#pragma once

// How far the cluster's pods are, as their node agents told last. It is kept for two minutes.
//
// Threading: from any thread.

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

class ProgressBook {
 public:
  static constexpr Duration kLongest = std::chrono::minutes(2);

  // What the agent of a node, which started at `since`, tells of its pods.
  void Hear(const std::string& node, WallTime since, std::vector<PodProgress> pods, Moment now);
  // None: nothing was heard of it, or too long ago.
  std::optional<KnownProgress> Of(const std::string& uid, Instant now) const;
  // Of one namespace, or of all where that is empty; by namespace and name.
  ClusterProgress Read(const std::string& pod_namespace, Instant now) const;
  // What is too old, and pods that are not on their node any more.
  void Forget(const ClusterSnapshot& cluster, Instant now);

  // From now on it is noted of whom something was heard, for TakeNews(); or no more.
  void KeepNews(bool keep);
  // What was heard since the last time, of each pod the latest. None of it is older than the book.
  std::vector<KnownProgress> TakeNews(Instant now);

  struct Extent {
    size_t pods = 0;
    Duration oldest{};
  };
  Extent extent(Instant now) const;

 private:
  struct Entry {
    KnownProgress known;
    Instant heard;
  };

  static KnownProgress WithAge(const Entry& entry, Instant now);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // by uid
  bool keeps_news_ = false;
  std::unordered_set<std::string> news_;  // uids
};

}  // namespace synergy::controller
