#include "allocation/surplus.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "allocation/bind_allocation.h"
#include "allocation/node_division.h"
#include "allocation/storage/storage_division.h"
#include "allocation/storage/storage_left.h"
#include "cluster/devices/device_safety.h"
#include "cluster/managed_container.h"

namespace synergy {
namespace {

Bytes MemorySurplus(const ManagedContainer& fungible, WallTime now) {
  const bool limited =
      fungible.enforcement == Enforcement::kStrict && fungible.memory_limit.has_value();
  if (fungible.memory_let_be || limited || !fungible.memory_reading) return Bytes(0);
  const MemoryReading& reading = *fungible.memory_reading;
  if (reading.node_short || now - reading.at > kReadingIsFresh) return Bytes(0);
  const Bytes least = std::max(fungible.Counted(fungible.floor).memory,
                               reading.in_use + MemoryMargin(reading.in_use));
  return std::max(fungible.requested.memory - least, Bytes(0));
}

}  // namespace

Bytes MemoryMargin(Bytes in_use) { return std::max(Bytes(in_use.count() / 10), MiB(32)); }

ResourceVector Surplus(const Pod& pod, WallTime now) {
  if (!pod.fungible || pod.waiting || pod.deleting) return {};
  const ManagedContainer& fungible = *pod.fungible;
  if (fungible.ChangedByHand() || fungible.leaves) return {};
  if (fungible.unshrinkable_until && *fungible.unshrinkable_until >= now) return {};
  if (fungible.Lends() > MilliCpu(0)) return {};
  ResourceVector surplus = fungible.requested - fungible.Counted(fungible.floor);
  surplus.cpu -= fungible.Borrows();
  surplus.memory = MemorySurplus(fungible, now);
  surplus = LargerOf(surplus, {});
  const ResourceVector least = fungible.WithinQosClass(fungible.requested - surplus);
  surplus = fungible.requested - least;
  surplus.gpus = Gpus(0);
  return surplus;
}

ResourceVector SurplusOn(const NodeState& node, const Pod& pod, WallTime now) {
  if (!MayResize(pod, node)) return {};
  ResourceVector surplus = Surplus(pod, now);
  if (node.short_of_memory) surplus.memory = Bytes(0);
  return surplus;
}

bool IsWithinSurplus(const NodeState& node, const Pod& pod, const ResourceVector& to,
                     WallTime now) {
  const ResourceVector taken = LargerOf(pod.fungible->requested - to, {});
  const ResourceVector surplus = SurplusOn(node, pod, now);
  return taken.cpu <= surplus.cpu && taken.memory <= surplus.memory;
}

std::shared_ptr<const Pod> WithoutLoan(const std::shared_ptr<const Pod>& pod) {
  if (!pod->fungible) return pod;
  const MilliCpu difference = pod->fungible->Lends() - pod->fungible->Borrows();
  if (difference == MilliCpu(0)) return pod;
  ResourceVector own = pod->fungible->requested;
  own.cpu += difference;
  Pod without = WithAllocation(*pod, own);
  auto fungible = std::make_shared<ManagedContainer>(*without.fungible);
  fungible->change.reset();
  without.fungible = std::move(fungible);
  return std::make_shared<const Pod>(std::move(without));
}

bool IsSettled(const Pod& pod) {
  const ManagedContainer& fungible = *pod.fungible;
  return fungible.reported && fungible.Settled() && !fungible.Announced() && !fungible.Unrecorded();
}

NodeState WithoutSurplus(const NodeState& node, WallTime now) {
  NodeState state = node;
  for (const auto& counted : node.detail->pods) {
    const std::shared_ptr<const Pod> pod = WithoutLoan(counted);
    const ResourceVector surplus = SurplusOn(node, *pod, now);
    if (pod == counted && surplus == ResourceVector{}) continue;
    const ResourceVector least = pod->fungible->requested - surplus;
    state =
        WithPod(WithoutPod(state, *counted), std::make_shared<Pod>(WithAllocation(*pod, least)));
  }
  return state;
}

std::optional<std::vector<ResourceVector>> Reclaim(std::span<const PodShare> shares,
                                                   const ResourceVector& lacking) {
  const bool of_cpu = lacking.cpu > MilliCpu(0);
  const bool of_memory = lacking.memory > Bytes(0);
  std::vector<Range> ranges;
  for (const PodShare& share : shares) {
    Range range{share.current, share.current};
    if (of_cpu) range.least.cpu = share.least.cpu;
    if (of_memory) range.least.memory = share.least.memory;
    ranges.push_back(range);
  }
  ResourceVector spare;
  if (of_cpu) spare.cpu -= lacking.cpu;
  if (of_memory) spare.memory -= lacking.memory;
  auto amounts = DivideAgain(shares, ranges, spare);
  if (amounts) GiveBack(shares, lacking, *amounts);
  return amounts;
}

std::vector<ResourceVector> Regrow(std::span<const PodShare> shares, const ResourceVector& spare) {
  std::vector<Range> ranges;
  std::vector<ResourceVector> unchanged;
  for (const PodShare& share : shares) {
    ranges.push_back({share.least, LargerOf(share.current, share.most)});
    unchanged.push_back(share.current);
  }
  ResourceVector room = LargerOf(spare, {});
  room.gpus = Gpus(0);
  if (!UseStorage(shares)) {
    auto amounts = DivideAgain(shares, ranges, room).value_or(std::move(unchanged));
    GiveRest(shares, ranges, room, amounts);
    return amounts;
  }
  auto amounts = DivideWithStorage(shares, ranges, room).value_or(std::move(unchanged));
  GiveRest(WithStorageLeft(shares, amounts), ranges, room, amounts);
  return amounts;
}

}  // namespace synergy
