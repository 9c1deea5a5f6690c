#include "engine/sharing/packing.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace synergy {
namespace {

GpuPack NamesOf(const PackCandidate& candidate) {
  return {candidate.first.name, candidate.second.name};
}

void AddWindow(PackWindow& sum, const PackWindow& window) {
  sum.length += window.length;
  for (size_t member = 0; member < 2; ++member) sum.iterations[member] += window.iterations[member];
}

bool HaveTheirSlices(const PackCandidate& candidate, const std::array<double, 2>& speeds) {
  return speeds[0] >= Packing::kOfSlice * candidate.first.slice &&
         speeds[1] >= Packing::kOfSlice * candidate.second.slice;
}

// Returns whether the window is long enough to show both speeds. `speeds`: relative to the rates
// alone.
bool IsWhole(const PackCandidate& candidate, const PackWindow& window,
             const std::array<double, 2>& speeds) {
  if (window.length < Packing::kLeastWindow) return false;
  const auto starves = [&](const PackMember& member, double speed) {
    const double alone = *member.alone * Seconds(window.length).count();
    return speed < Packing::kAborted && alone >= Packing::kLeastIterations;
  };
  return std::min(window.iterations[0], window.iterations[1]) >= Packing::kLeastIterations ||
         starves(candidate.first, speeds[0]) || starves(candidate.second, speeds[1]);
}

// An unknown value counts as always busy.
double BusyOf(const PackCandidate& candidate) {
  return candidate.first.busy.value_or(1) + candidate.second.busy.value_or(1);
}

}  // namespace

WorkloadPair PairOf(std::string workload, std::string other, std::string gpu_product) {
  if (other < workload) std::swap(workload, other);
  return {std::move(workload), std::move(other), std::move(gpu_product)};
}

WorkloadPair PairOf(const PackCandidate& candidate) {
  return PairOf(candidate.first.workload, candidate.second.workload, candidate.gpu_product);
}

bool Packing::MayPack(Instant now, const PackCandidate& candidate) const {
  const auto is_known = [](const PackMember& member) {
    return member.alone.has_value() && *member.alone > 0;
  };
  if (!candidate.fits || !is_known(candidate.first) || !is_known(candidate.second)) return false;
  const auto result = results_.find(PairOf(candidate));
  return result == results_.end() || result->second.good || now >= result->second.refused_until;
}

std::vector<GpuPack> Packing::Plan(Instant now, std::span<const PackCandidate> candidates) {
  std::map<GpuPack, Pack> packs;
  std::set<std::string> packed;  // sharers
  std::set<std::string> trying;  // nodes
  std::vector<const PackCandidate*> others;
  for (const PackCandidate& candidate : candidates) {
    const auto pack = packs_.find(NamesOf(candidate));
    if (pack == packs_.end()) {
      others.push_back(&candidate);
      continue;
    }
    pack->second.candidate = candidate;
    packed.insert(candidate.first.name);
    packed.insert(candidate.second.name);
    if (pack->second.on_trial) trying.insert(candidate.node);
    packs.insert(*pack);
  }
  std::sort(others.begin(), others.end(), [](const PackCandidate* a, const PackCandidate* b) {
    return std::tuple(BusyOf(*a), NamesOf(*a)) < std::tuple(BusyOf(*b), NamesOf(*b));
  });
  // Packs that are known to work come first, because they need no trial.
  for (const bool is_known : {true, false}) {
    for (const PackCandidate* candidate : others) {
      const auto result = results_.find(PairOf(*candidate));
      const bool good = result != results_.end() && result->second.good;
      if (good != is_known || packed.contains(candidate->first.name) ||
          packed.contains(candidate->second.name) || !MayPack(now, *candidate) ||
          (!good && trying.contains(candidate->node))) {
        continue;
      }
      packs[NamesOf(*candidate)] = {.candidate = *candidate, .on_trial = !good};
      packed.insert(candidate->first.name);
      packed.insert(candidate->second.name);
      if (good) continue;
      trying.insert(candidate->node);
      ++counts_.tried;
    }
  }
  packs_ = std::move(packs);
  std::vector<GpuPack> names;
  names.reserve(packs_.size());
  for (const auto& [pack, state] : packs_) names.push_back(pack);
  return names;
}

