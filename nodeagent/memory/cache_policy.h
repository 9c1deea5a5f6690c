#pragma once

// Decides how much page cache containers must give back, and how fast, by applying the method of
// senpai (Meta) to shares. A container's share is its memory request.
//
//   WantedDrops    per node: how much each container has to give back
//   CachePace      per container: in which steps, so that no process suffers
//
//                    calm                 a process waited for memory, or nothing was found
//     larger steps ---------> dropping ----------------------------------------> pausing, longer
//                              ^   | dropped cache is read again                     | each time
//                              |   v                                                |
//                              smaller steps <--------------------------------------+ time over
//
// Cache misses are the cost of a small share, so they make the steps smaller but do not pause them.
// Waiting for memory pauses them. Each step may additionally drop as much cache as the container
// has read since the last look. Otherwise a container whose data exceed its share would grow
// without bound, because it misses all the time.
//
// Threading: pure; a CachePace has one owner.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/clock.h"
#include "core/units.h"
#include "nodeagent/memory/memory_use.h"

namespace synergy::nodeagent {

struct ShareUse {
  Bytes share;
  Bytes usage;
  Bytes cache;          // page cache that can be dropped
  bool strict = false;  // never exceeds its share, even if no container needs the memory
};

// Returns how much to drop from each container. Containers above their shares give back, in
// proportion to their excess, only as much as containers below their shares still lack, plus a
// reserve for the node. If the node is short of memory, they give back the whole excess, but never
// more than the cache above the share.
std::vector<Bytes> WantedDrops(std::span<const ShareUse> uses, const NodeMemory& node,
                               bool node_short);

// Returns whether evictions are near: the memory that the kubelet counts as available is close to
// its eviction threshold.
bool IsShort(const NodeMemory& node, Bytes eviction_threshold);

class CachePace {
 public:
  // Returns how much of `wanted` to drop now. `urgent`: the node is short of memory, so pauses and
  // small steps are skipped.
  Bytes Next(const MemorySample& sample, Bytes wanted, bool urgent, Instant now);
  // Records that `amount` was dropped. `all`: false if the kernel could not drop as much as
  // requested, despite several attempts.
  void Dropped(Bytes amount, bool all, Instant now);

  enum class Brake : uint8_t { kNone, kPressure, kRefaults, kInVain };
  // Returns the reason for slowing down.
  Brake brake() const { return brake_; }

 private:
  void Judge(const MemorySample& sample, Instant now);
  void Pause(Brake why, Instant now);

  struct Look {
    Instant at;
    Bytes cache;
    Bytes refaulted;
    std::optional<Duration> stalled;
  };

  std::optional<Look> last_;
  Bytes dropped_;  // since the last look
  Bytes step_;
  Duration pause_{};
  Instant paused_until_{};
  Instant calm_since_{};
  Brake brake_ = Brake::kNone;
};

}  // namespace synergy::nodeagent
