#include "engine/sharing/pack_planner.h"

#include <algorithm>
#include <set>

namespace synergy {
namespace {

// The speed alone is the mean over about this time. Older measurements count less.
constexpr Duration kAloneFor = std::chrono::minutes(10);
// The least patience for a window, beyond its time at the lowest speed that does not abort a trial.
constexpr Duration kLeastPatience = std::chrono::minutes(2);

Instant ReceivedAt(const TurnPod& pod, Instant now) { return now - pod.report->age; }

bool IsIdleOnGpu(const TurnPod& pod) {
  const std::optional<IdleReading>& idle = pod.report->pod.idle;
  return idle && idle->idle >= kIdleToShow;
}

// Returns whether each pod of the GPU takes turns, or leaves the GPU alone.
bool AllTakeTurns(const GpuInTurns& gpu) {
  return std::all_of(gpu.members.begin(), gpu.members.end(), [](const auto& member) {
    return member.takes_turns || IsIdleOnGpu(*member.pod);
  });
}

// Returns whether the author and the present state of the pod allow a pack.
bool MayPack(const TurnPod& pod, WallTime now) {
  const ManagedContainer& fungible = *pod.pod->fungible;
  return fungible.may_pack && !fungible.ProbedAt(now) && !fungible.BurstsAt(now) &&
         !pod.report->pod.format.empty() && !pod.gpu_product.empty();
}

bool IsIn(const std::vector<GpuPack>& packs, const std::string& uid) {
  return std::any_of(packs.begin(), packs.end(),
                     [&](const GpuPack& pack) { return pack.first == uid || pack.second == uid; });
}

double RateOf(const RunMeter::Stretch& stretch) {
  return stretch.iterations / Seconds(stretch.time).count();
}

// Returns how long a window of the pair may take. This is its time at the lowest speed that does
// not abort a trial, with a quarter of the GPU's time, plus kLeastPatience.
Duration PatienceFor(const PackCandidate& pair) {
  const double slowest = std::min(*pair.first.alone, *pair.second.alone);
  const Seconds window(4 * Packing::kLeastIterations / (Packing::kAborted * slowest));
  const Seconds longest = std::chrono::hours(24);
  return kLeastPatience + std::chrono::ceil<Duration>(std::min(window, longest));
}

}  // namespace

std::string_view ToString(PackOutcome outcome) {
  switch (outcome) {
    case PackOutcome::kTried:
      return "tried";
    case PackOutcome::kReused:
      return "reused";
    case PackOutcome::kKept:
      return "kept";
    case PackOutcome::kRefused:
      return "refused";
    case PackOutcome::kUndone:
      return "undone";
    case PackOutcome::kGivenUp:
      break;
  }
  return "given_up";
}

void PackPlanner::Disturb(const Gpu& gpu, Instant from) {
  for (const auto& [uid, takes_turns] : gpu.members) pods_[uid].meter.Begin(from);
}

void PackPlanner::Observe(const GpuInTurns& gpu, Instant now) {
  Gpu& state = gpus_[{gpu.node, gpu.uuid}];
  state.seen = true;
  std::vector<std::tuple<std::string, bool>> members;
  Instant newest{};
  for (const GpuInTurns::Member& member : gpu.members) {
    members.emplace_back(member.pod->pod->uid, member.takes_turns);
    newest = std::max(newest, ReceivedAt(*member.pod, now));
  }
  std::sort(members.begin(), members.end());
  const bool changed = std::exchange(state.members, members) != members;
  if (changed || !gpu.in_force || !AllTakeTurns(gpu)) Disturb(state, now + kSettles);

  // If the agent does not follow the turns, more pods run than planned, or only one pod of a pack.
  std::set<std::string> running;  // pods, and the first ones of packs
  std::map<std::string, bool> suspended;
  for (const GpuInTurns::Member& member : gpu.members) {
    if (!member.takes_turns || ReceivedAt(*member.pod, now) != newest) continue;
    const std::string& uid = member.pod->pod->uid;
    suspended[uid] = member.pod->report->pod.turn->suspended;
    if (suspended.at(uid)) continue;
    const auto pack =
        std::find_if(state.packs.begin(), state.packs.end(),
                     [&uid = uid](const GpuPack& other) { return other.second == uid; });
    running.insert(pack == state.packs.end() ? uid : pack->first);
  }
  const bool apart = std::any_of(state.packs.begin(), state.packs.end(), [&](const GpuPack& pack) {
    return suspended[pack.first] != suspended[pack.second];
  });
  if (newest > state.newest_report && (running.size() > 1 || apart)) Disturb(state, newest);
  state.newest_report = std::max(state.newest_report, newest);

  for (const GpuInTurns::Member& member : gpu.members) {
    Measured& measured = pods_[member.pod->pod->uid];
    measured.seen = true;
    if (measured.meter.Observe(*member.pod->report, ReceivedAt(*member.pod, now))) continue;
    for (const GpuPack& names : state.packs) {
      if (!IsIn({names}, member.pod->pod->uid) || !packing_.IsOnTrial(names)) continue;
      GiveUp(names, packs_.at(names), now);
    }
  }
  MeasureAlone(gpu, state);
}

void PackPlanner::MeasureAlone(const GpuInTurns& gpu, const Gpu& state) {
  for (const GpuInTurns::Member& member : gpu.members) {
    const std::string& uid = member.pod->pod->uid;
    Measured& measured = pods_.at(uid);
    const RunMeter::Stretch stretch = measured.meter.stretch();
    if (!member.takes_turns || IsIn(state.packs, uid) || stretch.time < kLeastStretch) continue;
    measured.meter.Next();
    measured.alone.time += stretch.time;
    measured.alone.iterations += stretch.iterations;
    if (measured.alone.time <= kAloneFor) continue;
    measured.alone.time /= 2;
    measured.alone.iterations /= 2;
  }
}

void PackPlanner::MeasurePack(const GpuPack& names, Pack& pack, Moment at) {
  const std::array meters{&pods_.at(names.first).meter, &pods_.at(names.second).meter};
  const std::array<double, 2> alone{*pack.candidate.first.alone, *pack.candidate.second.alone};
  const bool on_trial = packing_.IsOnTrial(names);
  const Duration patience = PatienceFor(pack.candidate);
  if (on_trial && at.now - pack.begun_at > Packing::kTrialWindows * patience)
    return GiveUp(names, pack, at.now);
  const auto is_silent = [&](size_t member) {
    const Seconds most((meters[member]->largest_step() + 1) / (Packing::kAborted * alone[member]));
    return Seconds(meters[member]->silent()) > std::max<Seconds>(kLeastSilence, most);
  };
  if (on_trial && (is_silent(0) || is_silent(1))) {
    std::array<double, 2> speeds{};
    for (size_t member = 0; member < 2; ++member) {
      const RunMeter::Stretch stretch = meters[member]->stretch();
      if (!is_silent(member) && stretch.iterations > 0)
        speeds[member] = RateOf(stretch) / alone[member];
    }
    packing_.Abort(at.now, names, speeds);
    Report(PackOutcome::kRefused, pack, at.now);
    return;
  }
  const std::array stretches{meters[0]->stretch(), meters[1]->stretch()};
  const Duration time = std::min(stretches[0].time, stretches[1].time);
  if (time < kLeastStretch) {
    if (at.now - pack.measured_at > patience) GiveUp(names, pack, at.now);
    return;
  }
  PackWindow window{time, {}};
  for (size_t member = 0; member < 2; ++member) {
    window.iterations[member] = RateOf(stretches[member]) * Seconds(time).count();
    meters[member]->Next();
  }
  pack.measured_at = at.now;
  if (packing_.Observe(at.now, names, window)) {
    Report(on_trial ? PackOutcome::kRefused : PackOutcome::kUndone, pack, at.now);
  } else if (on_trial && !packing_.IsOnTrial(names)) {
    Report(PackOutcome::kKept, pack, at.now);
  }
}

void PackPlanner::Report(PackOutcome outcome, const Pack& pack, Instant now) {
  PackNews& news = news_.emplace_back(PackNews{.outcome = outcome, .pods = pack.pods});
  news.alone = {pack.candidate.first.alone.value_or(0), pack.candidate.second.alone.value_or(0)};
  const auto found = packing_.results().find(PairOf(pack.candidate));
  if (found == packing_.results().end()) return;
  news.speeds = found->second.speeds;
  if (pack.candidate.second.workload < pack.candidate.first.workload)
    std::swap(news.speeds[0], news.speeds[1]);
  if (!found->second.good)
    news.rest = std::max(found->second.refused_until - now, Duration::zero());
}

void PackPlanner::GiveUp(const GpuPack& names, const Pack& pack, Instant now) {
  packing_.Abandon(now, names);
  Report(PackOutcome::kGivenUp, pack, now);
}

bool PackPlanner::Fits(const TurnPod& first, const TurnPod& second) const {
  const auto is_resident = [&](const TurnPod& pod) {
    return pods_.at(pod.pod->uid).meter.iterations() >= kResidentIterations;
  };
  if (is_resident(first) && is_resident(second)) return true;
  const std::optional<Bytes>& memory = first.gpu_memory;
  const std::optional<Bytes>& one = first.pod->fungible->gpu_memory;
  const std::optional<Bytes>& other = second.pod->fungible->gpu_memory;
  if (!memory || !one || !other) return false;
  const auto needed = [](Bytes declared) {
    return kMemoryFactor * static_cast<double>(declared.count()) +
           static_cast<double>(kMemoryReserve.count());
  };
  return needed(*one) + needed(*other) <= static_cast<double>(memory->count());
}

PackMember PackPlanner::MemberOf(const TurnPod& pod, double slice) const {
  PackMember member{.name = pod.pod->uid, .workload = PackNameOf(*pod.pod), .slice = slice};
  const RunMeter::Stretch& alone = pods_.at(pod.pod->uid).alone;
  if (alone.time >= Packing::kLeastWindow && alone.iterations >= Packing::kLeastIterations)
    member.alone = RateOf(alone);
  return member;
}

void PackPlanner::AddCandidates(const GpuInTurns& gpu, Moment at,
                                std::vector<PackCandidate>& candidates,
                                std::map<GpuPack, Pack>& known) {
  if (!AllTakeTurns(gpu)) return;
  std::vector<const TurnPod*> active;
  for (const GpuInTurns::Member& member : gpu.members) {
    if (member.takes_turns) active.push_back(member.pod);
  }
  const auto has_other_priority = [&](const TurnPod* pod) {
    return pod->pod->priority != active.front()->pod->priority;
  };
  if (std::any_of(active.begin(), active.end(), has_other_priority)) return;
  std::sort(active.begin(), active.end(),
            [](const TurnPod* a, const TurnPod* b) { return a->pod->uid < b->pod->uid; });
  const double slice = 1 / static_cast<double>(std::max<size_t>(active.size(), 1));
  for (size_t a = 0; a < active.size(); ++a) {
    for (size_t b = a + 1; b < active.size(); ++b) {
      const TurnPod& first = *active[a];
      const TurnPod& second = *active[b];
      if (!MayPack(first, at.wall) || !MayPack(second, at.wall)) continue;
      const GpuPack names{first.pod->uid, second.pod->uid};
      // A trial needs recent reports.
      const Duration age = std::max(first.report->age, second.report->age);
      if (age > RunMeter::kLongestGap && (!packs_.contains(names) || packing_.IsOnTrial(names)))
        continue;
      PackCandidate& candidate =
          candidates.emplace_back(PackCandidate{gpu.node, first.gpu_product, MemberOf(first, slice),
                                                MemberOf(second, slice), Fits(first, second)});
      known[names] = {candidate, {gpu.node, gpu.uuid}, {first.pod, second.pod}, at.now, at.now};
    }
  }
}

std::vector<GpuPack> PackPlanner::Plan(std::span<const GpuInTurns> gpus, Moment at) {
  for (auto& [uid, measured] : pods_) measured.seen = false;
  for (auto& [key, gpu] : gpus_) gpu.seen = false;
  for (const GpuInTurns& gpu : gpus) Observe(gpu, at.now);
  for (auto& [names, pack] : packs_) {
    const bool are_there = pods_.at(names.first).seen && pods_.at(names.second).seen;
    if (are_there && packing_.Holds(names)) MeasurePack(names, pack, at);
  }

  std::vector<PackCandidate> candidates;
  std::map<GpuPack, Pack> known;
  for (const GpuInTurns& gpu : gpus) AddCandidates(gpu, at, candidates, known);
  for (const auto& [names, pack] : packs_) {
    if (known.contains(names) || !packing_.Holds(names)) continue;
    if (packing_.IsOnTrial(names)) packing_.Abandon(at.now, names);
    Report(PackOutcome::kGivenUp, pack, at.now);
  }
  std::vector<GpuPack> packs = packing_.Plan(at.now, candidates);
  std::map<GpuPack, Pack> before = std::exchange(packs_, {});
  std::map<GpuKey, std::vector<GpuPack>> by_gpu;
  for (const GpuPack& names : packs) {
    Pack& pack = packs_[names] = std::move(known.at(names));
    by_gpu[pack.gpu].push_back(names);
    const auto old = before.find(names);
    if (old != before.end()) {
      pack.begun_at = old->second.begun_at;
      pack.measured_at = old->second.measured_at;
    } else {
      Report(packing_.IsOnTrial(names) ? PackOutcome::kTried : PackOutcome::kReused, pack, at.now);
    }
  }
  for (auto& [key, gpu] : gpus_) {
    std::vector<GpuPack>& now_packed = by_gpu[key];
    if (gpu.packs == now_packed) continue;
    gpu.packs = std::move(now_packed);
    Disturb(gpu, at.now + kSettles);
  }
  std::erase_if(pods_, [](const auto& pod) { return !pod.second.seen; });
  std::erase_if(gpus_, [](const auto& gpu) { return !gpu.second.seen; });
  ForgetOldResults(at.now);
  return packs;
}

void PackPlanner::SetResults(const PackResults& results) {
  for (const auto& [pair, result] : results) packing_.SetResult(pair, result);
}

void PackPlanner::ForgetOldResults(Instant now) {
  if (packing_.results().size() <= kMostResults) return;
  std::vector<std::pair<Instant, WorkloadPair>> oldest;
  for (const auto& [pair, result] : packing_.results())
    oldest.emplace_back(result.good ? now : result.refused_until, pair);
  std::sort(oldest.begin(), oldest.end());
  oldest.resize(oldest.size() - kMostResults);
  for (const auto& [until, pair] : oldest) packing_.Forget(pair);
}

}  // namespace synergy
