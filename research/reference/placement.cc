#include "research/reference/placement.h"

#include <algorithm>
#include <cstdint>

namespace synergy::reference {
namespace {

double FreeGpus(const Cluster& cluster, uint32_t server) { return cluster.Free(server)[kGpu]; }

}  // namespace

void ByFreeGpus(const Cluster& cluster, std::vector<uint32_t>& order) {
  order.clear();
  for (uint32_t server = 0; server < cluster.servers(); ++server) {
    if (FreeGpus(cluster, server) > 0) order.push_back(server);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const double free_a = FreeGpus(cluster, a);
    const double free_b = FreeGpus(cluster, b);
    return free_a != free_b ? free_a < free_b : a < b;
  });
}

bool Placement::Find(const Amounts& demand) {
  parts_.clear();
  if (consolidate_ && demand[kGpu] > 1 && FindWhole(demand)) return true;

  Amounts per_gpu;
  for (size_t i = 0; i < per_gpu.size(); ++i) per_gpu[i] = demand[i] / demand[kGpu];
  int wanted = static_cast<int>(demand[kGpu]);
  if (consolidate_) {
    ByFreeGpus(cluster_, order_);
    for (const uint32_t server : order_) {
      if (FitsWithin(per_gpu, cluster_.Free(server))) Gather(server, per_gpu, wanted);
      if (wanted == 0) return true;
    }
    return false;
  }
  const uint32_t servers = cluster_.servers();
  for (uint32_t server = 0; server < servers; ++server) {
    if (!FitsWithin(per_gpu, cluster_.Free(server))) continue;
    Gather(server, per_gpu, wanted);
    if (wanted == 0) return true;
  }
  return false;
}

bool Placement::FindWhole(const Amounts& demand) {
  double fewest = cluster_.server()[kGpu] + 1;
  for (uint32_t server = 0; server < cluster_.servers(); ++server) {
    const Amounts& free = cluster_.Free(server);
    if (free[kGpu] >= fewest || !FitsWithin(demand, free)) continue;
    fewest = free[kGpu];
    parts_.assign(1, {server, demand});
  }
  return !parts_.empty();
}

void Placement::Gather(uint32_t server, const Amounts& per_gpu, int& wanted) {
  const Amounts& free = cluster_.Free(server);
  Amounts taken = per_gpu;
  while (--wanted > 0 && FitsWithin(per_gpu, free - taken)) taken = taken + per_gpu;
  parts_.push_back({server, taken});
}

}  // namespace synergy::reference
