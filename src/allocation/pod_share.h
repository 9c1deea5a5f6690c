#pragma once

// A pod with GPUs, for the division of a node's CPU and memory: its amounts, the bounds within
// which they may change, and its speed at each amount.
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

// A share's membership in a gang (cluster/gang.h). All members are as fast, per GPU, as the
// slowest of them: an advantage of one member is worth nothing, and a cut of one slows all.
struct InGang {
  size_t number = 0;  // the same for all shares of one gang
  double gpus = 0;    // of all members, on any node
  // The amounts of the gang's least member, for this one's GPUs. Without a profile, the share can
  // use no more.
  ResourceVector needs;
  // The throughput per GPU of the slowest member that is not among the shares.
  double elsewhere = std::numeric_limits<double>::infinity();
};

// A share's use of the storage of its node, where both are known (storage/storage_left.h). Bytes
// per second.
struct OnStorage {
  size_t number = 0;  // the same for all shares on one storage
  DataReads reads;
  double bandwidth = 0;  // of the storage, less what pods take of it that are not among the shares
  double left = 0;       // the part of it that the other shares leave
};

// If least = current = most, it keeps its amounts.
struct PodShare {
  const JobProfile* profile = nullptr;  // not owned; null: its speed is taken to follow its amounts
  ResourceVector current;
  ResourceVector least;     // not cut below this; within `current`
  ResourceVector most;      // it cannot use more
  ResourceVector fair;      // its fair share: the unit of its throughput
  bool whole_cpus = false;  // its CPU changes by whole cores
  // A profile's claim beyond this multiple of the unit is cut to it.
  double max_speed_up = std::numeric_limits<double>::infinity();
  std::optional<InGang> gang;        // none: it trains alone
  std::optional<OnStorage> storage;  // none: storage does not limit it. REQUIRES: a profile

  // `cpu`, rounded down to the step by which it may change.
  MilliCpu Step(MilliCpu cpu) const {
    return whole_cpus ? cpu - MilliCpu(cpu.count() % Cores(1).count()) : cpu;
  }
};

std::vector<ResourceVector> CurrentOf(std::span<const PodShare> shares);

// GPUs x throughput with `amounts` / throughput with the fair share, for a share that does not
// wait for a gang. Without a profile, the scarcer of CPU and memory, in units of the pod's present
// amounts, stands for the throughput, so that it is cut only if others cost more.
double NormalizedThroughput(const PodShare& share, const ResourceVector& amounts);

// The same for all shares, each with its amounts; the slowest member determines a gang. Members
// here also stand for those elsewhere.
std::vector<double> ThroughputsOf(std::span<const PodShare> shares,
                                  std::span<const ResourceVector> amounts);
double TotalThroughput(std::span<const PodShare> shares, std::span<const ResourceVector> amounts);

// NormalizedThroughput() for many amounts.
class Throughputs {
 public:
  explicit Throughputs(const PodShare& share);  // outlives this object

  double At(const ResourceVector& amounts) const;

 private:
  const PodShare& share_;
  double unit_;
};

}  // namespace synergy
