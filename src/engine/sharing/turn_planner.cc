#include "engine/sharing/turn_planner.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace synergy {
namespace {

// Weight of a unit below the highest priority, which has the shortest turns.
constexpr double kLowerWeight = 0.01;

// Returns whether the node's agent has sent a recent report.
bool Reports(const std::vector<TurnPod>& pods) {
  return std::any_of(pods.begin(), pods.end(), [](const TurnPod& pod) {
    return pod.report && pod.report->age <= TurnPlanner::kOldReport;
  });
}

// Returns whether a pod of the unit has done iterations, or has a turn, which shows earlier
// iterations.
bool HasTrained(const TurnUnit& unit) {
  return std::any_of(unit.pods.begin(), unit.pods.end(), [](const TurnPod* pod) {
    const PodProgress& progress = pod->report->pod;
    return progress.iterations > 0 || progress.last || pod->pod->fungible->turn;
  });
}

std::optional<GpuTurn> WrittenOn(const Pod& pod) {
  return pod.fungible ? pod.fungible->turn : std::nullopt;
}

}  // namespace

void TurnPlanner::LookAtNodes(const PodsByNode& pods, const TurnUnits& units, Instant now) {
  std::set<std::string> nodes;
  silent_.clear();
  for (const auto& [name, here] : pods) {
    nodes.insert(name);
    if (!Reports(here)) silent_.insert(name);
  }
  if (!std::includes(nodes_.begin(), nodes_.end(), nodes.begin(), nodes.end()))
    turns_.Adopt(RotationsOf(units, now));
  nodes_ = std::move(nodes);
}

std::set<GpuBlock> TurnPlanner::HoldUnits(const TurnUnits& units) {
  held_.clear();
  if (silent_.empty()) return {};
  std::vector<std::string> open;
  std::map<GpuBlock, std::vector<std::string>> on_block;  // GPUs of nodes whose agents report
  for (const auto& [name, unit] : units) {
    if (!unit.IsWhole()) continue;
    for (const TurnPod* pod : unit.pods) {
      const TurnReading* const reading = ReadingOf(*pod);
      if (silent_.contains(pod->pod->node)) {
        if (held_.insert(name).second) open.push_back(name);
      } else if (reading != nullptr && reading->gpus.size() == 1 && WrittenOn(*pod->pod)) {
        on_block[BlockOf(*pod)].push_back(name);
      }
    }
  }
  std::map<std::string, std::vector<GpuBlock>> blocks;  // of units
  for (const auto& [block, names] : on_block) {
    for (const std::string& name : names) blocks[name].push_back(block);
  }
  std::set<GpuBlock> held;
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (const GpuBlock& block : blocks[name]) {
      held.insert(block);
      for (const std::string& other : on_block.at(block)) {
        if (turns_.AreTogether(name, other) && held_.insert(other).second) open.push_back(other);
      }
    }
  }
  return held;
}

bool TurnPlanner::IsActive(const TurnUnit& unit, Instant now) {
  Instant since{};
  bool has_format = false;
  for (const TurnPod* pod : unit.pods) {
    since = std::max(since, seen_.emplace(pod->pod->uid, now).first->second);
    has_format |= !pod->report->pod.format.empty();
  }
  const Duration longest = has_format ? kLongestStart : kLongestSilentStart;
  if (HasTrained(unit) || now - since >= longest) {
    for (const TurnPod* pod : unit.pods) begun_.insert(pod->pod->uid);
  }
  const bool begun = std::any_of(unit.pods.begin(), unit.pods.end(), [&](const TurnPod* pod) {
    return begun_.contains(pod->pod->uid);
  });
  return begun && !unit.IsIdle();
}

void TurnPlanner::SetSharers(const TurnUnits& units, Instant now) {
  const std::set<GpuBlock> held = HoldUnits(units);
  sharers_.clear();
  for (const auto& [name, unit] : units) {
    if (held_.contains(name) || !unit.MayShare()) continue;
    GpuSharer turns{.name = name, .blocks = {}};
    bool is_held = false;
    for (const TurnPod* pod : unit.pods) {
      is_held |= held.contains(turns.blocks.emplace_back(BlockOf(*pod)));
    }
    turns.active = IsActive(unit, now);
    turns.newcomer = unit.Iterations() < kNewcomerIterations;
    if (!is_held) sharers_[name] = {&unit, std::move(turns)};
  }
  SetWeights();
}

