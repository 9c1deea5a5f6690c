#pragma once

// How fast a training job runs with how much CPU and memory, at its GPU count: the sensitivity
// matrix of Synergy (OSDI'22, section 3.1), and the demand that follows from it.
//
// Throughput is that of the whole job, in any unit: only its ratios matter. CPU and memory are the
// whole job's too.
//
// Threading: immutable; may be read by many threads. A copy copies the grid.

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/resources.h"
#include "core/result.h"
#include "core/units.h"
#include "profile/spread_cost.h"

namespace synergy {

class JobProfile {
 public:
  struct Point {
    MilliCpu cpu;
    Bytes memory;
    double throughput = 0;

    bool operator==(const Point&) const = default;
  };

  // Cells that a grid may have.
  static constexpr size_t kMaxCells = 1 << 14;
  // Beyond any machine, and far from where doubles and products get inexact. Throughputs are 0, or
  // within that of 1 either way: of ratios and sums of such none is infinite.
  static constexpr MilliCpu kMostCpu = Cores(1 << 24);
  static constexpr Bytes kMostMemory = Bytes(int64_t{1} << 50);
  static constexpr double kMostThroughput = 1e18;

  // Points may lie anywhere and in any order; the grid has every CPU amount and every memory amount
  // that occurs in them. A cell that was not measured is interpolated along its row and its column
  // where there are measured cells on both sides, and never leaves the range that monotony allows.
  //
  // A job is taken to run no slower with more: where a measured point is slower than one with no
  // more CPU and no more memory, the faster figure holds for both and warnings() names the two.
  //
  // kInvalid, with the point named: no GPU, no points, amounts that are not above zero or absurdly
  // large, a throughput that is negative, absurdly large or small or not a number, the same amounts
  // twice, no point above zero, more than kMaxCells.
  //
  // Takes n log n for n points and cells.
  static Result<JobProfile> Create(Gpus gpus, std::vector<Point> points);

  // Says what is wrong with a throughput; empty when nothing is.
  static std::string FaultOf(double throughput);

  Gpus gpus() const { return gpus_; }

  // The grid; ascending, never empty.
  std::span<const MilliCpu> cpus() const { return cpus_; }
  std::span<const Bytes> memories() const { return memories_; }
  // By positions in cpus() and memories(); never falls as either rises.
  double Cell(size_t cpu, size_t memory) const { return cells_[cpu * memories_.size() + memory]; }

  // For any amounts: never falls as either rises, and equals Cell() on the grid.
  //
  //   between two CPU amounts     the throughput is linear in the CPU (preprocessing scales with
  //                               cores)
  //   between two memory amounts  the time per sample is linear in the memory, as with a cache that
  //                               keeps a fixed part of the data set (MinIO, VLDB'21); so the
  //                               throughput is never above the straight line
  //   below the least measured    in proportion to the amount, down to 0 with none
  //   above the largest           as with the largest
  double ThroughputAt(MilliCpu cpu, Bytes memory) const;

  // The last cell: with the largest CPU and memory amounts.
  double Best() const { return cells_.back(); }

  // The smallest cell with at least (1 - tolerance) x Best(): of the least CPU amount with which
  // some memory is enough, the least such memory. CPU comes first because it is what clusters run
  // out of. 0 <= tolerance < 1. Where the best is above `most`, `most` stands for it.
  ResourceVector Demand(double tolerance,
                        double most = std::numeric_limits<double>::infinity()) const;

  // The part of the job's memory that its processes need, in contrast to the cache for its data:
  // the peak of anonymous and shared memory. None: not known, so that none of the memory may be
  // given or taken.
  std::optional<Bytes> process_memory() const { return process_memory_; }
  // The same profile with that known.
  JobProfile WithProcessMemory(Bytes process_memory) const;

  // What a gang of such jobs loses when it is spread; what is not known is none.
  const SpreadCost& spread() const { return spread_; }
  // The same profile with that said.
  JobProfile WithSpread(const SpreadCost& spread) const;

  // What was doubtful about the points, in words, the first few; empty as a rule.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend Result<JobProfile> Scaled(const JobProfile& one_gpu, Gpus gpus);

  JobProfile() = default;

  Gpus gpus_;
  std::optional<Bytes> process_memory_;
  SpreadCost spread_;
  std::vector<MilliCpu> cpus_;
  std::vector<Bytes> memories_;
  std::vector<double> cells_;  // by CPU, then memory
  std::vector<std::string> warnings_;
};

// How many times its throughput with its fair share a job may claim to reach. Whoever writes a
// profile decides by it who gets a node's spare CPU, so that a claim has to be bounded. The most
// sensitive of the paper's ten models comes to 2.94 with three times its fair share of CPU.
inline constexpr double kDefaultMaxSpeedUp = 4;

// The most throughput of `profile` that is believed.
double BelievedThroughput(const JobProfile& profile, const ResourceVector& fair_share,
                          double max_speed_up);

// The profile of a job with `gpus` GPUs from that of the same job with one: each GPU gets what the
// one got, so amounts of CPU and memory (the process memory too) are multiplied and throughputs are
// kept (they are per GPU then; ratios within a profile stay as they were). kInvalid: not a profile
// of one GPU, no GPU, amounts that become absurdly large.
Result<JobProfile> Scaled(const JobProfile& one_gpu, Gpus gpus);

// What `profile` says of a job with `gpus` GPUs: itself where it was measured with as many, scaled
// where it was with one; null otherwise, and where there is no profile.
std::shared_ptr<const JobProfile> ForGpus(std::shared_ptr<const JobProfile> profile, Gpus gpus);

}  // namespace synergy
