#include "allocation/surplus.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>

#include "allocation/bind_allocation.h"
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

// What the tenant's throughput is measured in.
double UnitOf(const Tenant& tenant) {
  const double fair = tenant.profile->ThroughputAt(tenant.fair.cpu, tenant.fair.memory);
  return fair > 0 ? fair : tenant.profile->Best();
}

// Of all the tenant's GPUs, of what its profile is believed.
double InUnits(const Tenant& tenant, const ResourceVector& amounts, double unit) {
  const double claimed = tenant.profile->ThroughputAt(amounts.cpu, amounts.memory) / unit;
  return static_cast<double>(tenant.current.gpus.count()) * std::min(claimed, tenant.max_speed_up);
}

// NormalizedThroughput() of many amounts.
class Throughputs {
 public:
  explicit Throughputs(const Tenant& tenant)
      : tenant_(tenant), unit_(tenant.profile != nullptr ? UnitOf(tenant) : 1) {}

  double At(const ResourceVector& amounts) const {
    if (tenant_.profile == nullptr) return NormalizedThroughput(tenant_, amounts);
    return InUnits(tenant_, amounts, unit_);
  }

 private:
  const Tenant& tenant_;
  double unit_;
};

std::vector<DivisionChoice> Choices(const Tenant& tenant, const Range& range) {
  const Throughputs throughputs(tenant);
  std::vector<MilliCpu> cpus = {range.least.cpu, range.most.cpu, tenant.current.cpu};
  std::vector<Bytes> memories = {range.least.memory, range.most.memory, tenant.current.memory};
  const int64_t width = (range.most.cpu - range.least.cpu).count();
  const int64_t step = std::max(width / kCpuSteps, kLeastCpuStep);
  for (int64_t above = step; above < width; above += step) {
    cpus.push_back(range.least.cpu + tenant.Step(MilliCpu(above)));
  }
  if (tenant.profile != nullptr) {
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
      const double value = throughputs.At(amounts);
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
    const MilliCpu cpu = tenants[i].Step(std::clamp(rest.cpu, MilliCpu(0), cut.cpu));
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
      more.cpu += tenants[i].Step(std::clamp(ranges[i].most.cpu - more.cpu, MilliCpu(0), rest.cpu));
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

Bytes MemorySurplus(const Fungible& fungible, WallTime now) {
  const bool limited =
      fungible.enforcement == Enforcement::kStrict && fungible.memory_limit.has_value();
  if (fungible.memory_let_be || limited || !fungible.memory_reading) return Bytes(0);
  const MemoryReading& reading = *fungible.memory_reading;
  if (reading.node_short || now - reading.at > kReadingIsFresh) return Bytes(0);
  const Bytes least =
      std::max(fungible.floor.memory, reading.in_use + MemoryMargin(reading.in_use));
  return std::max(fungible.requested.memory - least, Bytes(0));
}

}  // namespace

Bytes MemoryMargin(Bytes in_use) { return std::max(Bytes(in_use.count() / 10), MiB(32)); }

ResourceVector Surplus(const Pod& pod, WallTime now) {
  if (!pod.fungible || pod.waiting || pod.deleting) return {};
  const Fungible& fungible = *pod.fungible;
  if (fungible.ChangedByHand()) return {};
  if (fungible.unshrinkable_until && *fungible.unshrinkable_until >= now) return {};
  ResourceVector surplus = LargerOf(fungible.requested - fungible.floor, {});
  surplus.gpus = Gpus(0);
  surplus.memory = MemorySurplus(fungible, now);
  return surplus;
}

ResourceVector SurplusOn(const NodeState& node, const Pod& pod, WallTime now) {
  ResourceVector surplus = Surplus(pod, now);
  if (node.short_of_memory) surplus.memory = Bytes(0);
  return surplus;
}

bool IsSettled(const Pod& pod) {
  const Fungible& fungible = *pod.fungible;
  return fungible.reported && fungible.Settled() && !fungible.Announced() && !fungible.Unrecorded();
}

NodeState WithoutSurplus(const NodeState& node, WallTime now) {
  NodeState state = node;
  for (const auto& pod : node.detail->pods) {
    const ResourceVector surplus = SurplusOn(node, *pod, now);
    if (surplus == ResourceVector{}) continue;
    const ResourceVector least = pod->fungible->requested - surplus;
    state = WithPod(WithoutPod(state, *pod), std::make_shared<Pod>(WithAllocation(*pod, least)));
  }
  return state;
}

double NormalizedThroughput(const Tenant& tenant, const ResourceVector& amounts) {
  const auto gpus = static_cast<double>(tenant.current.gpus.count());
  if (tenant.profile == nullptr) {
    double scarcest = 1;
    ResourceVector::ForEachDivided([&](auto member) {
      const auto has = static_cast<double>((tenant.current.*member).count());
      if (has <= 0) return;
      scarcest = std::min(scarcest, static_cast<double>((amounts.*member).count()) / has);
    });
    return gpus * scarcest;
  }
  return InUnits(tenant, amounts, UnitOf(tenant));
}

std::optional<std::vector<ResourceVector>> Reclaim(std::span<const Tenant> tenants,
                                                   const ResourceVector& lacking) {
  const bool of_cpu = lacking.cpu > MilliCpu(0);
  const bool of_memory = lacking.memory > Bytes(0);
  std::vector<Range> ranges;
  for (const Tenant& tenant : tenants) {
    Range range{tenant.current, tenant.current};
    if (of_cpu) range.least.cpu = tenant.least.cpu;
    if (of_memory) range.least.memory = tenant.least.memory;
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
    ranges.push_back({tenant.least, LargerOf(tenant.current, tenant.most)});
    unchanged.push_back(tenant.current);
  }
  ResourceVector room = LargerOf(spare, {});
  room.gpus = Gpus(0);
  auto amounts = DivideAgain(tenants, ranges, room).value_or(std::move(unchanged));
  GiveRest(tenants, ranges, room, amounts);
  return amounts;
}

}  // namespace synergy
