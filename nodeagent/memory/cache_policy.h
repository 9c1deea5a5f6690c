#pragma once

// How much page cache containers are to give back, and how fast: what senpai (Meta) does, held
// against shares. A container's share is its memory request.
//
//   WantedDrops    per node: who has more than its share, and whether somebody needs it
//   CachePace      per container: in which steps, so that no process suffers
//
//                    calm                 a process waited for memory, or nothing was found
//     larger steps ---------> dropping ----------------------------------------> pausing, longer
//                              ^   | cache that was dropped is read again           | each time
//                              |   v                                                |
//                              smaller steps <--------------------------------------+ time over
//
// Cache misses are what a small share costs, so they make the steps small but do not end them;
// waiting for memory does. What has been read since the last look may go besides: who reads more
// than its share holds misses all the time, and would grow for ever.
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
  Bytes cache;          // that can be dropped
  bool strict = false;  // never more than its share, even where nobody needs it
};

// What is to be dropped of each. Memory that nobody needs is left to whoever reads: those above
// their shares give back, by how far they are above, only as much as those below theirs still lack,
// and a reserve of the node's. All of it where the node is short of memory; never more than the
// cache above the share.
std::vector<Bytes> WantedDrops(std::span<const ShareUse> uses, const NodeMemory& node,
                               bool node_short);

// Whether evictions are near: what the kubelet counts as available comes close to the amount at
// which it begins to evict.
bool IsShort(const NodeMemory& node, Bytes eviction_threshold);

class CachePace {
 public:
  // What is to be dropped now of what is wanted. `urgent`: the node is short of memory, and what
  // is above a share goes before anything else does.
  Bytes Next(const MemorySample& sample, Bytes wanted, bool urgent, Instant now);
  // So much of it was dropped; not `all`: the kernel found no more, however hard it looked.
  void Dropped(Bytes amount, bool all, Instant now);

  enum class Brake : uint8_t { kNone, kPressure, kRefaults, kInVain };
  // What holds it back.
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
