#include "engine/sharing/gpu_turns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace synergy {

struct GpuTurns::Vertex {
  std::vector<std::string> names;  // sorted
  std::vector<GpuBlock> blocks;    // sorted
  double weight = 0;
  bool newcomer = true;

  bool SharesWith(const Vertex& other) const {
    return std::any_of(blocks.begin(), blocks.end(), [&](const GpuBlock& block) {
      return std::binary_search(other.blocks.begin(), other.blocks.end(), block);
    });
  }
};

namespace {

// Slots are whole milliseconds, so that a group keeps its phase when planned again. Rounds down, so
// that no suspension is too long.
Duration ToSlotLength(Seconds length) {
  return std::chrono::milliseconds(std::llround(std::floor(length.count() * 1000 + 1e-6)));
}

bool HoldsSlot(const TurnSlot& slot, const std::string& name) {
  return std::binary_search(slot.holders.begin(), slot.holders.end(), name);
}

}  // namespace

Duration TurnGroup::Cycle() const {
  Duration cycle{};
  for (const TurnSlot& slot : slots) cycle += slot.length;
  return cycle;
}

size_t TurnGroup::SlotAt(Instant now) const {
  Duration left = (now - epoch) % Cycle();
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    if (left < slots[slot].length) return slot;
    left -= slots[slot].length;
  }
  return 0;
}

Instant TurnGroup::SlotEnds(Instant now) const {
  const Duration within = (now - epoch) % Cycle();
  Duration end{};
  for (const TurnSlot& slot : slots) {
    end += slot.length;
    if (within < end) break;
  }
  return now + (end - within);
}

std::vector<GpuTurns::Vertex> GpuTurns::VerticesOf(std::span<const GpuSharer> sharers,
                                                   std::span<const GpuPack> packs) {
  std::map<std::string, std::vector<const GpuSharer*>> by_first;  // by the first sharer of a pack
  std::map<std::string, std::string> first_of;
  std::set<std::string> active;
  for (const GpuSharer& sharer : sharers) {
    if (sharer.active) active.insert(sharer.name);
  }
  for (const GpuPack& pack : packs) {
    if (active.contains(pack.first) && active.contains(pack.second))
      first_of[pack.second] = pack.first;
  }
  for (const GpuSharer& sharer : sharers) {
    if (!sharer.active) continue;
    const auto first = first_of.find(sharer.name);
    by_first[first == first_of.end() ? sharer.name : first->second].push_back(&sharer);
  }
  std::vector<Vertex> vertices;
  for (const auto& [first, members] : by_first) {
    Vertex& vertex = vertices.emplace_back();
    for (const GpuSharer* member : members) {
      vertex.names.push_back(member->name);
      vertex.blocks.insert(vertex.blocks.end(), member->blocks.begin(), member->blocks.end());
      vertex.weight += member->weight;
      vertex.newcomer &= member->newcomer;
    }
    std::sort(vertex.names.begin(), vertex.names.end());
    std::sort(vertex.blocks.begin(), vertex.blocks.end());
    vertex.blocks.erase(std::unique(vertex.blocks.begin(), vertex.blocks.end()),
                        vertex.blocks.end());
  }
  return vertices;
}

std::vector<std::vector<size_t>> GpuTurns::ComponentsOf(const std::vector<Vertex>& vertices) {
  std::map<GpuBlock, std::vector<size_t>> on_block;
  for (size_t at = 0; at < vertices.size(); ++at) {
    for (const GpuBlock& block : vertices[at].blocks) on_block[block].push_back(at);
  }
  std::vector<std::vector<size_t>> components;
  std::vector<bool> seen(vertices.size());
  for (size_t start = 0; start < vertices.size(); ++start) {
    if (seen[start]) continue;
    std::vector<size_t>& component = components.emplace_back();
    std::vector<size_t> open{start};
    seen[start] = true;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      component.push_back(at);
      for (const GpuBlock& block : vertices[at].blocks) {
        for (const size_t other : on_block.at(block)) {
          if (seen[other]) continue;
          seen[other] = true;
          open.push_back(other);
        }
      }
    }
    std::sort(component.begin(), component.end());
  }
  return components;
}

