#include "engine/sharing/gpu_turns.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace synergy {

struct GpuTurns::Vertex {
  std::vector<std::string> names;  // sorted
  std::vector<size_t> blocks;      // numbered; sorted
  double weight = 0;
  bool newcomer = true;
};

// A slot before its length is known.
struct GpuTurns::Slot {
  std::vector<size_t> vertices;
  std::set<size_t> blocks;  // the blocks of `vertices`

  bool HasRoomFor(const Vertex& vertex) const {
    return std::none_of(vertex.blocks.begin(), vertex.blocks.end(),
                        [&](size_t block) { return blocks.contains(block); });
  }
  void Add(size_t at, const Vertex& vertex) {
    vertices.push_back(at);
    blocks.insert(vertex.blocks.begin(), vertex.blocks.end());
  }
};

struct GpuTurns::Draft {
  std::vector<Slot> slots;
  std::optional<Instant> began;  // when the first slot began, if it is the current one
};

namespace {

// Slots are whole milliseconds, so that a group keeps its phase when planned again. Rounds down, so
// that no suspension is too long.
Duration ToSlotLength(Seconds length) {
  return std::chrono::milliseconds(std::llround(std::floor(length.count() * 1000 + 1e-6)));
}

// Adds the vertex to the first slot that has room for it, or else to a new one.
template <typename Slot, typename Vertex>
void AddToFirst(std::vector<Slot>& slots, size_t at, const Vertex& vertex) {
  auto free = std::find_if(slots.begin(), slots.end(),
                           [&](const Slot& slot) { return slot.HasRoomFor(vertex); });
  if (free == slots.end()) free = slots.emplace(slots.end());
  free->Add(at, vertex);
}

template <typename Slot, typename Vertex>
std::vector<std::string> NamesOf(const Slot& slot, const std::vector<Vertex>& vertices) {
  std::vector<std::string> names;
  for (const size_t at : slot.vertices)
    names.insert(names.end(), vertices[at].names.begin(), vertices[at].names.end());
  std::sort(names.begin(), names.end());
  return names;
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
  std::map<GpuBlock, size_t> numbers;
  for (const auto& [first, members] : by_first) {
    Vertex& vertex = vertices.emplace_back();
    for (const GpuSharer* member : members) {
      vertex.names.push_back(member->name);
      for (const GpuBlock& block : member->blocks)
        vertex.blocks.push_back(numbers.emplace(block, numbers.size()).first->second);
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

std::vector<GpuTurns::Component> GpuTurns::ComponentsOf(const std::vector<Vertex>& vertices) {
  std::unordered_map<size_t, std::vector<size_t>> on_block;
  for (size_t at = 0; at < vertices.size(); ++at) {
    for (const size_t block : vertices[at].blocks) on_block[block].push_back(at);
  }
  std::vector<Component> components;
  std::vector<bool> seen(vertices.size());
  for (size_t start = 0; start < vertices.size(); ++start) {
    if (seen[start]) continue;
    Component& component = components.emplace_back();
    std::vector<size_t> open{start};
    seen[start] = true;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      component.push_back(at);
      for (const size_t block : vertices[at].blocks) {
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

void GpuTurns::SetLengths(const std::vector<Vertex>& vertices, const std::vector<Slot>& slots,
                          TurnGroup& group) const {
  const auto count = static_cast<double>(slots.size());
  if (slots.size() == 1) {
    group.slots[0].length = quantum_;
    return;
  }
  std::vector<double> weights;
  for (const Slot& slot : slots) {
    double weight = 0;
    for (const size_t vertex : slot.vertices) weight = std::max(weight, vertices[vertex].weight);
    weights.push_back(weight);
  }
  const double suspended = Seconds(kMostSuspended).count();
  const double least = Seconds(kLeastSlot).count();
  const double whole = count * Seconds(quantum_).count();
  // The least fraction of a cycle for a slot: long enough for kLeastSlot, and no suspension too
  // long.
  const double least_part = std::min(1 / count, least / std::min(whole, suspended + least));
  // Raise smaller fractions to least_part; the other slots share the rest by weight.
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

std::vector<size_t> GpuTurns::OldGroupsOf(const std::vector<Vertex>& vertices,
                                          const Component& component) const {
  std::map<size_t, size_t> from_each;
  for (const size_t vertex : component) {
    for (const std::string& name : vertices[vertex].names) {
      if (const auto old = group_of_.find(name); old != group_of_.end()) {
        ++from_each[old->second];
        break;
      }
    }
  }
  std::vector<size_t> order;
  for (const auto& [group, members] : from_each) order.push_back(group);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return from_each.at(a) > from_each.at(b); });
  return order;
}

GpuTurns::Draft GpuTurns::OldSlotsOf(Instant now, const std::vector<Vertex>& vertices,
                                     const Component& component) const {
  Draft draft;
  std::set<size_t> placed;
  const std::vector<size_t> order = OldGroupsOf(vertices, component);
  for (const size_t number : order) {
    const TurnGroup& old = groups_[number];
    const bool is_base = number == order.front();
    const size_t current = old.slots.size() > 1 ? old.SlotAt(now) : 0;
    for (size_t step = 0; step < old.slots.size(); ++step) {
      const TurnSlot& was = old.slots[(current + step) % old.slots.size()];
      Slot slot;
      for (const size_t vertex : component) {
        const std::vector<std::string>& names = vertices[vertex].names;
        const bool held = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return HoldsSlot(was, name);
        });
        if (!held || placed.contains(vertex) || !slot.HasRoomFor(vertices[vertex])) continue;
        slot.Add(vertex, vertices[vertex]);
        placed.insert(vertex);
      }
      if (slot.vertices.empty()) continue;
      if (is_base) {
        if (step == 0)
          draft.began = old.slots.size() > 1 ? old.SlotEnds(now) - was.length : old.epoch;
        draft.slots.push_back(std::move(slot));
        continue;
      }
      for (const size_t vertex : slot.vertices) AddToFirst(draft.slots, vertex, vertices[vertex]);
    }
  }
  return draft;
}

void GpuTurns::AddFresh(const std::vector<Vertex>& vertices, const Component& component,
                        Draft& draft) {
  std::vector<Slot>& slots = draft.slots;
  std::set<size_t> placed;
  for (const Slot& slot : slots) placed.insert(slot.vertices.begin(), slot.vertices.end());
  std::vector<size_t> fresh;
  for (const size_t vertex : component) {
    if (!placed.contains(vertex)) fresh.push_back(vertex);
  }
  std::stable_sort(fresh.begin(), fresh.end(), [&](size_t a, size_t b) {
    if (vertices[a].newcomer != vertices[b].newcomer) return vertices[a].newcomer;
    return vertices[a].blocks.size() > vertices[b].blocks.size();
  });
  size_t next = draft.began ? 1 : 0;  // where a newcomer's slot goes
  for (const size_t vertex : fresh) {
    // Try the current slot last, because every other slot begins sooner than its next repetition.
    std::optional<size_t> free;
    for (size_t step = 0; step < slots.size() && !free; ++step) {
      const size_t slot = (step + 1) % slots.size();
      if (slots[slot].HasRoomFor(vertices[vertex])) free = slot;
    }
    if (free) {
      slots[*free].Add(vertex, vertices[vertex]);
      continue;
    }
    auto place = slots.end();
    if (vertices[vertex].newcomer)
      place = slots.begin() + static_cast<std::ptrdiff_t>(std::min(next++, slots.size()));
    slots.emplace(place)->Add(vertex, vertices[vertex]);
  }
}

std::vector<GpuTurns::Slot> GpuTurns::SlotsAfresh(const std::vector<Vertex>& vertices,
                                                  const Component& component) {
  Component sorted = component;
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
    return vertices[a].blocks.size() > vertices[b].blocks.size();
  });
  std::vector<Slot> slots;
  for (const size_t vertex : sorted) AddToFirst(slots, vertex, vertices[vertex]);
  return slots;
}

void GpuTurns::SetRuns(const std::vector<Vertex>& vertices, const Component& component,
                       std::vector<Slot> slots, TurnGroup& group) {
  std::map<size_t, double> time;
  for (size_t at = 0; at < slots.size(); ++at) {
    for (const size_t vertex : slots[at].vertices)
      time[vertex] += Seconds(group.slots[at].length).count();
  }
  // Use an order that does not depend on the current slot.
  std::vector<size_t> order(slots.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return group.slots[a].holders < group.slots[b].holders; });
  for (const size_t at : order) {
    Component others = component;
    std::stable_sort(others.begin(), others.end(), [&](size_t a, size_t b) {
      return time.at(a) / vertices[a].weight < time.at(b) / vertices[b].weight;
    });
    for (const size_t vertex : others) {
      if (!slots[at].HasRoomFor(vertices[vertex])) continue;
      slots[at].Add(vertex, vertices[vertex]);
      time[vertex] += Seconds(group.slots[at].length).count();
    }
    group.slots[at].runs = NamesOf(slots[at], vertices);
  }
}

TurnGroup GpuTurns::GroupOf(Instant now, const std::vector<Vertex>& vertices,
                            const Component& component) const {
  Draft draft = OldSlotsOf(now, vertices, component);
  AddFresh(vertices, component, draft);
  // Fewer slots may suffice because members have left.
  std::vector<Slot> afresh = SlotsAfresh(vertices, component);
  if (afresh.size() < draft.slots.size()) draft = {std::move(afresh), std::nullopt};

  TurnGroup group;
  for (const Slot& slot : draft.slots) group.slots.push_back({{}, NamesOf(slot, vertices), {}});
  SetLengths(vertices, draft.slots, group);
  group.epoch = now;
  if (draft.began && group.slots.size() == 1) {
    group.epoch = *draft.began;
  } else if (draft.began) {
    group.epoch = now - std::min(now - *draft.began, group.slots.front().length);
  }
  SetRuns(vertices, component, std::move(draft.slots), group);
  return group;
}

void GpuTurns::Plan(Instant now, std::span<const GpuSharer> sharers, std::span<const GpuPack> packs,
                    const std::set<std::string>& held) {
  const std::vector<Vertex> vertices = VerticesOf(sharers, packs);
  std::vector<TurnGroup> groups;
  without_turns_.clear();
  for (const Component& component : ComponentsOf(vertices)) {
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
  std::set<size_t> kept;
  for (const std::string& name : held) {
    if (const auto number = group_of_.find(name); number != group_of_.end())
      kept.insert(number->second);
  }
  const auto has_left = [&](const std::string& name) { return !held.contains(name); };
  for (const size_t number : kept) {
    TurnGroup& group = groups.emplace_back(std::move(groups_[number]));
    for (TurnSlot& slot : group.slots) {
      std::erase_if(slot.holders, has_left);
      std::erase_if(slot.runs, has_left);
    }
  }
  SetGroups(std::move(groups));
}

void GpuTurns::Adopt(std::vector<TurnGroup> groups) {
  std::vector<TurnGroup> all = std::move(groups_);
  for (TurnGroup& group : groups) {
    const bool is_known =
        std::any_of(group.slots.begin(), group.slots.end(), [&](const TurnSlot& slot) {
          return std::any_of(slot.holders.begin(), slot.holders.end(),
                             [&](const std::string& name) { return group_of_.contains(name); });
        });
    if (!is_known) all.push_back(std::move(group));
  }
  SetGroups(std::move(all));
}

bool GpuTurns::AreTogether(const std::string& one, const std::string& other) const {
  const auto group = group_of_.find(one);
  const auto of_other = group_of_.find(other);
  return group != group_of_.end() && of_other != group_of_.end() &&
         group->second == of_other->second;
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
