#include "policy/gittins.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace synergy {

SizeHistory::SizeHistory(std::vector<double> sizes) : sizes_(std::move(sizes)) {
  std::sort(sizes_.begin(), sizes_.end());
}

double SizeHistory::Index(double attained, double limit) const {
  const auto above = std::upper_bound(sizes_.begin(), sizes_.end(), attained);
  const auto jobs = static_cast<size_t>(sizes_.end() - above);
  double best = 0;
  double served = 0;  // service beyond `attained` for the jobs that have ended
  // Try only sizes as limits, because between two sizes the probability is constant and the cost
  // grows.
  for (size_t ended = 1; ended <= jobs; ++ended) {
    const double size = above[static_cast<std::ptrdiff_t>(ended - 1)];
    if (size > limit) break;
    served += size - attained;
    const double cost = served + (size - attained) * static_cast<double>(jobs - ended);
    best = std::max(best, static_cast<double>(ended) / cost);
  }
  return best;
}

}  // namespace synergy