void GpuTurns::SetLengths(const std::vector<Vertex>& vertices, const Slots& slots,
                          TurnGroup& group) const {
  const auto count = static_cast<double>(slots.size());
  if (slots.size() == 1) {
    group.slots[0].length = quantum_;
    return;
  }
  std::vector<double> weights;
  for (const std::vector<size_t>& slot : slots) {
    double weight = 0;
    for (const size_t vertex : slot) weight = std::max(weight, vertices[vertex].weight);
    weights.push_back(weight);
  }
  const double suspended = Seconds(kMostSuspended).count();
  const double least = Seconds(kLeastSlot).count();
  const double whole = count * Seconds(quantum_).count();
  // The least fraction of a cycle that makes its slot long enough and no suspension too long.
  const double least_part = std::min(1 / count, least / std::min(whole, suspended + least));
  // Raise small fractions to that; the others share the rest by weight.
  std::vector<double> parts(weights.size(), least_part);
  std::vector<bool> raised(weights.size(), false);
  for (bool again = true; again;) {
    again = false;
    double rest = 1;
    double sum = 0;
    for (size_t slot = 0; slot < weights.size(); ++slot) {
      if (raised[slot]) {
        rest -= least_part;
      } else {
        sum += weights[slot];
      }
    }
    for (size_t slot = 0; slot < weights.size(); ++slot) {
      if (raised[slot]) continue;
      parts[slot] = rest * weights[slot] / sum;
      if (parts[slot] >= least_part) continue;
      parts[slot] = least_part;
      raised[slot] = again = true;
      break;
    }
  }
  const double smallest = *std::min_element(parts.begin(), parts.end());
  const double cycle = std::min(whole, suspended / (1 - smallest));
  for (size_t slot = 0; slot < parts.size(); ++slot)
    group.slots[slot].length = ToSlotLength(Seconds(cycle * parts[slot]));
}

TurnGroup GpuTurns::GroupOf(Instant now, const std::vector<Vertex>& vertices,
                            const std::vector<size_t>& component) const {
  // The groups that its vertices come from, with the number of vertices from each.
  std::map<size_t, size_t> old_groups;
  for (const size_t vertex : component) {
    for (const std::string& name : vertices[vertex].names) {
      if (const auto old = group_of_.find(name); old != group_of_.end()) {
        ++old_groups[old->second];
        break;
      }
    }
  }
  const auto conflicts = [&](const std::vector<size_t>& slot, size_t vertex) {
    return std::any_of(slot.begin(), slot.end(),
                       [&](size_t other) { return vertices[other].SharesWith(vertices[vertex]); });
  };
  Slots slots;
  std::set<size_t> placed;
  bool goes_on = false;  // the first slot is the current one
  Instant began = now;
  std::vector<size_t> order;
  for (const auto& [group, members] : old_groups) order.push_back(group);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return old_groups.at(a) > old_groups.at(b); });
  for (const size_t number : order) {
    const TurnGroup& old = groups_[number];
    const bool is_base = number == order.front();
    const size_t current = old.slots.size() > 1 ? old.SlotAt(now) : 0;
    for (size_t step = 0; step < old.slots.size(); ++step) {
      const TurnSlot& was = old.slots[(current + step) % old.slots.size()];
      std::vector<size_t> slot;
      for (const size_t vertex : component) {
        const std::vector<std::string>& names = vertices[vertex].names;
        const bool held = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return HoldsSlot(was, name);
        });
        if (!held || placed.contains(vertex) || conflicts(slot, vertex)) continue;
        slot.push_back(vertex);
        placed.insert(vertex);
      }
      if (slot.empty()) continue;
      if (is_base) {
        if (step == 0) {
          goes_on = true;
          began = old.slots.size() > 1 ? old.SlotEnds(now) - was.length : old.epoch;
        }
        slots.push_back(std::move(slot));
        continue;
      }
      for (const size_t vertex : slot) {
        const auto free = std::find_if(slots.begin(), slots.end(), [&](const auto& other) {
          return !conflicts(other, vertex);
        });
        if (free != slots.end()) {
          free->push_back(vertex);
        } else {
          slots.push_back({vertex});
        }
      }
    }
  }
  std::vector<size_t> fresh;
  for (const size_t vertex : component) {
    if (!placed.contains(vertex)) fresh.push_back(vertex);
  }
  const auto by_size = [&](size_t a, size_t b) {
    return vertices[a].blocks.size() > vertices[b].blocks.size();
  };
  std::stable_sort(fresh.begin(), fresh.end(), [&](size_t a, size_t b) {
    if (vertices[a].newcomer != vertices[b].newcomer) return vertices[a].newcomer;
    return by_size(a, b);
  });
  size_t next = slots.empty() ? 0 : (goes_on ? 1 : 0);  // where a newcomer's slot goes
  for (const size_t vertex : fresh) {
    // The current slot comes last, because the others begin sooner.
    std::optional<size_t> free;
    for (size_t step = 0; step < slots.size() && !free; ++step) {
      const size_t slot = (step + 1) % slots.size();
      if (!conflicts(slots[slot], vertex)) free = slot;
    }
    if (free) {
      slots[*free].push_back(vertex);
    } else if (vertices[vertex].newcomer) {
      slots.insert(slots.begin() + static_cast<std::ptrdiff_t>(std::min(next, slots.size())),
                   {vertex});
      ++next;
    } else {
      slots.push_back({vertex});
    }
  }
  // Slots may be unneeded because members left.
  std::vector<size_t> sorted = component;
  std::stable_sort(sorted.begin(), sorted.end(), by_size);
  Slots anew;
  for (const size_t vertex : sorted) {
    const auto free = std::find_if(anew.begin(), anew.end(),
                                   [&](const auto& slot) { return !conflicts(slot, vertex); });
    if (free != anew.end()) {
      free->push_back(vertex);
    } else {
      anew.push_back({vertex});
    }
  }
  if (anew.size() < slots.size()) {
    slots = std::move(anew);
    goes_on = false;
  }

  TurnGroup group;
  group.slots.resize(slots.size());
  for (size_t at = 0; at < slots.size(); ++at) {
    for (const size_t vertex : slots[at]) {
      const std::vector<std::string>& names = vertices[vertex].names;
      group.slots[at].holders.insert(group.slots[at].holders.end(), names.begin(), names.end());
    }
    std::sort(group.slots[at].holders.begin(), group.slots[at].holders.end());
  }
  SetLengths(vertices, slots, group);
  // Give blocks that are idle in a slot to the vertices that had the least time for their weight.
  std::map<size_t, double> time;
  for (size_t at = 0; at < slots.size(); ++at) {
    for (const size_t vertex : slots[at]) time[vertex] += Seconds(group.slots[at].length).count();
  }
  for (size_t at = 0; at < slots.size(); ++at) {
    std::vector<size_t> others = component;
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) {
      return time.at(a) / vertices[a].weight < time.at(b) / vertices[b].weight;
    });
    for (const size_t vertex : others) {
      if (conflicts(slots[at], vertex)) continue;
      slots[at].push_back(vertex);
      time[vertex] += Seconds(group.slots[at].length).count();
    }
    for (const size_t vertex : slots[at]) {
      const std::vector<std::string>& names = vertices[vertex].names;
      group.slots[at].runs.insert(group.slots[at].runs.end(), names.begin(), names.end());
    }
    std::sort(group.slots[at].runs.begin(), group.slots[at].runs.end());
  }
  group.epoch = goes_on ? now - std::min(now - began, group.slots.front().length) : now;
  if (slots.size() == 1 && goes_on) group.epoch = began;
  return group;
}

