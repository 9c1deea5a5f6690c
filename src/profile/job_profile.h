#pragma once

// The speed of a training job with each amount of CPU and memory, at its GPU count, and the demand
// that follows from it. The paper calls it the sensitivity matrix (Synergy, OSDI'22, section 3.1).
//
// Throughput is in any unit: only ratios matter. Throughput, CPU and memory are those of the whole
// job.
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

  // The maximum number of cells in a grid.
  static constexpr size_t kMaxCells = 1 << 14;
  // Limits beyond any machine, and far below the values at which doubles and products become
  // inexact. Throughputs are 0 or within this factor of 1 in either direction, so no ratio or sum
  // of them is infinite.
  static constexpr MilliCpu kMostCpu = Cores(1 << 24);
  static constexpr Bytes kMostMemory = Bytes(int64_t{1} << 50);
  static constexpr double kMostThroughput = 1e18;

  // Makes a profile from measured points, which may lie anywhere and be in any order. The grid has
  // every CPU amount and every memory amount of the points. A cell that was not measured is
  // interpolated along its row and its column if there are measured cells on both sides. It never
  // leaves the range that monotonicity allows.
  //
  // More CPU or memory is assumed never to slow a job down. If a measured point is slower than one
  // with no more CPU and no more memory, the faster figure applies to both, and warnings() names
  // them.
  //
  // Returns kInvalid, naming the point, for an amount that is not above zero or exceeds its limit,
  // for a throughput that is negative, beyond its limit or not a number, and for repeated amounts.
  // Also returns kInvalid if there is no GPU, no point, no point above zero, or if there are more
  // cells than kMaxCells.
  //
  // Takes time n log n for n points and cells.
  static Result<JobProfile> Create(Gpus gpus, std::vector<Point> points);

  // Returns a description of a throughput's fault; empty if it has none.
  static std::string FaultOf(double throughput);

  Gpus gpus() const { return gpus_; }

  // Return the grid's amounts, ascending and never empty.
  std::span<const MilliCpu> cpus() const { return cpus_; }
  std::span<const Bytes> memories() const { return memories_; }
  // Returns a cell by positions in cpus() and memories(); never falls as either rises.
  double Cell(size_t cpu, size_t memory) const { return cells_[cpu * memories_.size() + memory]; }

  // Returns the throughput for any amounts. It never falls as either rises, and equals Cell() on
  // the grid.
  //
  //   between two CPU amounts     the throughput is linear in the CPU (preprocessing scales with
  //                               cores)
  //   between two memory amounts  the time per sample is linear in the memory, as with a cache that
  //                               keeps a fixed part of the data set (MinIO, VLDB'21); so the
  //                               throughput is never above the straight line
  //   below the least measured    in proportion to the amount, down to 0 with none
  //   above the largest           as with the largest
  double ThroughputAt(MilliCpu cpu, Bytes memory) const;

  // Returns the last cell, with the largest CPU and memory amounts.
  double Best() const { return cells_.back(); }

  // Returns the smallest cell with at least (1 - tolerance) x min(Best(), most): the least CPU
  // amount for which some memory suffices, and the least such memory. CPU comes first because
  // clusters run out of it first. REQUIRES: 0 <= tolerance < 1.
  ResourceVector Demand(double tolerance,
                        double most = std::numeric_limits<double>::infinity()) const;

  // Returns the part of the job's memory that its processes need, apart from the cache for its
  // data: the peak of anonymous and shared memory. If it is unknown (nullopt), the job's memory
  // must be neither raised nor reduced.
  std::optional<Bytes> process_memory() const { return process_memory_; }
  // Returns the same profile with this process memory.
  JobProfile WithProcessMemory(Bytes process_memory) const;

  // Returns how much speed a gang of such jobs loses when it is spread over nodes. Unknown parts
  // count as no loss.
  const SpreadCost& spread() const { return spread_; }
  // Returns the same profile with this spread cost.
  JobProfile WithSpread(const SpreadCost& spread) const;

  // Returns the first few doubtful properties of the points, as text. The list is usually empty.
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

// The most throughput that a job may claim, as a multiple of its throughput at the fair share.
// Claims must be bounded, because they decide which job gets a node's spare CPU. The most sensitive
// of the paper's ten models reaches 2.94 with three times its fair share of CPU.
inline constexpr double kDefaultMaxSpeedUp = 4;

// Returns the most throughput that `profile` may claim.
double CredibleThroughput(const JobProfile& profile, const ResourceVector& fair_share,
                          double max_speed_up);

// Scales the profile of a job with one GPU to the same job with `gpus` GPUs. Each GPU gets the
// amounts of the one GPU: CPU and memory, including the process memory, are multiplied. Throughputs
// are kept, and are then per GPU; ratios within a profile stay the same. Returns kInvalid if the
// profile is not for one GPU, there is no GPU, or amounts become absurdly large.
Result<JobProfile> Scaled(const JobProfile& one_gpu, Gpus gpus);

// Returns `profile` for a job with `gpus` GPUs: unchanged if it was measured with that number,
// scaled if it was measured with one. Returns null otherwise, and if there is no profile.
std::shared_ptr<const JobProfile> ForGpus(std::shared_ptr<const JobProfile> profile, Gpus gpus);

}  // namespace synergy
