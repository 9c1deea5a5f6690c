#pragma once

// Calculates the memory dimension of a profile instead of measuring it (Synergy, OSDI'22, section
// 3.1, "optimistic profiling"). The cache keeps a fixed part of the data set (MinIO, VLDB'21), so
// every epoch misses the same part, and storage limits the throughput.
//
//   hit rate(m)      = min(1, m / data set)
//   throughput(c, m) = min(throughput(c, all in memory),
//                          storage bandwidth / (bytes per sample x (1 - hit rate(m))))
//
// Throughput is in samples per second. Throughput, data set, storage bandwidth and memory are those
// of the whole job.
//
// REQUIRES, for functions that return no Result: amounts above zero, and throughputs that are not
// NaN.
//
// Threading: pure. Failures: kInvalid with the name of the invalid amount.

#include <span>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

struct CacheModel {
  Bytes data_set;
  Bytes storage_bandwidth;  // per second
  Bytes bytes_per_sample;   // as read from storage, on average

  bool operator==(const CacheModel&) const = default;
};

// A point measured with the whole data set in memory.
struct CpuPoint {
  MilliCpu cpu;
  double throughput = 0;

  bool operator==(const CpuPoint&) const = default;
};

// Returns the throughput that storage allows with `memory` for the cache; infinity if the cache
// holds the whole data set.
double StorageLimit(const CacheModel& model, Bytes memory);

// Returns the least memory with which storage does not slow down a job that could process
// `throughput`; at least one byte.
Bytes EnoughMemory(const CacheModel& model, double throughput);

// Returns the useful memory amounts for a profile: enough for each point, and the data set's size,
// halved up to four times. Between these amounts, JobProfile interpolates as the model does.
std::vector<Bytes> MemoryGrid(const CacheModel& model, std::span<const CpuPoint> points);

// Returns a profile with the points' CPU amounts and the given amounts of memory for the cache, or
// those of MemoryGrid() if there are none. Adds `process_memory` to each.
Result<JobProfile> CalculateProfile(Gpus gpus, std::span<const CpuPoint> points,
                                    const CacheModel& model, std::span<const Bytes> memories,
                                    Bytes process_memory = Bytes(0));

}  // namespace synergy
