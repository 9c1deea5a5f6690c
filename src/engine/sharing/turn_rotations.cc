#include "engine/sharing/turn_rotations.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace synergy {
namespace {

// A unit with the turn that is written on its pods.
struct Written {
  std::string name;
  const GpuTurn* turn = nullptr;
  std::set<std::string> with;    // units
  std::set<std::string> beside;  // also units
  bool agrees = true;            // all its pods have the same turn
  std::vector<bool> runs;        // in each slot
  size_t own = 0;                // its own slot
};

// Returns where the part begins, counted from a multiple of the cycle after `base`.
Duration BeginOf(const GpuTurn& turn, const GpuTurn::Part& part, WallTime base) {
  const Duration begin = (turn.epoch + part.begin - base) % turn.cycle;
  return begin < Duration::zero() ? begin + turn.cycle : begin;
}

// Returns the parts of a cycle in which the pod runs, counted from a multiple of the cycle. Joins
// adjoining parts. The last part may end in the next cycle.
std::vector<std::pair<Duration, Duration>> PartsOf(const GpuTurn& turn) {
  std::vector<std::pair<Duration, Duration>> parts;  // beginning and length
  for (const GpuTurn::Part& part : turn.runs)
    parts.emplace_back(BeginOf(turn, part, WallTime{}), part.end - part.begin);
  std::sort(parts.begin(), parts.end());
  std::vector<std::pair<Duration, Duration>> merged;
  for (const auto& [begin, length] : parts) {
    if (!merged.empty() && merged.back().first + merged.back().second == begin) {
      merged.back().second += length;
    } else {
      merged.emplace_back(begin, length);
    }
  }
  if (merged.size() > 1 &&
      merged.back().first + merged.back().second == merged.front().first + turn.cycle) {
    merged.back().second += merged.front().second;
    merged.erase(merged.begin());
  }
  return merged;
}

bool AreSameTimes(const GpuTurn& a, const GpuTurn& b) {
  return a.cycle == b.cycle && PartsOf(a) == PartsOf(b) &&
         BeginOf(a, a.runs.front(), WallTime{}) == BeginOf(b, b.runs.front(), WallTime{});
}

std::map<std::string, Written> WrittenTurns(const TurnUnits& units) {
  std::map<std::string, std::string> unit_of;  // of a uid
  for (const auto& [name, unit] : units) {
    for (const TurnPod* pod : unit.pods) unit_of[pod->pod->uid] = name;
  }
  const auto add = [&](const std::string& uid, std::set<std::string>& names) {
    if (const auto unit = unit_of.find(uid); unit != unit_of.end()) names.insert(unit->second);
  };
  std::map<std::string, Written> all;
  for (const auto& [name, unit] : units) {
    for (const TurnPod* pod : unit.pods) {
      if (pod->pod->deleting || !pod->pod->fungible || !pod->pod->fungible->turn) continue;
      const GpuTurn& turn = *pod->pod->fungible->turn;
      Written& written = all[name];
      written.name = name;
      if (written.turn == nullptr) written.turn = &turn;
      written.agrees &= AreSameTimes(*written.turn, turn);
      for (const std::string& uid : turn.with) add(uid, written.with);
      add(turn.beside, written.beside);
    }
  }
  return all;
}

// Returns the sets of units that name each other as partners, directly or through others.
std::vector<std::vector<Written*>> ConnectedIn(std::map<std::string, Written>& all) {
  std::map<std::string, std::set<std::string>> edges;
  for (const auto& [name, written] : all) {
    for (const auto* partners : {&written.with, &written.beside}) {
      for (const std::string& partner : *partners) {
        edges[name].insert(partner);
        edges[partner].insert(name);
      }
    }
  }
  std::vector<std::vector<Written*>> sets;
  std::set<std::string> seen;
  for (const auto& [start, unused] : all) {
    if (!seen.insert(start).second) continue;
    std::vector<std::string> open{start};
    std::vector<Written*>& set = sets.emplace_back();
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const auto written = all.find(name);
      if (written == all.end()) continue;
      set.push_back(&written->second);
      for (const std::string& partner : edges[name]) {
        if (seen.insert(partner).second) open.push_back(partner);
      }
    }
  }
  return sets;
}

// Returns where slots begin, counted from `base`; the first one is 0.
std::vector<Duration> SlotsOf(const std::vector<Written*>& units, Duration cycle, WallTime base) {
  std::set<Duration> begins;
  for (const Written* unit : units) {
    for (const GpuTurn::Part& part : unit->turn->runs) {
      const Duration begin = BeginOf(*unit->turn, part, base);
      begins.insert(begin);
      begins.insert((begin + (part.end - part.begin)) % cycle);
    }
  }
  return {begins.begin(), begins.end()};
}

