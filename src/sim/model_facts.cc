#include "sim/model_facts.h"

#include <utility>

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

}  // namespace synergy
