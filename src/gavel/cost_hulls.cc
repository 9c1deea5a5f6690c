#include "gavel/cost_hulls.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace synergy {

CostHulls::CostHulls(const GavelProblem& problem, std::vector<double> gains)
    : types_(problem.types.size()),
      stride_(types_ + 1),
      gains_(std::move(gains)),
      vertices_(problem.jobs.size() * stride_),
      counts_(problem.jobs.size(), 0) {
  gpus_.reserve(problem.jobs.size());
  throughputs_.reserve(problem.jobs.size() * types_);
  for (const GavelJob& job : problem.jobs) {
    gpus_.push_back(job.gpus);
    for (size_t type = 0; type < types_; ++type)
      throughputs_.push_back(problem.gpus[type] > 0 ? job.throughput[type] : 0);
  }
  gains_.resize(throughputs_.size(), 0);
}

void CostHulls::SetPrices(std::span<const double> prices) {
  for (size_t job = 0; job < gpus_.size(); ++job) {
    const double* const throughputs = &throughputs_[job * types_];
    const double* const gains = &gains_[job * types_];
    Vertex* const hull = &vertices_[job * stride_];
    hull[0] = {0, 0, 0};
    size_t count = 1;
    while (true) {
      const Vertex& last = hull[count - 1];
      double least = std::numeric_limits<double>::infinity();
      Vertex next{};
      for (size_t type = 0; type < types_; ++type) {
        const double throughput = throughputs[type];
        if (throughput <= last.throughput) continue;
        const double cost = gpus_[job] * prices[type] - gains[type];
        const double slope = (cost - last.cost) / (throughput - last.throughput);
        if (slope < least || (slope == least && throughput > next.throughput)) {
          least = slope;
          next = {throughput, cost, type};
        }
      }
      if (least == std::numeric_limits<double>::infinity()) break;
      hull[count++] = next;
    }
    counts_[job] = count;
  }
}

size_t CostHulls::SegmentTo(std::span<const Vertex> hull, double throughput) {
  size_t i = 0;
  while (i + 2 < hull.size() && hull[i + 1].throughput < throughput) ++i;
  return i;
}

double CostHulls::Take(std::span<const Vertex> hull, double throughput, double weight,
                       std::span<double> row) {
  const size_t i = SegmentTo(hull, throughput);
  const Vertex& from = hull[i];
  const Vertex& to = hull[i + 1];
  const double part =
      std::clamp((throughput - from.throughput) / (to.throughput - from.throughput), 0.0, 1.0);
  if (i > 0) row[from.type] += weight * (1 - part);
  row[to.type] += weight * part;
  return from.cost + part * (to.cost - from.cost);
}

}  // namespace synergy
