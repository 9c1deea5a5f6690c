#pragma once

// Reads the input of the simulator of Tiresias' authors: jobs, history of sizes, cluster, schedule.
//
// Threading: pure. Failures: kInvalid; for files with file, line, column and the cure.

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
  std::string model;  // empty if the trace does not state it
};

// Parses CSV with job_id, num_gpu, submit_time, duration and optionally model_name; ignores other
// columns. Cuts off fractions of a second of a duration. Keeps the file's order.
Result<std::vector<TiresiasJob>> ParseTiresiasTrace(std::string_view text, std::string_view file);

// Parses CSV with the column `duration`: sizes of past jobs in GPU-seconds.
Result<std::vector<int64_t>> ParseSizeHistory(std::string_view text, std::string_view file);

struct TiresiasCluster {
  int64_t nodes = 0;
  int64_t gpus = 0;  // for each node
};
// Parses a text such as "n2g4": 2 nodes with 4 GPUs each.
Result<TiresiasCluster> ParseTiresiasCluster(std::string_view text);

struct TiresiasSchedule {
  enum class Kind : uint8_t { kDlasGpu, kDlasGpuGittins, kFifo, kShortest, kShortestGpu, kSjf };

  Kind kind = Kind::kDlasGpu;
  double promote = 0;  // for dlas-gpu

  bool HasQueues() const { return kind == Kind::kDlasGpu || kind == Kind::kDlasGpuGittins; }
};
// Parses dlas-gpu, dlas-gpu-N, dlas-gpu-gittins, fifo, shortest, shortest-gpu, sjf. N can be 05 for
// 0.5, as the authors write it.
Result<TiresiasSchedule> ParseTiresiasSchedule(std::string_view text);

enum class TiresiasScheme : uint8_t {
  kCount,  // GPUs are only counted
  kYarn,   // one switch: see tiresias_gpus.h
};
Result<TiresiasScheme> ParseTiresiasScheme(std::string_view text);

}  // namespace synergy
