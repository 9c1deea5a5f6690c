#include "allocation/tenant.h"

#include <algorithm>
#include <map>

namespace synergy {
namespace {

double GpusOf(const Tenant& tenant) { return static_cast<double>(tenant.current.gpus.count()); }

// The unit of the tenant's throughput.
double UnitOf(const Tenant& tenant) {
  const double fair = tenant.profile->ThroughputAt(tenant.fair.cpu, tenant.fair.memory);
  return fair > 0 ? fair : tenant.profile->Best();
}

// The credible throughput of all the tenant's GPUs.
double InUnits(const Tenant& tenant, const ResourceVector& amounts, double unit) {
  const double claimed = tenant.profile->ThroughputAt(amounts.cpu, amounts.memory) / unit;
  return GpusOf(tenant) * std::min(claimed, tenant.max_speed_up);
}

double WithoutProfile(const Tenant& tenant, const ResourceVector& amounts) {
  const ResourceVector& whole = tenant.gang ? tenant.gang->needs : tenant.current;
  double scarcest = 1;
  ResourceVector::ForEachDivided([&](auto member) {
    const auto needs = static_cast<double>((whole.*member).count());
    if (needs <= 0) return;
    scarcest = std::min(scarcest, static_cast<double>((amounts.*member).count()) / needs);
  });
  return GpusOf(tenant) * scarcest;
}

}  // namespace

std::vector<ResourceVector> CurrentOf(std::span<const Tenant> tenants) {
  std::vector<ResourceVector> current;
  current.reserve(tenants.size());
  for (const Tenant& tenant : tenants) current.push_back(tenant.current);
  return current;
}

Throughputs::Throughputs(const Tenant& tenant)
    : tenant_(tenant), unit_(tenant.profile != nullptr ? UnitOf(tenant) : 1) {}

double Throughputs::At(const ResourceVector& amounts) const {
  if (tenant_.profile == nullptr) return WithoutProfile(tenant_, amounts);
  return InUnits(tenant_, amounts, unit_);
}

double NormalizedThroughput(const Tenant& tenant, const ResourceVector& amounts) {
  return Throughputs(tenant).At(amounts);
}

std::vector<double> ThroughputsOf(std::span<const Tenant> tenants,
                                  std::span<const ResourceVector> amounts) {
  struct Slowest {
    double per_gpu = 0;
    double gpus_here = 0;
  };
  std::vector<double> throughputs;
  throughputs.reserve(tenants.size());
  std::map<size_t, Slowest> gangs;
  for (size_t i = 0; i < tenants.size(); ++i) {
    const Tenant& tenant = tenants[i];
    throughputs.push_back(NormalizedThroughput(tenant, amounts[i]));
    if (!tenant.gang) continue;
    const double per_gpu = throughputs.back() / GpusOf(tenant);
    const auto [gang, is_first] = gangs.try_emplace(tenant.gang->number);
    Slowest& slowest = gang->second;
    if (is_first) slowest.per_gpu = tenant.gang->elsewhere;
    slowest.per_gpu = std::min(slowest.per_gpu, per_gpu);
    slowest.gpus_here += GpusOf(tenant);
  }
  if (gangs.empty()) return throughputs;
  for (size_t i = 0; i < tenants.size(); ++i) {
    if (!tenants[i].gang) continue;
    const Slowest& slowest = gangs.at(tenants[i].gang->number);
    throughputs[i] = slowest.per_gpu * GpusOf(tenants[i]) * tenants[i].gang->gpus /
                     std::max(slowest.gpus_here, 1.0);
  }
  return throughputs;
}

double TotalThroughput(std::span<const Tenant> tenants, std::span<const ResourceVector> amounts) {
  double total = 0;
  for (const double throughput : ThroughputsOf(tenants, amounts)) total += throughput;
  return total;
}

}  // namespace synergy
