#include "sim/model_facts.h"

#include <algorithm>
#include <utility>

#include "core/rounding.h"

namespace synergy {

Result<JobProfile> ProfileOf(const ModelFact& fact) {
  std::vector<JobProfile::Point> points;
  points.reserve(fact.throughput.size());
  for (size_t at = 0; at < fact.throughput.size(); ++at) {
    const size_t columns = fact.memories.size();
    points.push_back({fact.cpus[at / columns], fact.memories[at % columns], fact.throughput[at]});
  }
  return JobProfile::Create(Gpus(1), std::move(points));
}

ModelFact OnGpusOfSpeed(ModelFact fact, double speed) {
  if (speed == 1 || fact.throughput.empty()) return fact;
  const size_t columns = fact.memories.size();
  const std::vector<double> before = fact.throughput;
  const auto at = [&](size_t row, size_t column) { return before[row * columns + column]; };
  double best = 0;
  for (const double throughput : before) best = std::max(best, throughput);
  for (size_t column = 0; column < columns; ++column) {
    // Storage allows this throughput with this memory, if it is below what GPU and CPU can do.
    double with_memory = 0;
    for (size_t row = 0; row < fact.cpus.size(); ++row)
      with_memory = std::max(with_memory, at(row, column));
    for (size_t row = 0; row < fact.cpus.size(); ++row) {
      const double scaled = speed * at(row, columns - 1);
      fact.throughput[row * columns + column] =
          with_memory < best ? std::min(scaled, with_memory) : scaled;
    }
  }
  for (MilliCpu& cpu : fact.cpus)
    cpu = MilliCpu(ToNearest(static_cast<double>(cpu.count()) * speed));
  fact.cpu = MilliCpu(ToNearest(static_cast<double>(fact.cpu.count()) * speed));
  fact.iteration_time /= speed;
  return fact;
}

}  // namespace synergy
