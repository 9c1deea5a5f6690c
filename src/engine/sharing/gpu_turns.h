#pragma once

// Plans the turns of pods that share GPUs (suspend-resume of Gandiva, OSDI'18).
//
// A node's GPUs are divided into fixed blocks, and each pod uses one whole block. Pods that share a
// block take turns. A pod or a gang is a vertex of a graph. A gang runs on all of its blocks at
// once or not at all. Vertices that shared blocks connect form a group. Each group has a rotation
// of slots:
//
//   block 0   | A        | B        | A        | ...      slot 1: A, C     slot 2: B, C
//   block 1   | C        | C        | C        |          (C shares block 1 with no active pod)
//
// Slots are a greedy colouring of the group by decreasing number of blocks. A vertex also runs in
// any other slot where its blocks are idle. Those slots depend only on the holders and lengths of
// all slots, so they do not change over time. With k slots, a cycle takes at most k quanta. No
// member is suspended for longer than kMostSuspended at a time: the quantum is min(60 s, 110 s / (k
// - 1)). Slot lengths are proportional to weights, but at least kLeastSlot. A group that needs more
// than kMostSlots slots takes no turns: all its members run.
//
// Changes disturb as little as possible: vertices keep their slots and order, the present slot runs
// to its end, and other groups are untouched. A newcomer gets the next slot, so that its first
// iterations come soon. A group without recent reports can be held unchanged.
//
// Threading: one owner.

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/gpu_turn.h"
#include "core/clock.h"

namespace synergy {

struct GpuBlock {
  std::string node;
  int64_t number = 0;

  auto operator<=>(const GpuBlock&) const = default;
};

// A pod that shares GPUs, or a gang with all its pods.
struct GpuSharer {
  std::string name;              // unique
  std::vector<GpuBlock> blocks;  // distinct; not empty
  double weight = 1;             // above 0
  // False while the sharer starts up or is idle. An inactive sharer holds no slot and is never
  // suspended.
  bool active = true;
  // True until the sharer has done its first iterations. It matters only when the sharer becomes
  // active.
  bool newcomer = false;
};

// Two sharers that run at the same time, by name.
using GpuPack = std::pair<std::string, std::string>;

struct TurnSlot {
  Duration length{};
  std::vector<std::string> holders;  // the sharers that own the slot; sorted
  std::vector<std::string> runs;     // the holders, and sharers whose blocks are idle; sorted
};

// A rotation: its slots repeat in order from `epoch` on.
struct TurnGroup {
  std::vector<TurnSlot> slots;  // at least two
  Instant epoch{};

  Duration Cycle() const;
  // Returns the current slot. REQUIRES: `now` is not before `epoch`.
  size_t SlotAt(Instant now) const;
  // Returns when the current slot ends. REQUIRES: as SlotAt().
  Instant SlotEnds(Instant now) const;
};

class GpuTurns {
 public:
  static constexpr size_t kMostSlots = 4;
  static constexpr Duration kLeastSlot = std::chrono::seconds(30);

  // `quantum`: the length of a slot if all weights are equal and kMostSuspended allows it.
  // REQUIRES: quantum >= kLeastSlot.
  explicit GpuTurns(Duration quantum = std::chrono::seconds(60)) : quantum_(quantum) {}

  // Plans the turns from `now` on. The plan is valid until the next call, which is due when a
  // sharer or a pack changes. `packs`: the sharers that run at the same time; ignores names that
  // are not active sharers. A sharer is in at most one pack. `held`: other sharers, which keep the
  // slots that they have. REQUIRES: `now` does not decrease; no sharer shares a block with a held
  // one.
  void Plan(Instant now, std::span<const GpuSharer> sharers, std::span<const GpuPack> packs = {},
            const std::set<std::string>& held = {});

  // Continues groups of at least two slots that another object planned, at the next call of Plan().
  // Ignores a group if it has a sharer that this object has planned. A slot may have no holders if
  // they have left. REQUIRES: no sharer holds slots of two groups; epochs are not later than `now`
  // of that call of Plan().
  void Adopt(std::vector<TurnGroup> groups);

  // Returns whether both sharers hold slots of one group.
  bool AreTogether(const std::string& one, const std::string& other) const;

  // Returns whether the sharer runs. Returns true for a sharer that shares no block with an active
  // sharer.
  bool Runs(const std::string& name, Instant now) const;
  // Returns when the next slot begins; nullopt if no group takes turns.
  std::optional<Instant> NextSwitch(Instant now) const;

  // Returns the groups that take turns, in a fixed order.
  std::vector<TurnGroup> groups() const;
  // Returns the sharers of groups that would need more than kMostSlots slots, sorted. All these
  // sharers run.
  const std::vector<std::string>& without_turns() const { return without_turns_; }

 private:
  struct Vertex;
  // The vertices of a group, as indexes.
  using Component = std::vector<size_t>;
  struct Slot;
  struct Draft;

  static std::vector<Vertex> VerticesOf(std::span<const GpuSharer> sharers,
                                        std::span<const GpuPack> packs);
  static std::vector<Component> ComponentsOf(const std::vector<Vertex>& vertices);
  // Returns the component's group; a component of one vertex has one slot.
  TurnGroup GroupOf(Instant now, const std::vector<Vertex>& vertices,
                    const Component& component) const;
  // Returns the slots that vertices of the component hold in the last plan. The current slot is
  // first.
  Draft OldSlotsOf(Instant now, const std::vector<Vertex>& vertices,
                   const Component& component) const;
  // Returns the indexes of the groups of its vertices in the last plan; that of most vertices
  // first.
  std::vector<size_t> OldGroupsOf(const std::vector<Vertex>& vertices,
                                  const Component& component) const;
  static void AddFresh(const std::vector<Vertex>& vertices, const Component& component,
                       Draft& draft);
  static std::vector<Slot> SlotsAfresh(const std::vector<Vertex>& vertices,
                                       const Component& component);
  // Gives blocks that are idle in a slot to the vertices with the least time relative to their
  // weight.
  static void SetRuns(const std::vector<Vertex>& vertices, const Component& component,
                      std::vector<Slot> slots, TurnGroup& group);
  void SetGroups(std::vector<TurnGroup> groups);
  void SetLengths(const std::vector<Vertex>& vertices, const std::vector<Slot>& slots,
                  TurnGroup& group) const;

  Duration quantum_;
  std::vector<TurnGroup> groups_;                     // including those of one slot
  std::unordered_map<std::string, size_t> group_of_;  // by sharer
  std::vector<std::string> without_turns_;
};

}  // namespace synergy
