#include "gavel/cost_hulls.h"

#include <algorithm>
#include <limits>

namespace synergy {

CostHulls::CostHulls(const GavelProblem& problem)
    : problem_(problem),
      stride_(problem.types.size() + 1),
      vertices_(problem.jobs.size() * stride_),
      counts_(problem.jobs.size(), 0) {}

void CostHulls::SetPrices(std::span<const double> prices) {
  for (size_t job = 0; job < problem_.jobs.size(); ++job) {
    const GavelJob& each = problem_.jobs[job];
    Vertex* const hull = &vertices_[job * stride_];
    hull[0] = {0, 0, 0};
    size_t count = 1;
    while (true) {
      const Vertex& last = hull[count - 1];
      double least = std::numeric_limits<double>::infinity();
      Vertex next{};
      for (size_t type = 0; type < prices.size(); ++type) {
        const double throughput = each.throughput[type];
        if (throughput <= last.throughput || problem_.gpus[type] <= 0) continue;
        const double cost = each.gpus * prices[type];
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
