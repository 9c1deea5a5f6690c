#include "allocation/surplus.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "allocation/re_division.h"
#include "cluster/fungible.h"

namespace synergy {
namespace {

// CPU amounts that are tried between the least and the most that a pod may have.
constexpr int64_t kCpuSteps = 12;
constexpr int64_t kLeastCpuStep = 10;  // thousandths of a core
// What a change has to be worth at least, so that equal divisions change nothing.
constexpr double kLeastGain = 1e-6;

// What a tenant may have.
struct Range {
  ResourceVector least;
  ResourceVector most;
};

template <class Amount>
void SortAndRestrict(std::vector<Amount>& amounts, Amount least, Amount most) {
  std::erase_if(amounts, [&](Amount amount) { return amount < least || amount > most; });
  std::sort(amounts.begin(), amounts.end());
  amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
}

std::vector<DivisionChoice> Choices(const Tenant& tenant, const Range& range) {
  std::vector<MilliCpu> cpus = {range.least.cpu, range.most.cpu, tenant.current.cpu,
                                tenant.floor.cpu};
  std::vector<Bytes> memories = {range.least.memory, range.most.memory, tenant.current.memory,
                                 tenant.floor.memory};
  if (tenant.profile != nullptr) {
    const int64_t width = (range.most.cpu - range.least.cpu).count();
    const int64_t step = std::max(width / kCpuSteps, kLeastCpuStep);
    for (int64_t above = step; above < width; above += step) {
      cpus.push_back(range.least.cpu + MilliCpu(above));
    }
    const auto measured = tenant.profile->memories();
    memories.insert(memories.end(), measured.begin(), measured.end());
  }
  SortAndRestrict(cpus, range.least.cpu, range.most.cpu);
  SortAndRestrict(memories, range.least.memory, range.most.memory);

  std::vector<DivisionChoice> choices;
  for (const MilliCpu cpu : cpus) {
    // More memory than the last one that helped is not worth having.
    double best = -1;
    for (const Bytes memory : memories) {
      const ResourceVector amounts{tenant.current.gpus, cpu, memory};
      const bool stays = amounts == tenant.current;
      const double value = NormalizedThroughput(tenant, amounts);
      if (!stays && value <= best + kLeastGain) continue;
      best = std::max(best, value);
      choices.push_back({cpu, memory, value + (stays ? kLeastGain : 0)});
    }
  }
  return choices;
}

// The best division of what the tenants have and `spare` (negative: less than they have).
std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const Tenant> tenants,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare) {
  std::vector<std::vector<DivisionChoice>> choices;
  std::vector<std::span<const DivisionChoice>> views;
  ResourceVector capacity = spare;
  for (size_t i = 0; i < tenants.size(); ++i) {
    choices.push_back(Choices(tenants[i], ranges[i]));
    capacity += tenants[i].current;
  }
  views.reserve(choices.size());
  for (const auto& list : choices) views.emplace_back(list);
  const Division division = Divide(views, capacity.cpu, capacity.memory);
  if (division.chosen.size() != tenants.size()) return std::nullopt;
  std::vector<ResourceVector> amounts;
  for (size_t i = 0; i < tenants.size(); ++i) {
    const DivisionChoice& choice = choices[i][division.chosen[i]];
    amounts.push_back({tenants[i].current.gpus, choice.cpu, choice.memory});
  }
  return amounts;
}

// Steps cut more than was asked for: the rest goes back to those who were cut.
void GiveBack(std::span<const Tenant> tenants, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts) {
  ResourceVector rest = ResourceVector{} - LargerOf(lacking, {});
  for (size_t i = 0; i < tenants.size(); ++i) rest += tenants[i].current - amounts[i];
  for (size_t i = 0; i < tenants.size(); ++i) {
    const ResourceVector cut = tenants[i].current - amounts[i];
    const MilliCpu cpu = std::clamp(rest.cpu, MilliCpu(0), cut.cpu);
    const Bytes memory = std::clamp(rest.memory, Bytes(0), cut.memory);
    amounts[i] += {Gpus(0), cpu, memory};
    rest -= {Gpus(0), cpu, memory};
  }
}

// Steps leave something over: it goes to whom it helps most.
void GiveRest(std::span<const Tenant> tenants, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts) {
  ResourceVector rest = spare;
  for (size_t i = 0; i < tenants.size(); ++i) rest += tenants[i].current - amounts[i];
  for (size_t turn = 0; turn < tenants.size(); ++turn) {
    std::optional<size_t> best;
    ResourceVector best_amounts;
    double best_gain = kLeastGain;
    for (size_t i = 0; i < tenants.size(); ++i) {
      ResourceVector more = amounts[i];
      more.cpu += std::clamp(ranges[i].most.cpu - more.cpu, MilliCpu(0), rest.cpu);
      const double gain =
          NormalizedThroughput(tenants[i], more) - NormalizedThroughput(tenants[i], amounts[i]);
      if (gain <= best_gain) continue;
      best = i;
      best_amounts = more;
      best_gain = gain;
    }
    if (!best) return;
    rest -= best_amounts - amounts[*best];
    amounts[*best] = best_amounts;
  }
}

}  // namespace

ResourceVector Tenant::Surplus() const {
  if (!shrinkable || profile == nullptr) return {};
  ResourceVector surplus = LargerOf(current - floor, {});
  surplus.gpus = Gpus(0);
  return surplus;
}

double NormalizedThroughput(const Tenant& tenant, const ResourceVector& amounts) {
  const auto gpus = static_cast<double>(tenant.current.gpus.count());
  if (tenant.profile == nullptr) return gpus;
  const double fair = tenant.profile->ThroughputAt(tenant.fair.cpu, tenant.fair.memory);
  const double unit = fair > 0 ? fair : tenant.profile->Best();
  return gpus * tenant.profile->ThroughputAt(amounts.cpu, amounts.memory) / unit;
}

std::optional<std::vector<ResourceVector>> Reclaim(std::span<const Tenant> tenants,
                                                   const ResourceVector& lacking) {
  const bool of_cpu = lacking.cpu > MilliCpu(0);
  const bool of_memory = lacking.memory > Bytes(0);
  std::vector<Range> ranges;
  for (const Tenant& tenant : tenants) {
    Range range{tenant.current, tenant.current};
    const ResourceVector surplus = tenant.Surplus();
    if (of_cpu) range.least.cpu -= surplus.cpu;
    if (of_memory) range.least.memory -= surplus.memory;
    ranges.push_back(range);
  }
  ResourceVector spare;
  if (of_cpu) spare.cpu -= lacking.cpu;
  if (of_memory) spare.memory -= lacking.memory;
  auto amounts = DivideAgain(tenants, ranges, spare);
  if (amounts) GiveBack(tenants, lacking, *amounts);
  return amounts;
}

std::vector<ResourceVector> Regrow(std::span<const Tenant> tenants, const ResourceVector& spare) {
  std::vector<Range> ranges;
  std::vector<ResourceVector> unchanged;
  for (const Tenant& tenant : tenants) {
    Range range{tenant.current - tenant.Surplus(), tenant.current};
    if (tenant.profile != nullptr) range.most = LargerOf(tenant.current, tenant.most);
    ranges.push_back(range);
    unchanged.push_back(tenant.current);
  }
  ResourceVector room = LargerOf(spare, {});
  room.gpus = Gpus(0);
  auto amounts = DivideAgain(tenants, ranges, room).value_or(std::move(unchanged));
  GiveRest(tenants, ranges, room, amounts);
  return amounts;
}

}  // namespace synergy
