#pragma once

// Measures what pods read from storage, how long they wait for it, and how much a disk can deliver,
// from repeated readings of counters (docs/internals/storage.md).
//
// Between two readings lies a look. A disk's bandwidth shows only while it is the bottleneck: in
// looks in which a pod that reads mostly from it waits. What all pods read in those looks are its
// samples. The bandwidth is a high quantile of the latest ones, so that neither a look in which the
// pod waited for something else nor a burst from a disk's own cache decides it. It is never above
// what was delivered, so readers with few requests in flight make it a lower bound.
//
// Threading: one owner. Pure.

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/clock.h"
#include "nodeagent/cgroups/storage/io_counts.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

// Counters of one container since it started.
struct ContainerIo {
  std::map<std::string, IoCount> disks;  // by name
  // Bytes that storage of any kind delivered to its processes; nullopt: cannot be seen.
  std::optional<double> fetched;
  // Time in which any of its threads waited for storage (PSI, `some`); nullopt: unknown.
  std::optional<Duration> waited;
};

struct StorageReading {
  Instant at{};
  WallTime wall{};
  std::map<std::string, IoCount> all_pods;  // by disk
  // The training containers, by pod uid and container id: the counters of another container are
  // others.
  std::map<std::pair<std::string, std::string>, ContainerIo> containers;
  // Pods by uid that had a cap on their reads: they may have waited for that.
  std::set<std::string> capped;
};

class StorageMeter {
 public:
  // A shorter look says too little; over a longer one the average hides too much.
  static constexpr Duration kShortest = std::chrono::seconds(5);
  static constexpr Duration kLongest = std::chrono::seconds(60);
  // A container that reads less a second hardly reads, and what it waits for is unknown.
  static constexpr double kHardlyReads = 1 << 20;
  // A container waits for storage if it does for at least this part of a look.
  static constexpr double kWaits = 0.2;
  // Bandwidth: of so many samples at least and at most, none older, this quantile.
  static constexpr size_t kFewestSamples = 3;
  static constexpr size_t kMostSamples = 360;
  static constexpr Duration kForgotten = std::chrono::hours(24);
  static constexpr double kQuantile = 0.9;

  void Observe(StorageReading reading);

  // Returns the figures of the last look by pod uid; pods that hardly read and do not wait are left
  // out.
  const std::map<std::string, StorageUse>& uses() const { return uses_; }
  // Returns how long readers of each disk have waited for it, a lower bound.
  const std::map<std::string, Duration>& waited() const { return waited_; }
  // Returns nullopt if it is unknown.
  std::optional<double> BandwidthOf(const std::string& disk) const;

 private:
  struct Sample {
    Instant at{};
    double bandwidth = 0;
  };

  void NoteLook(const StorageReading& from, const StorageReading& to);
  // Drops what is too old, or about disks that have gone.
  void Forget(const StorageReading& reading);

  std::optional<StorageReading> last_;
  std::map<std::string, StorageUse> uses_;
  std::map<std::string, Duration> waited_;
  std::map<std::string, std::deque<Sample>> samples_;  // by disk, ascending
};

}  // namespace synergy::nodeagent
