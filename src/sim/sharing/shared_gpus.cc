#include "sim/sharing/shared_gpus.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>

#include <fmt/format.h>

namespace synergy {
namespace {

// A job's speed alone is known after this time and Packing::kLeastIterations.
constexpr Duration kAloneFor = std::chrono::seconds(60);
// Interval between searches for pairs to pack.
constexpr Duration kLookEvery = std::chrono::seconds(30);
// When a trial is first checked, so that it can be aborted.
constexpr Duration kFirstLook = std::chrono::seconds(5);
// The sum of speeds that an unknown pair is expected to have, for choosing a place.
constexpr double kUnknownSum = 1.2;

std::string SharerName(size_t job) { return fmt::format("{:08}", job); }

}  // namespace

SharedGpus::SharedGpus(SharingOptions options, Instant counted_from, Instant counted_until)
    : options_(std::move(options)),
      counted_from_(counted_from),
      counted_until_(counted_until),
      turns_(options_.slice),
      advanced_to_(counted_from) {
  if (!options_.packs || !options_.knows_pairs) return;
  for (const auto& [pair, speeds] : options_.pairs.all()) {
    const bool good = IsGood(speeds, 1 / static_cast<double>(options_.height));
    packing_.SetResult(pair, {.speeds = speeds, .good = good, .refused_until = Instant::max()});
  }
}

bool SharedGpus::IsGood(const std::array<double, 2>& speeds, double slice) {
  return speeds[0] + speeds[1] > Packing::kKept &&
         std::min(speeds[0], speeds[1]) >= std::max(Packing::kOfSlice * slice, Packing::kAborted);
}

void SharedGpus::SetNode(const std::string& name, Gpus gpus, std::string product) {
  nodes_[name] = {.gpus = gpus.count(), .product = std::move(product)};
  gpus_ += static_cast<double>(gpus.count());
}

double SharedGpus::ExpectedSum(const Node& node, const std::vector<size_t>& jobs,
                               const Pod& pod) const {
  double best = 1;
  if (!options_.packs) return best;
  for (const size_t job : jobs) {
    const auto result =
        packing_.results().find(PairOf(sharers_.at(job).pod.model, pod.model, node.product));
    if (result == packing_.results().end()) {
      best = std::max(best, kUnknownSum);
    } else if (result->second.good) {
      best = std::max(best, result->second.speeds[0] + result->second.speeds[1]);
    }
  }
  return best;
}

std::optional<size_t> SharedGpus::BlockFor(const Node& node, const Pod& pod) const {
  const int64_t gpus = pod.gpus.count();
  if (node.pod_gpus == 0) {
    return gpus <= node.gpus && node.gpus % gpus == 0 ? std::optional<size_t>(0) : std::nullopt;
  }
  if (node.pod_gpus != gpus) return std::nullopt;
  std::optional<size_t> best;
  std::pair<size_t, double> best_rank;
  for (size_t block = 0; block < node.blocks.size(); ++block) {
    const std::vector<size_t>& jobs = node.blocks[block];
    const bool fits =
        options_.pairs.empty() || std::all_of(jobs.begin(), jobs.end(), [&](size_t job) {
          return options_.pairs.Of(sharers_.at(job).pod.model, pod.model, node.product).has_value();
        });
    if (!fits || jobs.size() >= static_cast<size_t>(options_.height)) continue;
    const std::pair rank(jobs.size(), -ExpectedSum(node, jobs, pod));
    if (best && best_rank <= rank) continue;
    best = block;
    best_rank = rank;
  }
  return best;
}

std::optional<double> SharedGpus::RankOf(const std::string& name, const Pod& pod) const {
  const auto node = nodes_.find(name);
  if (node == nodes_.end()) return std::nullopt;
  const std::optional<size_t> block = BlockFor(node->second, pod);
  if (!block) return std::nullopt;
  if (node->second.pod_gpus == 0) return 0;
  const std::vector<size_t>& jobs = node->second.blocks[*block];
  // Prefer fewer pods, then the better sum, which is between 1 and 2.
  return static_cast<double>(jobs.size()) * 2 - ExpectedSum(node->second, jobs, pod) + 1;
}

bool SharedGpus::HasPlaceBeside(const std::string& name, const Pod& pod,
                                const std::vector<Pod>& there) const {
  const auto node = nodes_.find(name);
  const int64_t gpus = pod.gpus.count();
  if (node == nodes_.end() || gpus > node->second.gpus || node->second.gpus % gpus != 0)
    return false;
  int64_t apart = 0;  // pods that may each have a block of their own
  for (const Pod& other : there) {
    if (other.gpus != pod.gpus) return false;
    if (!options_.pairs.empty() && !options_.pairs.Of(other.model, pod.model, node->second.product))
      ++apart;
  }
  const int64_t beside = static_cast<int64_t>(there.size()) - apart;
  return beside < (node->second.gpus / gpus - apart) * options_.height;
}

void SharedGpus::Place(const std::string& name, const Pod& pod) {
  Node& node = nodes_.at(name);
  const size_t block = *BlockFor(node, pod);
  if (node.pod_gpus == 0) {
    node.pod_gpus = pod.gpus.count();
    node.blocks.assign(static_cast<size_t>(node.gpus / node.pod_gpus), {});
  }
  node.blocks[block].push_back(pod.job);
  sharers_[pod.job] = {.pod = pod, .node = name, .block = block};
}

void SharedGpus::Start(size_t job, Instant from) {
  Sharer& sharer = sharers_.at(job);
  sharer.from = from;
  sharer.newcomer = !std::exchange(began_[job], true);
  wake_ = std::min(wake_, from);
  dirty_ = true;
}

void SharedGpus::Remove(size_t job, Instant now) {
  const auto sharer = sharers_.find(job);
  if (sharer == sharers_.end()) return;
  Advance(now);
  Node& node = nodes_.at(sharer->second.node);
  std::erase(node.blocks[sharer->second.block], job);
  if (std::all_of(node.blocks.begin(), node.blocks.end(), [](const auto& b) { return b.empty(); }))
    node.pod_gpus = 0;
  std::erase_if(packs_, [&](const auto& pack) {
    return pack.second.first == job || pack.second.second == job;
  });
  sharers_.erase(sharer);
  dirty_ = true;
  wake_ = now;
}

void SharedGpus::Advance(Instant now) {
  if (now <= advanced_to_) return;
  const double counted = std::max(
      Seconds(std::min(now, counted_until_) - std::max(advanced_to_, counted_from_)).count(), 0.0);
  const Duration passed = now - advanced_to_;
  std::map<size_t, bool> packed;
  for (const auto& [names, pack] : packs_) packed[pack.first] = packed[pack.second] = true;
  for (const auto& [job, sharer] : sharers_) {
    if (!IsActive(sharer, advanced_to_) || sharer.speed <= 0) continue;
    work_ += counted * sharer.speed * static_cast<double>(sharer.pod.gpus.count());
    if (packed.contains(job)) continue;
    const Key key(sharer.pod.model, nodes_.at(sharer.node).product);
    alone_for_[key] += passed;
    alone_[key] += Seconds(passed).count() * sharer.pod.iterations_per_second;
  }
  std::vector<GpuPack> ended;
  for (auto& [names, pack] : packs_) {
    if (!pack.runs) continue;
    pack.in_window += passed;
    const auto iterations = [&](size_t job) {
      const Sharer& sharer = sharers_.at(job);
      return Seconds(passed).count() * sharer.speed * sharer.pod.iterations_per_second;
    };
    if (packing_.Observe(now, names, {passed, {iterations(pack.first), iterations(pack.second)}})) {
      ended.push_back(names);
    } else if (pack.in_window >= WindowOf(pack)) {
      pack.in_window = {};
      dirty_ |= !packing_.IsOnTrial(names);
    }
  }
  for (const GpuPack& names : ended) packs_.erase(names);
  dirty_ |= !ended.empty();
  advanced_to_ = now;
}

Duration SharedGpus::WindowOf(const PackState& pack) const {
  const auto rate = [&](size_t job) {
    const Sharer& sharer = sharers_.at(job);
    return std::max(sharer.speed * sharer.pod.iterations_per_second, 1e-6);
  };
  const Seconds iterations(Packing::kLeastIterations /
                           std::min(rate(pack.first), rate(pack.second)));
  return std::max(Packing::kLeastWindow, std::chrono::ceil<Duration>(iterations)) +
         std::chrono::milliseconds(1);
}

std::vector<PackCandidate> SharedGpus::Candidates(Instant now) const {
  std::vector<PackCandidate> candidates;
  for (const auto& [name, node] : nodes_) {
    for (const std::vector<size_t>& block : node.blocks) {
      std::vector<size_t> active;
      for (const size_t job : block) {
        if (IsActive(sharers_.at(job), now)) active.push_back(job);
      }
      std::sort(active.begin(), active.end());
      const double slice = 1 / static_cast<double>(std::max<size_t>(active.size(), 1));
      const auto member = [&](size_t job) {
        const Sharer& sharer = sharers_.at(job);
        PackMember made{.name = SharerName(job), .workload = sharer.pod.model, .slice = slice};
        const Key key(sharer.pod.model, node.product);
        const auto measured = alone_for_.find(key);
        if (options_.knows_pairs ||
            (measured != alone_for_.end() && measured->second >= kAloneFor &&
             alone_.at(key) >= Packing::kLeastIterations)) {
          made.alone = sharer.pod.iterations_per_second;
        }
        return made;
      };
      for (size_t a = 0; a < active.size(); ++a) {
        for (size_t b = a + 1; b < active.size(); ++b) {
          candidates.push_back({.node = name,
                                .gpu_product = node.product,
                                .first = member(active[a]),
                                .second = member(active[b]),
                                .fits = options_.pairs
                                            .Of(sharers_.at(active[a]).pod.model,
                                                sharers_.at(active[b]).pod.model, node.product)
                                            .has_value()});
        }
      }
    }
  }
  return candidates;
}

void SharedGpus::Plan(Instant now) {
  std::vector<GpuPack> packs;
  if (options_.packs) {
    packs = packing_.Plan(now, Candidates(now));
    std::map<GpuPack, PackState> known;
    for (const GpuPack& pack : packs) {
      PackState state;
      if (const auto found = packs_.find(pack); found != packs_.end()) state = found->second;
      state.first = std::stoull(pack.first);
      state.second = std::stoull(pack.second);
      known.emplace(pack, state);
    }
    packs_ = std::move(known);
  }
  std::vector<GpuSharer> sharers;
  for (const auto& [job, sharer] : sharers_) {
    if (!sharer.from) continue;
    sharers.push_back({.name = SharerName(job),
                       .blocks = {{sharer.node, static_cast<int64_t>(sharer.block)}},
                       .active = IsActive(sharer, now),
                       .newcomer = sharer.newcomer});
  }
  turns_.Plan(now, sharers, packs);
}

std::vector<std::pair<size_t, double>> SharedGpus::Run(Instant now) {
  if (now < wake_ && !dirty_) return {};
  Advance(now);
  Plan(now);
  dirty_ = false;
  for (auto& [job, sharer] : sharers_) {
    if (sharer.from) sharer.speed = turns_.Runs(SharerName(job), now) ? 1 : 0;
  }
  wake_ = turns_.NextSwitch(now).value_or(Instant::max());
  for (auto& [names, pack] : packs_) {
    Sharer& first = sharers_.at(pack.first);
    Sharer& second = sharers_.at(pack.second);
    pack.runs = first.speed > 0 && second.speed > 0;
    if (!pack.runs) continue;
    const auto speeds =
        options_.pairs.Of(first.pod.model, second.pod.model, nodes_.at(first.node).product);
    first.speed = (*speeds)[0];
    second.speed = (*speeds)[1];
    if (!packing_.IsOnTrial(names)) continue;
    wake_ = std::min(wake_, now + (pack.in_window < kFirstLook ? kFirstLook - pack.in_window
                                                               : WindowOf(pack) - pack.in_window));
  }
  bool shares = false;
  for (const auto& [name, node] : nodes_) {
    for (const std::vector<size_t>& block : node.blocks) shares |= block.size() > 1;
  }
  if (shares && options_.packs) wake_ = std::min(wake_, now + kLookEvery);
  std::vector<std::pair<size_t, double>> changes;
  for (auto& [job, sharer] : sharers_) {
    if (!sharer.from) continue;
    if (*sharer.from > now) wake_ = std::min(wake_, *sharer.from);
    if (sharer.returned == sharer.speed) continue;
    sharer.returned = sharer.speed;
    changes.emplace_back(job, sharer.speed);
  }
  return changes;
}

SharingFigures SharedGpus::Figures() const {
  SharingFigures figures;
  const double time = Seconds(counted_until_ - counted_from_).count() * gpus_;
  figures.work_per_gpu_second = time > 0 ? work_ / time : 0;
  figures.packs_tried = packing_.counts().tried;
  figures.packs_kept = packing_.counts().kept;
  figures.packs_undone = packing_.counts().undone;
  for (const auto& [pair, result] : packing_.results()) {
    const auto speeds = options_.pairs.all().find(pair);
    const bool good = speeds != options_.pairs.all().end() &&
                      IsGood(speeds->second, 1 / static_cast<double>(options_.height));
    if (good != result.good) ++figures.packs_misjudged;
  }
  return figures;
}

}  // namespace synergy