void GpuTurns::Plan(Instant now, std::span<const GpuSharer> sharers,
                    std::span<const GpuPack> packs) {
  const std::vector<Vertex> vertices = VerticesOf(sharers, packs);
  std::vector<TurnGroup> groups;
  without_turns_.clear();
  for (const std::vector<size_t>& component : ComponentsOf(vertices)) {
    TurnGroup group = GroupOf(now, vertices, component);
    if (group.slots.size() > kMostSlots) {
      for (const size_t vertex : component) {
        const std::vector<std::string>& names = vertices[vertex].names;
        without_turns_.insert(without_turns_.end(), names.begin(), names.end());
      }
      continue;
    }
    groups.push_back(std::move(group));
  }
  std::sort(without_turns_.begin(), without_turns_.end());
  SetGroups(std::move(groups));
}

void GpuTurns::SetGroups(std::vector<TurnGroup> groups) {
  groups_ = std::move(groups);
  group_of_.clear();
  for (size_t number = 0; number < groups_.size(); ++number) {
    for (const TurnSlot& slot : groups_[number].slots) {
      for (const std::string& name : slot.holders) group_of_[name] = number;
    }
  }
}

bool GpuTurns::Runs(const std::string& name, Instant now) const {
  const auto number = group_of_.find(name);
  if (number == group_of_.end()) return true;
  const TurnGroup& group = groups_[number->second];
  if (group.slots.size() == 1) return true;
  const std::vector<std::string>& runs = group.slots[group.SlotAt(now)].runs;
  return std::binary_search(runs.begin(), runs.end(), name);
}

std::optional<Instant> GpuTurns::NextSwitch(Instant now) const {
  std::optional<Instant> next;
  for (const TurnGroup& group : groups_) {
    if (group.slots.size() < 2) continue;
    const Instant end = group.SlotEnds(now);
    if (!next || end < *next) next = end;
  }
  return next;
}

std::vector<TurnGroup> GpuTurns::groups() const {
  std::vector<TurnGroup> groups;
  for (const TurnGroup& group : groups_) {
    if (group.slots.size() > 1) groups.push_back(group);
  }
  return groups;
}

}  // namespace synergy
