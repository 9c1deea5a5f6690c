#include "inventory/preference.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "inventory/kubelet_device.h"

namespace synergy {
namespace {

// A set of candidates: bit i is candidate i.
using Mask = uint64_t;

constexpr size_t kMostCandidates = 64;

constexpr Mask Bit(size_t i) { return Mask{1} << i; }
constexpr Mask FirstBits(size_t count) { return count == 64 ? ~Mask{0} : Bit(count) - 1; }

template <class Visit>
void ForEachBit(Mask mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<size_t>(std::countr_zero(mask)));
}

// Greater is better, compared member by member.
struct Quality {
  int numa_nodes_less = 0;
  int chosen_worth = 0;
  int together = 0;
  int left_worth = 0;
  Mask lower_first = 0;

  auto operator<=>(const Quality&) const = default;
};

class Candidates {
 public:
  Candidates(const GpuInventory& inventory, const std::vector<const GpuDevice*>& devices)
      : size_(devices.size()), worth_(size_ * size_) {
    std::map<int, Mask> by_numa;
    for (size_t a = 0; a < size_; ++a) {
      by_numa[devices[a]->numa_node] |= Bit(a);
      for (size_t b = 0; b < size_; ++b) {
        worth_[a * size_ + b] =
            a == b ? 0 : Worth(inventory.link(devices[a]->gpu, devices[b]->gpu));
      }
    }
    for (const auto& [numa, mask] : by_numa) numa_.push_back(mask);
  }

  size_t size() const { return size_; }

  // Returns nullopt if the choice is not better than `best`. Most choices already fail at the first
  // members, which are cheap to compute.
  std::optional<Quality> Judge(Mask chosen, const Quality& best) const {
    Quality quality;
    const Mask left = FirstBits(size_) & ~chosen;
    for (const Mask node : numa_) {
      if ((node & chosen) != 0) --quality.numa_nodes_less;
      const int stays = std::popcount(node & left);
      quality.together += stays * stays;
    }
    if (quality.numa_nodes_less < best.numa_nodes_less) return std::nullopt;
    quality.chosen_worth = WorthAmong(chosen);
    if (quality.numa_nodes_less == best.numa_nodes_less &&
        quality.chosen_worth < best.chosen_worth) {
      return std::nullopt;
    }
    quality.left_worth = WorthAmong(left);
    // Prefer the set with the lowest position that is not in both sets.
    ForEachBit(chosen, [&](size_t i) { quality.lower_first |= Bit(kMostCandidates - 1 - i); });
    if (quality <= best) return std::nullopt;
    return quality;
  }

 private:
  int WorthAmong(Mask mask) const {
    int sum = 0;
    ForEachBit(mask, [&](size_t a) {
      ForEachBit(mask & ~FirstBits(a + 1), [&](size_t b) { sum += worth_[a * size_ + b]; });
    });
    return sum;
  }

  size_t size_;
  std::vector<int> worth_;  // square
  std::vector<Mask> numa_;  // the candidates of each NUMA node
};

class Best {
 public:
  explicit Best(const Candidates& candidates) : candidates_(candidates) {}

  void Consider(Mask chosen) {
    const std::optional<Quality> quality = candidates_.Judge(chosen, quality_);
    if (!quality) return;
    quality_ = *quality;
    chosen_ = chosen;
  }

  Mask chosen() const { return chosen_; }

