#include "allocation/pod_share.h"

#include <algorithm>
#include <map>

namespace synergy {
namespace {

double GpusOf(const PodShare& share) { return static_cast<double>(share.current.gpus.count()); }

// Returns the unit of the share's throughput: the throughput at its fair share, or the best one if
// that is 0.
double UnitOf(const PodShare& share) {
  const double fair = share.profile->ThroughputAt(share.fair.cpu, share.fair.memory);
  return fair > 0 ? fair : share.profile->Best();
}

// Returns the credible throughput of all the share's GPUs.
double InUnits(const PodShare& share, const ResourceVector& amounts, double unit) {
  double throughput = share.profile->ThroughputAt(amounts.cpu, amounts.memory);
  if (share.storage) {
    throughput =
        std::min(throughput, share.storage->reads.RateWith(share.storage->left, amounts.memory));
  }
  return GpusOf(share) * std::min(throughput / unit, share.max_speed_up);
}

double WithoutProfile(const PodShare& share, const ResourceVector& amounts) {
  const ResourceVector& whole = share.gang ? share.gang->needs : share.current;
  double scarcest = 1;
  ResourceVector::ForEachDivided([&](auto member) {
    const auto needs = static_cast<double>((whole.*member).count());
    if (needs <= 0) return;
    scarcest = std::min(scarcest, static_cast<double>((amounts.*member).count()) / needs);
  });
  return GpusOf(share) * scarcest;
}

}  // namespace

std::vector<ResourceVector> CurrentOf(std::span<const PodShare> shares) {
  std::vector<ResourceVector> current;
  current.reserve(shares.size());
  for (const PodShare& share : shares) current.push_back(share.current);
  return current;
}

Throughputs::Throughputs(const PodShare& share)
    : share_(share), unit_(share.profile != nullptr ? UnitOf(share) : 1) {}

double Throughputs::At(const ResourceVector& amounts) const {
  if (share_.profile == nullptr) return WithoutProfile(share_, amounts);
  return InUnits(share_, amounts, unit_);
}

double NormalizedThroughput(const PodShare& share, const ResourceVector& amounts) {
  return Throughputs(share).At(amounts);
}

std::vector<double> ThroughputsOf(std::span<const PodShare> shares,
                                  std::span<const ResourceVector> amounts) {
  struct Slowest {
    double per_gpu = 0;
    double gpus_here = 0;
  };
  std::vector<double> throughputs;
  throughputs.reserve(shares.size());
  std::map<size_t, Slowest> gangs;
  for (size_t i = 0; i < shares.size(); ++i) {
    const PodShare& share = shares[i];
    throughputs.push_back(NormalizedThroughput(share, amounts[i]));
    if (!share.gang) continue;
    const double per_gpu = throughputs.back() / GpusOf(share);
    const auto [gang, is_first] = gangs.try_emplace(share.gang->number);
    Slowest& slowest = gang->second;
    if (is_first) slowest.per_gpu = share.gang->elsewhere;
    slowest.per_gpu = std::min(slowest.per_gpu, per_gpu);
    slowest.gpus_here += GpusOf(share);
  }
  if (gangs.empty()) return throughputs;
  for (size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i].gang) continue;
    const Slowest& slowest = gangs.at(shares[i].gang->number);
    throughputs[i] = slowest.per_gpu * GpusOf(shares[i]) * shares[i].gang->gpus /
                     std::max(slowest.gpus_here, 1.0);
  }
  return throughputs;
}

double TotalThroughput(std::span<const PodShare> shares, std::span<const ResourceVector> amounts) {
  double total = 0;
  for (const double throughput : ThroughputsOf(shares, amounts)) total += throughput;
  return total;
}

}  // namespace synergy