void SetSlots(Written& unit, const std::vector<Duration>& begins, WallTime base) {
  const GpuTurn& turn = *unit.turn;
  for (const Duration at : begins) unit.runs.push_back(turn.RunsAt(base + at));
  const auto own = std::find(begins.begin(), begins.end(), BeginOf(turn, turn.runs.front(), base));
  unit.own = static_cast<size_t>(own - begins.begin());
}

// Returns whether partners run at different times, and the two units of a pack at the same time.
bool FitTogether(const std::vector<Written*>& units) {
  std::map<std::string, const Written*> by_name;
  for (const Written* unit : units) by_name[unit->name] = unit;
  return std::all_of(units.begin(), units.end(), [&](const Written* unit) {
    const auto is_apart = [&](const std::string& name) {
      const auto other = by_name.find(name);
      if (other == by_name.end()) return true;
      for (size_t slot = 0; slot < unit->runs.size(); ++slot) {
        if (unit->runs[slot] && other->second->runs[slot]) return false;
      }
      return true;
    };
    const auto is_packed = [&](const std::string& name) {
      const auto other = by_name.find(name);
      return other == by_name.end() || other->second->runs == unit->runs;
    };
    return std::all_of(unit->with.begin(), unit->with.end(), is_apart) &&
           std::all_of(unit->beside.begin(), unit->beside.end(), is_packed);
  });
}

// Returns the rotation of these units; nullopt if their turns are inconsistent.
std::optional<TurnGroup> RotationOf(const std::vector<Written*>& units, Instant now) {
  const GpuTurn& first = *units.front()->turn;
  const auto fits = [&](const Written* unit) {
    return unit->agrees && unit->turn->cycle == first.cycle;
  };
  if (!std::all_of(units.begin(), units.end(), fits)) return std::nullopt;
  const WallTime base = first.epoch + first.runs.front().begin;
  const std::vector<Duration> begins = SlotsOf(units, first.cycle, base);
  if (begins.size() < 2 || begins.size() > GpuTurns::kMostSlots) return std::nullopt;
  for (Written* unit : units) SetSlots(*unit, begins, base);
  if (!FitTogether(units)) return std::nullopt;
  TurnGroup group;
  for (size_t at = 0; at < begins.size(); ++at) {
    TurnSlot& slot = group.slots.emplace_back();
    slot.length = (at + 1 < begins.size() ? begins[at + 1] : first.cycle) - begins[at];
    for (const Written* unit : units) {
      if (unit->own == at) slot.holders.push_back(unit->name);
      if (unit->runs[at]) slot.runs.push_back(unit->name);
    }
    std::sort(slot.holders.begin(), slot.holders.end());
    std::sort(slot.runs.begin(), slot.runs.end());
  }
  group.epoch = ToInstant(base);
  if (group.epoch > now) group.epoch -= ((group.epoch - now) / first.cycle + 1) * first.cycle;
  return group;
}

}  // namespace

bool IsSameTurn(const GpuTurn& a, const GpuTurn& b) {
  return a.with == b.with && a.beside == b.beside && AreSameTimes(a, b);
}

GpuTurn TurnOf(const TurnGroup& group, const std::string& sharer) {
  const auto has = [&](const std::vector<std::string>& names) {
    return std::binary_search(names.begin(), names.end(), sharer);
  };
  const Duration cycle = group.Cycle();
  Duration own{};
  size_t others = 0;
  Duration at{};
  for (const TurnSlot& slot : group.slots) {
    if (has(slot.holders)) {
      own = at;
    } else if (has(slot.runs)) {
      ++others;
    }
    at += slot.length;
  }
  // The sharer's own slot comes first, so that the next planner can identify it.
  GpuTurn turn{ToWallTime(group.epoch), cycle, {}, {}, {}};
  if (others > 0) turn.epoch += own;
  at = others > 0 ? cycle - own : Duration::zero();
  for (const TurnSlot& slot : group.slots) {
    at %= cycle;
    const GpuTurn::Part part{at, at + slot.length};
    at = part.end;
    if (has(slot.runs)) turn.runs.push_back(part);
  }
  std::sort(turn.runs.begin(), turn.runs.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  for (size_t next = 1; next < turn.runs.size();) {
    if (turn.runs[next - 1].end != turn.runs[next].begin) {
      ++next;
      continue;
    }
    turn.runs[next - 1].end = turn.runs[next].end;
    turn.runs.erase(turn.runs.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return turn;
}

std::vector<TurnGroup> RotationsOf(const TurnUnits& units, Instant now) {
  std::map<std::string, Written> all = WrittenTurns(units);
  std::vector<TurnGroup> groups;
  for (const std::vector<Written*>& set : ConnectedIn(all)) {
    if (std::optional<TurnGroup> group = RotationOf(set, now)) groups.push_back(*std::move(group));
  }
  return groups;
}

}  // namespace synergy
