#pragma once

// Describes a pod with GPUs for the division of a node's CPU and memory: its amounts, their bounds,
// and its speed at each amount.
//
// Threading: pure.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/data_reads.h"
#include "profile/job_profile.h"

namespace synergy {

// A share's membership in a gang (cluster/gang.h). All members run at the speed per GPU of the
// slowest one. So more for one member gains nothing, and less for one member slows all.
struct InGang {
  size_t number = 0;  // the same for all shares of one gang
  double gpus = 0;    // of all members, on any node
  // The amounts of the gang's least member, scaled to this share's GPUs. Without a profile, the
  // share cannot use more.
  ResourceVector needs;
  // The throughput per GPU of the slowest member outside the shares.
  double elsewhere = std::numeric_limits<double>::infinity();
};

// A share's use of its node's storage, in bytes per second. Present if both the use and the
// bandwidth are known (storage/storage_left.h).
struct OnStorage {
  size_t number = 0;  // the same for all shares on one storage
  DataReads reads;
  double bandwidth = 0;  // of the storage, less the use of pods outside the shares
  double left = 0;       // the part of `bandwidth` that the other shares leave
};

// A share with least = current = most keeps its amounts.
struct PodShare {
  const JobProfile* profile = nullptr;  // not owned; null: its speed follows its amounts
  ResourceVector current;
  ResourceVector least;     // a cut leaves at least this; at most `current`
  ResourceVector most;      // it cannot use more
  ResourceVector fair;      // its fair share, the unit of its throughput
  bool whole_cpus = false;  // its CPU changes in whole cores
  // A speed in the profile counts only up to this multiple of the speed at the fair share.
  double max_speed_up = std::numeric_limits<double>::infinity();
  std::optional<InGang> gang;        // none: it trains alone
  std::optional<OnStorage> storage;  // none: storage does not limit it. REQUIRES: a profile

  // Returns `cpu` rounded down to the share's step.
  MilliCpu Step(MilliCpu cpu) const {
    return whole_cpus ? cpu - MilliCpu(cpu.count() % Cores(1).count()) : cpu;
  }
};

std::vector<ResourceVector> CurrentOf(std::span<const PodShare> shares);

// Returns GPUs x throughput with `amounts` / throughput with the fair share, for a share that does
// not wait for a gang. Without a profile, the throughput is the scarcer of CPU and memory, relative
// to the pod's present amounts. So the pod is cut only if cuts of other pods cost more.
double NormalizedThroughput(const PodShare& share, const ResourceVector& amounts);

// Returns NormalizedThroughput() of every share with its amounts. The slowest member determines the
// speed of its gang. The members among the shares also count for members on other nodes.
std::vector<double> ThroughputsOf(std::span<const PodShare> shares,
                                  std::span<const ResourceVector> amounts);
double TotalThroughput(std::span<const PodShare> shares, std::span<const ResourceVector> amounts);

// Computes NormalizedThroughput() for many amounts.
class Throughputs {
 public:
  explicit Throughputs(const PodShare& share);  // must outlive this object

  double At(const ResourceVector& amounts) const;

 private:
  const PodShare& share_;
  double unit_;
};

}  // namespace synergy
