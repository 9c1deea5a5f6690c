#pragma once

// A pod with GPUs as those see it who divide a node's CPU and memory: what it has, within what
// bounds that may be changed, and how fast it is with how much.
//
// Threading: pure.

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/resources.h"
#include "profile/job_profile.h"

namespace synergy {

// What makes a tenant one of a gang (cluster/gang.h). Its members are all as fast, per GPU, as the
// slowest of them: what one has beyond that is worth nothing, and what is taken from one slows all.
struct InGang {
  size_t number = 0;  // tenants with the same one are of one gang
  double gpus = 0;    // of all members, wherever they are
  // What its least member has, for this one's GPUs. Without a profile that is what it makes use of.
  ResourceVector needs;
  // The throughput per GPU of the slowest of those that are not among the tenants.
  double elsewhere = std::numeric_limits<double>::infinity();
};

// least = current = most: it keeps what it has.
struct Tenant {
  const JobProfile* profile = nullptr;  // not owned; null: its speed is taken to follow its amounts
  ResourceVector current;
  ResourceVector least;     // it is not cut below this; within `current`
  ResourceVector most;      // more is of no use to it
  ResourceVector fair;      // its fair share: the unit of its throughput
  bool whole_cpus = false;  // its CPU changes by whole cores
  // A profile that claims more of that unit is not believed.
  double max_speed_up = std::numeric_limits<double>::infinity();
  std::optional<InGang> gang;  // none: it trains alone

  // `cpu`, rounded down to what it may be changed by.
  MilliCpu Step(MilliCpu cpu) const {
    return whole_cpus ? cpu - MilliCpu(cpu.count() % Cores(1).count()) : cpu;
  }
};

std::vector<ResourceVector> CurrentOf(std::span<const Tenant> tenants);

// GPUs x throughput with `amounts` / throughput with the fair share, of a tenant that waits for
// nobody. Without a profile the scarcer of CPU and memory, in units of what the pod has now, stands
// for the throughput: nobody takes from it what costs others less.
double NormalizedThroughput(const Tenant& tenant, const ResourceVector& amounts);

// The same of all tenants, each with its amounts, where of a gang the slowest decides. Those that
// are here stand for those that are elsewhere, too.
std::vector<double> ThroughputsOf(std::span<const Tenant> tenants,
                                  std::span<const ResourceVector> amounts);
double TotalThroughput(std::span<const Tenant> tenants, std::span<const ResourceVector> amounts);

// NormalizedThroughput() of many amounts.
class Throughputs {
 public:
  explicit Throughputs(const Tenant& tenant);  // outlives this

  double At(const ResourceVector& amounts) const;

 private:
  const Tenant& tenant_;
  double unit_;
};

}  // namespace synergy
