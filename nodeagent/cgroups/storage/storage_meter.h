#pragma once

// Measures how much pods read from storage, how long they wait for it, and how much a disk can
// deliver, from repeated readings of counters (docs/internals/storage.md).
//
// A look is the time between two readings. A disk's bandwidth can be measured only while the disk
// is the bottleneck: in looks in which a pod waits that reads mostly from this disk. A sample is
// the rate at which all pods together read from the disk in such a look. A look with a higher rate
// than the bandwidth known so far is also a sample. Looks with a capped reader are none.
//
// The bandwidth is a high quantile of the latest samples. So neither a look in which the pod waited
// for something else nor a burst from the disk's cache determines it. It is a lower bound if the
// readers have few requests in flight, because it never exceeds the delivered rate.
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
  // Bytes that storage of any kind delivered to its processes; nullopt: not visible.
  std::optional<double> fetched;
  // The time in which any of its threads waited for storage (PSI, `some`); nullopt: unknown.
  std::optional<Duration> waited;
};

struct StorageReading {
  Instant at{};
  WallTime wall{};
  std::map<std::string, IoCount> all_pods;  // by disk
  // The training containers, by pod UID and container ID: a restarted container has new counters.
  std::map<std::pair<std::string, std::string>, ContainerIo> containers;
  // UIDs of the pods whose reads were capped. Such a pod may have waited because of its cap.
  std::set<std::string> capped;
};

class StorageMeter {
 public:
  // A shorter look shows too little; over a longer one, the average hides too much.
  static constexpr Duration kShortest = std::chrono::seconds(5);
  static constexpr Duration kLongest = std::chrono::seconds(60);
  // In bytes per second. What a container that reads less waits for is unknown.
  static constexpr double kHardlyReads = 1 << 20;
  // A container waits for storage if it does so for at least this fraction of a look.
  static constexpr double kWaits = 0.2;
  // The bandwidth is the quantile kQuantile of kFewestSamples to kMostSamples samples, none older
  // than kForgotten.
  static constexpr size_t kFewestSamples = 3;
  static constexpr size_t kMostSamples = 360;
  static constexpr Duration kForgotten = std::chrono::hours(24);
  static constexpr double kQuantile = 0.9;

  void Observe(StorageReading reading);

  // Returns the figures of the last look by pod UID; omits pods that hardly read and do not wait.
  const std::map<std::string, StorageUse>& uses() const { return uses_; }
  // Returns how long readers of each disk have waited for it, as a lower bound.
  const std::map<std::string, Duration>& waited() const { return waited_; }
  // Returns bytes per second; nullopt if the bandwidth is unknown.
  std::optional<double> BandwidthOf(const std::string& disk) const;

 private:
  struct Sample {
    Instant at{};
    double bandwidth = 0;
  };

  void NoteLook(const StorageReading& from, const StorageReading& to);
  // Adds a sample if this look shows the disk's bandwidth. `is_short`: a reader waits for the disk.
  void NoteDelivered(const std::string& disk, Sample sample, bool is_short);
  // Drops samples that are too old, or belong to disks that are gone.
  void Forget(const StorageReading& reading);

  std::optional<StorageReading> last_;
  std::map<std::string, StorageUse> uses_;
  std::map<std::string, Duration> waited_;
  std::map<std::string, std::deque<Sample>> samples_;  // by disk, ascending
};

}  // namespace synergy::nodeagent