 private:
  const Candidates& candidates_;
  Quality quality_ = {.numa_nodes_less = std::numeric_limits<int>::min()};  // worse than any
  Mask chosen_ = 0;
};

Mask ChooseExactly(const Candidates& candidates, Mask required, size_t size) {
  Best best(candidates);
  for (Mask chosen = 0; chosen <= FirstBits(candidates.size()); ++chosen) {
    if (static_cast<size_t>(std::popcount(chosen)) != size || (chosen & required) != required)
      continue;
    best.Consider(chosen);
  }
  return best.chosen();
}

Mask Grow(const Candidates& candidates, Mask chosen, size_t size) {
  while (static_cast<size_t>(std::popcount(chosen)) < size) {
    Best next(candidates);
    ForEachBit(FirstBits(candidates.size()) & ~chosen,
               [&](size_t i) { next.Consider(chosen | Bit(i)); });
    chosen = next.chosen();
  }
  return chosen;
}

Mask ChooseByGrowing(const Candidates& candidates, Mask required, size_t size) {
  if (required != 0) return Grow(candidates, required, size);
  Best best(candidates);
  for (size_t start = 0; start < candidates.size(); ++start)
    best.Consider(Grow(candidates, Bit(start), size));
  return best.chosen();
}

Mask Choose(const Candidates& candidates, Mask required, size_t size) {
  return candidates.size() <= kMostExactCandidates ? ChooseExactly(candidates, required, size)
                                                   : ChooseByGrowing(candidates, required, size);
}

// Treats `chosen` as fixed.
std::vector<std::string> ChooseSlices(const std::vector<const GpuDevice*>& candidates,
                                      std::set<std::string_view> chosen, size_t size) {
  std::map<std::string_view, int> free;  // by GPU
  for (const GpuDevice* const slice : candidates)
    if (!chosen.contains(slice->id)) ++free[WithoutSlice(slice->id)];
  while (chosen.size() < size) {
    const GpuDevice* next = nullptr;
    for (const GpuDevice* const slice : candidates) {
      if (chosen.contains(slice->id)) continue;
      if (next == nullptr || free[WithoutSlice(slice->id)] > free[WithoutSlice(next->id)])
        next = slice;
    }
    chosen.insert(next->id);
    --free[WithoutSlice(next->id)];
  }
  std::vector<std::string> ids;
  for (const GpuDevice* const slice : candidates)
    if (chosen.contains(slice->id)) ids.push_back(slice->id);
  return ids;
}

}  // namespace

Result<std::vector<std::string>> PreferDevices(const GpuInventory& inventory,
                                               std::span<const GpuDevice> devices,
                                               std::span<const std::string> available,
                                               std::span<const std::string> required, size_t size) {
  const std::set<std::string_view> wanted(available.begin(), available.end());
  const std::set<std::string_view> needed(required.begin(), required.end());
  std::vector<const GpuDevice*> candidates;
  for (const GpuDevice& device : devices)
    if (wanted.contains(device.id)) candidates.push_back(&device);
  const auto is_needed = [&](const GpuDevice* device) { return needed.contains(device->id); };
  const auto found = std::count_if(candidates.begin(), candidates.end(), is_needed);
  if (candidates.size() != wanted.size() || static_cast<size_t>(found) != needed.size() ||
      needed.size() > size || size > candidates.size()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("cannot choose {} devices with {} required ones from {} available "
                            "ones, of which {} are known",
                            size, needed.size(), wanted.size(), candidates.size()));
  }
  std::vector<std::string> ids;
  if (size == 0) return ids;
  if (WithoutSlice(candidates.front()->id) != candidates.front()->id)
    return ChooseSlices(candidates, needed, size);
  if (candidates.size() > kMostCandidates) {
    // These can only be parts of many GPUs in MIG mode, which have no links: take the required ones
    // first, then by position.
    std::stable_partition(candidates.begin(), candidates.end(), is_needed);
    for (size_t i = 0; i < size; ++i) ids.push_back(candidates[i]->id);
    return ids;
  }
  Mask required_mask = 0;
  for (size_t i = 0; i < candidates.size(); ++i)
    if (is_needed(candidates[i])) required_mask |= Bit(i);
  ForEachBit(Choose(Candidates(inventory, candidates), required_mask, size),
             [&](size_t i) { ids.push_back(candidates[i]->id); });
  return ids;
}

}  // namespace synergy
