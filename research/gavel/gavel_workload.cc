#include "research/gavel/gavel_workload.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/random.h"

namespace synergy {
namespace {

double DrawDuration(Random& random) {
  const bool is_long = random.Uniform() >= 0.8;
  return 60 * std::pow(10, is_long ? 3 + random.Uniform() : 1.5 + 1.5 * random.Uniform());
}

}  // namespace

Result<std::vector<GavelTraceJob>> GenerateGavelWorkload(const WorkloadOptions& options,
                                                         const GavelThroughputs& throughputs,
                                                         const std::string& fastest_type) {
  Random random(options.seed);
  std::vector<GavelTraceJob> jobs;
  jobs.reserve(static_cast<size_t>(options.jobs));
  double arrival = 0;
  for (int64_t id = 0; id < options.jobs; ++id) {
    arrival += -std::log(1 - random.Uniform()) / options.jobs_per_hour * 3600;
    const int64_t gpus = DrawGpus(options, random);
    const std::vector<std::string> models = throughputs.Models(gpus, fastest_type);
    if (models.empty()) {
      return Fail(ErrorCode::kInvalid, fmt::format("workload: no known model runs on {} GPUs of {}",
                                                   gpus, fastest_type));
    }
    const auto drawn = static_cast<size_t>(random.Uniform() * static_cast<double>(models.size()));
    const std::string& model = models[std::min(drawn, models.size() - 1)];
    const double rate = throughputs.Of(model, gpus, {fastest_type})->front();
    jobs.push_back(
        {.id = id,
         .model = model,
         .gpus = gpus,
         .steps = static_cast<int64_t>(std::max(std::floor(DrawDuration(random) * rate), 1.0)),
         .slo = std::nullopt,
         .submitted = Seconds(arrival)});
  }
  return jobs;
}

}  // namespace synergy