void TurnPlanner::SetWeights() {
  std::map<GpuBlock, int32_t> highest;
  for (const auto& [name, sharer] : sharers_) {
    if (!sharer.turns.active) continue;
    const int32_t priority = sharer.unit->Priority();
    for (const GpuBlock& block : sharer.turns.blocks) {
      int32_t& most = highest.emplace(block, priority).first->second;
      most = std::max(most, priority);
    }
  }
  for (auto& [name, sharer] : sharers_) {
    const int32_t priority = sharer.unit->Priority();
    for (const GpuBlock& block : sharer.turns.blocks) {
      const auto most = highest.find(block);
      if (most != highest.end() && priority < most->second) sharer.turns.weight = kLowerWeight;
    }
  }
}

std::vector<GpuInTurns> TurnPlanner::GpusOf(const std::string& name,
                                            std::span<const TurnPod> pods) const {
  std::map<std::string, GpuInTurns> gpus;
  std::set<std::string> of_gangs;
  for (const TurnPod& pod : pods) {
    const TurnReading* const reading = ReadingOf(pod);
    if (reading == nullptr || pod.pod->terminal) continue;
    const auto sharer = sharers_.find(UnitOf(*pod.pod));
    const bool takes_turns = sharer != sharers_.end() && sharer->second.turns.active;
    const auto planned = planned_.find(pod.pod->uid);
    const std::optional<GpuTurn> written = WrittenOn(*pod.pod);
    const bool in_force =
        planned == planned_.end() ? !written : written && IsSameTurn(*written, planned->second);
    for (const std::string& uuid : reading->gpus) {
      const auto [gpu, is_new] = gpus.try_emplace(uuid, GpuInTurns{name, uuid, true, {}});
      gpu->second.in_force &= in_force;
      gpu->second.members.push_back({&pod, takes_turns});
      if (pod.pod->gang && takes_turns) of_gangs.insert(uuid);
    }
  }
  std::vector<GpuInTurns> list;
  for (auto& [uuid, gpu] : gpus) {
    if (!of_gangs.contains(uuid)) list.push_back(std::move(gpu));
  }
  return list;
}

std::vector<GpuPack> TurnPlanner::PlanPacks(const PodsByNode& pods, Moment at, TurnPlan& plan) {
  std::vector<GpuInTurns> gpus;
  for (const auto& [name, here] : pods) {
    if (silent_.contains(name)) continue;
    for (GpuInTurns& gpu : GpusOf(name, here)) gpus.push_back(std::move(gpu));
  }
  std::vector<GpuPack> packs = pack_planner_.Plan(gpus, at);
  plan.news = pack_planner_.TakeNews();
  return packs;
}

void TurnPlanner::KeepHeldTurns(const TurnUnits& units) {
  std::map<std::string, GpuTurn> before = std::exchange(planned_, {});
  for (const std::string& name : held_) {
    const auto unit = units.find(name);
    if (unit == units.end()) continue;
    for (const TurnPod* pod : unit->second.pods) {
      const auto turn = before.find(pod->pod->uid);
      if (turn != before.end()) planned_.insert(before.extract(turn));
    }
  }
}

std::map<std::string, std::string> TurnPlanner::PackedIn(std::span<const GpuPack> packs) const {
  const auto is_active = [&](const std::string& name) {
    const auto sharer = sharers_.find(name);
    return sharer != sharers_.end() && sharer->second.turns.active;
  };
  std::map<std::string, std::string> beside;
  for (const auto& [first, second] : packs) {
    if (!is_active(first) || !is_active(second)) continue;
    beside[first] = second;
    beside[second] = first;
  }
  return beside;
}

