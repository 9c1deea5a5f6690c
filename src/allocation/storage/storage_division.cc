#include "allocation/storage/storage_division.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "allocation/storage/storage_left.h"

namespace synergy {
namespace {

// Prices of the whole bandwidth, in units of the throughput of all GPUs that use it.
constexpr std::array<double, 6> kPrices = {0, 0.125, 0.25, 0.5, 1, 2};

double TotalTogether(std::span<const PodShare> shares, std::span<const ResourceVector> amounts) {
  double total = 0;
  for (const double throughput : ThroughputsTogether(shares, amounts)) total += throughput;
  return total;
}

}  // namespace

std::optional<std::vector<ResourceVector>> DivideWithStorage(std::span<const PodShare> shares,
                                                             std::span<const Range> ranges,
                                                             const ResourceVector& spare) {
  std::vector<PodShare> tried = AloneOnStorage(shares);
  auto best = DivideAgain(tried, ranges, spare);
  if (!best) return best;
  double needed = 0;
  double bandwidth = 0;
  double gpus = 0;
  size_t readers = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i].storage || shares[i].storage->reads.data_set <= Bytes(0)) continue;
    needed += StorageNeedOf(shares[i], (*best)[i]);
    bandwidth = shares[i].storage->bandwidth;
    gpus += static_cast<double>(shares[i].current.gpus.count());
    ++readers;
  }
  if (needed <= bandwidth) return best;
  double most = TotalTogether(shares, *best);
  for (size_t waiting = 1; waiting <= readers; ++waiting) {
    for (PodShare& share : tried) {
      if (share.storage) share.storage->left = bandwidth / static_cast<double>(waiting);
    }
    for (const double price : kPrices) {
      auto amounts = DivideAgain(tried, ranges, spare, price * gpus / bandwidth);
      if (!amounts) continue;
      const double total = TotalTogether(shares, *amounts);
      if (total <= most + kLeastGain) continue;
      most = total;
      best = std::move(amounts);
    }
  }
  return best;
}

}  // namespace synergy
