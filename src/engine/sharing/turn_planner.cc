#include "engine/sharing/turn_planner.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace synergy {
namespace {

// Weight of a pod below the highest priority, which has the shortest turns.
constexpr double kLowerWeight = 0.01;

// Turns are planned in wall-clock time.
Instant ToInstant(WallTime time) { return Instant(time.time_since_epoch()); }
WallTime ToWallTime(Instant time) { return WallTime(time.time_since_epoch()); }

// Returns the parts of a cycle in which the pod runs, counted from a multiple of the cycle.
std::vector<std::pair<Duration, Duration>> PartsOf(const GpuTurn& turn) {
  std::vector<std::pair<Duration, Duration>> parts;
  for (const GpuTurn::Part& part : turn.runs) {
    const Duration begin = (turn.epoch.time_since_epoch() + part.begin) % turn.cycle;
    parts.emplace_back(begin, part.end - part.begin);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

const TurnReading* ReadingOf(const TurnPod& pod) {
  return pod.report && pod.report->pod.turn ? &*pod.report->pod.turn : nullptr;
}

// Returns whether the node's agent reports.
bool Reports(const std::vector<TurnPod>& pods) {
  return std::any_of(pods.begin(), pods.end(), [](const TurnPod& pod) {
    return pod.report && pod.report->age <= TurnPlanner::kOldReport;
  });
}

// Returns whether the pod may be suspended, judging by its turns on one GPU.
bool MayShare(const TurnPod& pod) {
  const TurnReading* const reading = ReadingOf(pod);
  return pod.writable && reading != nullptr && pod.report->age <= TurnPlanner::kOldReport &&
         pod.pod->fungible && !pod.pod->gang && !pod.pod->deleting && !pod.pod->terminal &&
         reading->gpus.size() == 1 && reading->refusal.empty();
}

// Returns the rotation of the GPU that its pods' annotations describe together; nullopt if they are
// inconsistent.
std::optional<TurnGroup> RotationOf(const std::vector<const Pod*>& pods, Instant now) {
  const GpuTurn& first = *pods.front()->fungible->turn;
  const Instant base = ToInstant(first.epoch + first.runs.front().begin);
  std::vector<std::tuple<Duration, Duration, std::string>> slots;  // from, to, uid
  for (const Pod* pod : pods) {
    const GpuTurn& turn = *pod->fungible->turn;
    if (turn.cycle != first.cycle || turn.runs.size() != 1) return std::nullopt;
    const auto& [begin, end] = turn.runs.front();
    const Duration after = (ToInstant(turn.epoch) + begin - base) % turn.cycle;
    const Duration from = after < Duration::zero() ? after + turn.cycle : after;
    slots.emplace_back(from, from + (end - begin), pod->uid);
  }
  std::sort(slots.begin(), slots.end());
  TurnGroup group;
  Duration at{};
  Duration last{};  // where the last slot begins
  for (const auto& [from, to, uid] : slots) {
    if (to == at && from == last && !group.slots.empty()) {  // packed
      group.slots.back().holders.push_back(uid);
      group.slots.back().runs.push_back(uid);
      continue;
    }
    if (from < at || to > first.cycle) return std::nullopt;
    if (from > at) group.slots.push_back({from - at, {}, {}});
    group.slots.push_back({to - from, {uid}, {uid}});
    last = from;
    at = to;
  }
  if (at < first.cycle) group.slots.push_back({first.cycle - at, {}, {}});
  if (group.slots.size() < 2) return std::nullopt;
  const Duration ahead = base - now;
  group.epoch = ahead <= Duration::zero() ? base : base - (ahead / first.cycle + 1) * first.cycle;
  return group;
}

std::vector<TurnGroup> RotationsOf(std::span<const TurnPod> pods, Instant now) {
  std::map<std::string, std::vector<const Pod*>> by_gpu;
  for (const TurnPod& pod : pods) {
    if (MayShare(pod) && pod.pod->fungible->turn)
      by_gpu[ReadingOf(pod)->gpus.front()].push_back(pod.pod.get());
  }
  std::vector<TurnGroup> groups;
  for (const auto& [gpu, sharers] : by_gpu) {
    if (std::optional<TurnGroup> group = RotationOf(sharers, now))
      groups.push_back(*std::move(group));
  }
  return groups;
}

// Returns the turns of the pods that hold slots of the group, by uid.
std::map<std::string, GpuTurn> TurnsOf(const TurnGroup& group) {
  std::map<std::string, GpuTurn> turns;
  Duration at{};
  for (const TurnSlot& slot : group.slots) {
    for (const std::string& uid : slot.holders) {
      GpuTurn& turn = turns[uid];
      turn = {ToWallTime(group.epoch), group.Cycle(), {{at, at + slot.length}}, {}, {}};
      for (const TurnSlot& other : group.slots) {
        if (&other != &slot)
          turn.with.insert(turn.with.end(), other.holders.begin(), other.holders.end());
      }
      std::sort(turn.with.begin(), turn.with.end());
    }
    at += slot.length;
  }
  return turns;
}

// Adds which pods run at the same time, and the turns of packs that share their GPU with no other
// pod.
void AddPacks(std::span<const GpuPack> packs, std::span<const GpuSharer> sharers, Duration cycle,
              std::map<std::string, GpuTurn>& turns) {
  const auto block_of = [&](const std::string& uid) {
    const auto found = std::find_if(sharers.begin(), sharers.end(), [&](const GpuSharer& sharer) {
      return sharer.name == uid && sharer.active;
    });
    return found == sharers.end() ? nullptr : &found->blocks.front();
  };
  for (const auto& [first, second] : packs) {
    const GpuBlock* const block = block_of(first);
    if (block == nullptr || block_of(second) == nullptr) continue;
    const auto active = std::count_if(sharers.begin(), sharers.end(), [&](const GpuSharer& sharer) {
      return sharer.active && sharer.blocks.front() == *block;
    });
    if (active == 2)
      turns[first] = turns[second] = {WallTime{}, cycle, {{Duration{}, cycle}}, {}, {}};
    if (!turns.contains(first) || !turns.contains(second)) continue;
    turns[first].beside = second;
    turns[second].beside = first;
  }
}

}  // namespace

bool IsSameTurn(const GpuTurn& a, const GpuTurn& b) {
  return a.cycle == b.cycle && a.with == b.with && a.beside == b.beside && PartsOf(a) == PartsOf(b);
}

bool TurnPlanner::IsActive(NodeTurns& node, const TurnPod& pod, Instant now) {
  const PodProgress& progress = pod.report->pod;
  const Instant since = node.seen.emplace(pod.pod->uid, now).first->second;
  const Duration longest = progress.format.empty() ? kLongestSilentStart : kLongestStart;
  const bool trains =
      progress.iterations > 0 || progress.last || pod.pod->fungible->turn || now - since >= longest;
  if (trains) node.begun.insert(pod.pod->uid);
  const bool idle = progress.idle && progress.idle->idle >= kIdleToShow;
  return node.begun.contains(pod.pod->uid) && !idle;
}

std::vector<GpuSharer> TurnPlanner::SharersOf(NodeTurns& node, std::span<const TurnPod> pods,
                                              Instant now) {
  std::vector<GpuSharer> sharers;
  std::map<GpuBlock, int32_t> highest;  // priority on the GPU
  std::vector<int32_t> priorities;
  for (const TurnPod& pod : pods) {
    if (!MayShare(pod)) continue;
    GpuSharer sharer{.name = pod.pod->uid, .blocks = {{ReadingOf(pod)->gpus.front(), 0}}};
    sharer.active = IsActive(node, pod, now);
    sharer.newcomer = pod.report->pod.iterations < kNewcomerIterations;
    if (sharer.active) {
      int32_t& most = highest.emplace(sharer.blocks.front(), pod.pod->priority).first->second;
      most = std::max(most, pod.pod->priority);
    }
    priorities.push_back(pod.pod->priority);
    sharers.push_back(std::move(sharer));
  }
  for (size_t at = 0; at < sharers.size(); ++at) {
    const auto most = highest.find(sharers[at].blocks.front());
    if (most != highest.end() && priorities[at] < most->second) sharers[at].weight = kLowerWeight;
  }
  return sharers;
}

std::vector<GpuInTurns> TurnPlanner::GpusOf(const std::string& name, const NodeTurns& node,
                                            std::span<const TurnPod> pods) {
  std::map<std::string, GpuInTurns> gpus;
  for (const TurnPod& pod : pods) {
    const TurnReading* const reading = ReadingOf(pod);
    if (reading == nullptr || pod.pod->terminal) continue;
    const auto sharer =
        std::find_if(node.sharers.begin(), node.sharers.end(),
                     [&](const GpuSharer& other) { return other.name == pod.pod->uid; });
    const bool takes_turns = sharer != node.sharers.end() && sharer->active;
    const auto planned = node.planned.find(pod.pod->uid);
    const std::optional<GpuTurn> written =
        pod.pod->fungible ? pod.pod->fungible->turn : std::nullopt;
    const bool in_force =
        planned == node.planned.end() ? !written : written && IsSameTurn(*written, planned->second);
    for (const std::string& uuid : reading->gpus) {
      const auto [gpu, is_new] = gpus.try_emplace(uuid, GpuInTurns{name, uuid, true, {}});
      gpu->second.in_force &= in_force;
      gpu->second.members.push_back({&pod, takes_turns});
    }
  }
  std::vector<GpuInTurns> list;
  for (auto& [uuid, gpu] : gpus) list.push_back(std::move(gpu));
  return list;
}

std::map<std::string, std::vector<GpuPack>> TurnPlanner::PlanPacks(
    const std::map<std::string, std::vector<TurnPod>>& pods, Moment at, TurnPlan& plan) {
  std::vector<GpuInTurns> gpus;
  std::map<std::string, std::string> node_of;  // of a uid
  for (const auto& [name, here] : pods) {
    const auto node = nodes_.find(name);
    if (node == nodes_.end() || !Reports(here)) continue;
    for (GpuInTurns& gpu : GpusOf(name, node->second, here)) gpus.push_back(std::move(gpu));
    for (const TurnPod& pod : here) node_of[pod.pod->uid] = name;
  }
  std::map<std::string, std::vector<GpuPack>> packs;
  for (GpuPack& pack : pack_planner_.Plan(gpus, at))
    packs[node_of[pack.first]].push_back(std::move(pack));
  plan.news = pack_planner_.TakeNews();
  return packs;
}

void TurnPlanner::PlanNode(NodeTurns& node, std::span<const TurnPod> pods, Instant now,
                           std::span<const GpuPack> packs, TurnPlan& plan) const {
  node.turns.Plan(now, node.sharers, packs);
  std::map<std::string, GpuTurn>& turns = node.planned;
  turns.clear();
  for (const TurnGroup& group : node.turns.groups()) turns.merge(TurnsOf(group));
  AddPacks(packs, node.sharers, quantum_, turns);
  std::map<std::string, std::string> names;
  for (const TurnPod& pod : pods) names[pod.pod->uid] = pod.pod->Key();
  for (const auto& [uid, turn] : turns) {
    plan.in_turns += turn.with.empty() ? 0 : 1;
    plan.packed += turn.beside.empty() ? 0 : 1;
  }
  for (const TurnPod& pod : pods) {
    if (!pod.pod->fungible || pod.pod->deleting || pod.pod->terminal) continue;
    const std::optional<GpuTurn>& written = pod.pod->fungible->turn;
    const auto turn = turns.find(pod.pod->uid);
    if (turn == turns.end()) {
      if (written) plan.changes.push_back({pod.pod, std::nullopt, {}, {}});
    } else if (!written || !IsSameTurn(*written, turn->second)) {
      TurnChange& change = plan.changes.emplace_back(TurnChange{pod.pod, turn->second, {}, {}});
      for (const std::string& uid : turn->second.with) change.with.push_back(names.at(uid));
      if (!turn->second.beside.empty()) change.beside = names.at(turn->second.beside);
    }
  }
}

TurnPlan TurnPlanner::Plan(const std::map<std::string, std::vector<TurnPod>>& pods, Moment at) {
  // Rotations never go back.
  latest_ = std::max(latest_, WallTime(std::chrono::floor<std::chrono::milliseconds>(at.wall)));
  const Instant now = ToInstant(latest_);
  TurnPlan plan;
  std::erase_if(nodes_, [&](const auto& node) { return !pods.contains(node.first); });
  for (const auto& [name, here] : pods) {
    if (!Reports(here)) continue;
    const auto [node, is_new] =
        nodes_.try_emplace(name, NodeTurns{GpuTurns(quantum_), {}, {}, {}, {}});
    if (is_new) node->second.turns.Adopt(RotationsOf(here, now));
    node->second.sharers = SharersOf(node->second, here, at.now);
  }
  std::map<std::string, std::vector<GpuPack>> packs;
  if (packs_) packs = PlanPacks(pods, at, plan);
  for (const auto& [name, here] : pods) {
    if (!Reports(here)) continue;
    NodeTurns& node = nodes_.at(name);
    PlanNode(node, here, now, packs[name], plan);
    const auto is_gone = [&here = here](const std::string& uid) {
      return std::none_of(here.begin(), here.end(),
                          [&](const TurnPod& pod) { return pod.pod->uid == uid; });
    };
    std::erase_if(node.seen, [&](const auto& entry) { return is_gone(entry.first); });
    std::erase_if(node.begun, is_gone);
  }
  return plan;
}

}  // namespace synergy