void TurnPlanner::SetTurns(std::span<const GpuPack> packs) {
  std::map<GpuBlock, std::vector<std::string>> takers;  // uids of pods that take turns
  for (const auto& [name, sharer] : sharers_) {
    if (!sharer.turns.active) continue;
    for (size_t at = 0; at < sharer.unit->pods.size(); ++at)
      takers[sharer.turns.blocks[at]].push_back(sharer.unit->pods[at]->pod->uid);
  }
  for (auto& [block, uids] : takers) std::sort(uids.begin(), uids.end());
  const std::map<std::string, std::string> beside = PackedIn(packs);
  const auto set = [&](const Sharer& sharer, const GpuTurn& times) {
    for (size_t at = 0; at < sharer.unit->pods.size(); ++at) {
      const std::string& uid = sharer.unit->pods[at]->pod->uid;
      GpuTurn& turn = planned_[uid] = times;
      if (const auto mate = beside.find(uid); mate != beside.end()) turn.beside = mate->second;
      for (const std::string& other : takers.at(sharer.turns.blocks[at])) {
        if (other != uid && other != turn.beside) turn.with.push_back(other);
      }
    }
  };
  for (const TurnGroup& group : turns_.groups()) {
    for (const TurnSlot& slot : group.slots) {
      for (const std::string& name : slot.holders) {
        const auto sharer = sharers_.find(name);  // none: the group is held
        if (sharer != sharers_.end()) set(sharer->second, TurnOf(group, name));
      }
    }
  }
  // Packs that share their GPU with no other pod run all the time.
  for (const auto& [uid, other] : beside) {
    const Sharer& sharer = sharers_.at(uid);
    if (takers.at(sharer.turns.blocks.front()).size() == 2)
      set(sharer, {WallTime{}, quantum_, {{Duration{}, quantum_}}, {}, {}});
  }
}

void TurnPlanner::AddChanges(const PodsByNode& pods, TurnPlan& plan) const {
  std::unordered_map<std::string, std::string> names;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) names[pod.pod->uid] = pod.pod->Key();
  }
  for (const auto& [node, here] : pods) {
    if (silent_.contains(node)) continue;
    for (const TurnPod& pod : here) {
      if (!pod.pod->fungible || pod.pod->deleting || pod.pod->terminal) continue;
      const std::optional<GpuTurn>& written = pod.pod->fungible->turn;
      const auto planned = planned_.find(pod.pod->uid);
      if (planned == planned_.end()) {
        if (written && !held_.contains(UnitOf(*pod.pod)))
          plan.changes.push_back({pod.pod, std::nullopt, {}, {}});
        continue;
      }
      const GpuTurn& turn = planned->second;
      plan.in_turns += turn.with.empty() ? 0 : 1;
      plan.packed += turn.beside.empty() ? 0 : 1;
      if (written && IsSameTurn(*written, turn)) continue;
      TurnChange& change = plan.changes.emplace_back(TurnChange{pod.pod, turn, {}, {}});
      for (const std::string& uid : turn.with) {
        if (const auto name = names.find(uid); name != names.end())
          change.with.push_back(name->second);
      }
      if (!turn.beside.empty()) change.beside = names.at(turn.beside);
    }
  }
}

void TurnPlanner::ForgetGonePods(const PodsByNode& pods) {
  std::unordered_set<std::string> there;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) there.insert(pod.pod->uid);
  }
  std::erase_if(seen_, [&](const auto& entry) { return !there.contains(entry.first); });
  std::erase_if(begun_, [&](const std::string& uid) { return !there.contains(uid); });
}

TurnPlan TurnPlanner::Plan(const PodsByNode& pods, Moment at) {
  // Rotations never go back.
  latest_ = std::max(latest_, WallTime(std::chrono::floor<std::chrono::milliseconds>(at.wall)));
  const Instant now = ToInstant(latest_);
  const TurnUnits units = UnitsOf(pods);
  LookAtNodes(pods, units, now);
  SetSharers(units, at.now);
  TurnPlan plan;
  std::vector<GpuPack> packs;
  if (packs_) packs = PlanPacks(pods, at, plan);
  std::vector<GpuSharer> sharers;
  for (const auto& [name, sharer] : sharers_) sharers.push_back(sharer.turns);
  turns_.Plan(now, sharers, packs, held_);
  KeepHeldTurns(units);
  SetTurns(packs);
  AddChanges(pods, plan);
  ForgetGonePods(pods);
  sharers_.clear();  // they point to the caller's pods
  return plan;
}

}  // namespace synergy
