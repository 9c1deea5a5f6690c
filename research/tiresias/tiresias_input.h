#pragma once

// The input of the simulator of Tiresias' authors: jobs, history of sizes, cluster, schedule.
//
// Threading: pure. Failures: kInvalid; of files with file, line, column and the cure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace synergy {

// Times in seconds.
struct TiresiasJob {
  int64_t id = 0;
  int64_t gpus = 1;
  int64_t submitted = 0;
  int64_t duration = 0;
  std::string model;  // empty: the trace does not say
};

// Parses CSV with job_id, num_gpu, submit_time, duration and, where known, model_name; other
// columns are ignored. Cuts off fractions of a second of a duration. Keeps the order of the file.
Result<std::vector<TiresiasJob>> ParseTiresiasTrace(std::string_view text, std::string_view file);

// Parses CSV with the column `duration`: sizes of past jobs in GPU-seconds.
Result<std::vector<int64_t>> ParseSizeHistory(std::string_view text, std::string_view file);

struct TiresiasCluster {
  int64_t nodes = 0;
  int64_t gpus = 0;  // per node
};
// Parses "n2g4": 2 nodes of 4 GPUs.
Result<TiresiasCluster> ParseTiresiasCluster(std::string_view text);

struct TiresiasSchedule {
  enum class Kind : uint8_t { kDlasGpu, kDlasGpuGittins, kFifo, kShortest, kShortestGpu, kSjf };

  Kind kind = Kind::kDlasGpu;
  double promote = 0;  // for dlas-gpu

  bool HasQueues() const { return kind == Kind::kDlasGpu || kind == Kind::kDlasGpuGittins; }
};
// Parses dlas-gpu, dlas-gpu-N, dlas-gpu-gittins, fifo, shortest, shortest-gpu, sjf. N = 05 is 0.5,
// as the authors write it.
Result<TiresiasSchedule> ParseTiresiasSchedule(std::string_view text);

enum class TiresiasScheme : uint8_t {
  kCount,  // GPUs are counted
  kYarn,   // one switch: see tiresias_gpus.h
};
Result<TiresiasScheme> ParseTiresiasScheme(std::string_view text);

}  // namespace synergy
