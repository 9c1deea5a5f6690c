#pragma once

// Workloads generated from a seed by the method of the Synergy paper, from statistics of the Philly
// trace. Gaps between arrivals are exponential. Durations are 60 x 10^U(1.5, 3) s for four of five
// jobs, and 60 x 10^U(3, 4) s for the rest. Classes of models have fixed proportions, and the
// models of a class take turns.
//
// Threading: pure. The same options give the same jobs everywhere.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/result.h"
#include "sim/model_facts.h"
#include "sim/trace.h"

namespace synergy {

struct WorkloadOptions {
  double jobs_per_hour = 9;
  std::array<int, 3> split{20, 70, 10};  // image : language : speech
  // GPU counts and their weights.
  std::vector<std::pair<int64_t, double>> gpus{{1, 1.0}};
  int64_t jobs = 1000;
  uint64_t seed = 42;
};

// Parses "rate=9/h,split=20:70:10,gpus=philly,jobs=7000,seed=42"; every part is optional. gpus is
// philly (1, 2, 4 and 8 GPUs as 70:10:15:5), one number, or numbers with weights as "1x70:2x10".
// kInvalid names the part and its valid values.
Result<WorkloadOptions> ParseWorkloadOptions(std::string_view text);

// Draws a GPU count by the weights of `options`.
int64_t DrawGpus(const WorkloadOptions& options, Random& random);

// If `facts` lacks one of the models of the split, the jobs have the models of `facts` in turn.
// Returns kInvalid if it has none.
Result<std::vector<TraceJob>> GenerateWorkload(const WorkloadOptions& options,
                                               const ModelFacts& facts);

// Returns the jobs in the format of ParseTrace().
std::string ToTraceCsv(std::span<const TraceJob> jobs);

// Returns whether `facts` has every model that DrawModel() may draw.
bool HasModelsOf(const std::array<int, 3>& split, const ModelFacts& facts);

// Draws a model: first its class by the weights of `split`, then a model of the class.
std::string_view DrawModel(const std::array<int, 3>& split, Random& random);

// Yields the models of a workload with this split, job by job; for traces without model names.
class ModelSequence {
 public:
  explicit ModelSequence(const std::array<int, 3>& split) : split_(split) {}
  std::string_view Next();

 private:
  std::array<int, 3> split_;
  std::array<int64_t, 3> counts_{};
};

}  // namespace synergy