std::array<double, 2> Packing::SpeedsIn(const Pack& pack, const PackWindow& window) const {
  const double seconds = Seconds(window.length).count();
  return {window.iterations[0] / seconds / *pack.candidate.first.alone,
          window.iterations[1] / seconds / *pack.candidate.second.alone};
}

PackResult& Packing::ResultOf(Instant now, const Pack& pack, const std::array<double, 2>& speeds) {
  PackResult& result = results_[PairOf(pack.candidate)];
  result.measured_at = now;
  result.speeds = speeds;
  if (pack.candidate.second.workload < pack.candidate.first.workload)
    std::swap(result.speeds[0], result.speeds[1]);
  return result;
}

void Packing::Refuse(Instant now, const Pack& pack, const std::array<double, 2>& speeds) {
  PackResult& result = ResultOf(now, pack, speeds);
  result.good = false;
  Duration rest = kFirstRest;
  for (uint32_t time = 0; time < result.refusals && rest < kMostRest; ++time) rest *= 2;
  result.refused_until = now + std::min(rest, kMostRest);
  ++result.refusals;
  ++counts_.undone;
}

bool Packing::Observe(Instant now, const GpuPack& names, const PackWindow& window) {
  const auto entry = packs_.find(names);
  if (entry == packs_.end() || window.length <= Duration::zero()) return false;
  Pack& pack = entry->second;
  AddWindow(pack.window, window);
  const std::array<double, 2> present = SpeedsIn(pack, pack.window);
  const bool is_whole = IsWhole(pack.candidate, pack.window, present);
  if (pack.on_trial && std::min(present[0], present[1]) < kAborted) {
    Refuse(now, pack, present);
    packs_.erase(entry);
    return true;
  }
  if (!is_whole) return false;
  if (!pack.on_trial) {
    const bool bad = present[0] + present[1] < kUndone || !HaveTheirSlices(pack.candidate, present);
    pack.bad_windows = bad ? pack.bad_windows + 1 : 0;
    pack.window = {};
    if (pack.bad_windows < 2) return false;
    Refuse(now, pack, present);
    packs_.erase(entry);
    return true;
  }
  AddWindow(pack.all, pack.window);
  pack.window = {};
  if (++pack.windows < kTrialWindows) return false;
  const std::array<double, 2> speeds = SpeedsIn(pack, pack.all);
  if (speeds[0] + speeds[1] > kKept && HaveTheirSlices(pack.candidate, speeds)) {
    PackResult& result = ResultOf(now, pack, speeds);
    result.good = true;
    result.refusals = 0;
    pack.on_trial = false;
    ++counts_.kept;
    return false;
  }
  Refuse(now, pack, speeds);
  packs_.erase(entry);
  return true;
}

void Packing::Abort(Instant now, const GpuPack& names, const std::array<double, 2>& speeds) {
  const auto entry = packs_.find(names);
  if (entry == packs_.end()) return;
  Refuse(now, entry->second, speeds);
  packs_.erase(entry);
}

void Packing::Abandon(Instant now, const GpuPack& names) {
  const auto entry = packs_.find(names);
  if (entry == packs_.end()) return;
  PackResult& result = results_[PairOf(entry->second.candidate)];
  result.good = false;
  result.refused_until = std::max(result.refused_until, now + kFirstRest);
  packs_.erase(entry);
}

bool Packing::IsOnTrial(const GpuPack& pack) const {
  const auto entry = packs_.find(pack);
  return entry != packs_.end() && entry->second.on_trial;
}

}  // namespace synergy
