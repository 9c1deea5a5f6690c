#include "sim/cluster/product/cluster_use.h"

#include <algorithm>
#include <cstdint>

namespace synergy {
namespace {

double Part(int64_t amount, int64_t whole) {
  return static_cast<double>(amount) / std::max(static_cast<double>(whole), 1.0);
}

}  // namespace

void ClusterUse::Account(Instant until, const ResourceVector& allocated, Gpus kept) {
  const double time = Seconds(until - until_).count();
  kept = std::min(kept, total_.gpus - allocated.gpus);
  used_.gpus += time * Part(allocated.gpus.count(), total_.gpus.count());
  used_.kept_idle += time * Part(kept.count(), total_.gpus.count());
  used_.cpu += time * Part(allocated.cpu.count(), total_.cpu.count());
  used_.memory += time * Part(allocated.memory.count(), total_.memory.count());
  until_ = until;
}

void ClusterUse::SetMeans(SimulationRun& run) const {
  const double whole = std::max((run.end - run.begin).count(), 1e-9);
  run.gpu_utilisation = used_.gpus / whole;
  run.cpu_utilisation = used_.cpu / whole;
  run.memory_utilisation = used_.memory / whole;
  run.kept_idle = used_.kept_idle / whole;
}

UtilisationPoint ClusterUse::PointAt(Seconds at, const ResourceVector& allocated) const {
  return {.at = at,
          .gpus = Part(allocated.gpus.count(), total_.gpus.count()),
          .cpu = Part(allocated.cpu.count(), total_.cpu.count()),
          .memory = Part(allocated.memory.count(), total_.memory.count())};
}

}  // namespace synergy
