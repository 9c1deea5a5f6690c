#pragma once

// What the tuner is told of a pod's memory (annotation synergy.io/memory-in-use), and when: the
// most that was in use in the last minutes, at once when that rises above what was told, seldom
// when it falls, and now and then so that it is known to be fresh. Of pods that have no memory
// above their floor nothing is told: nothing could be taken from them.
//
// Threading: pure; one owner.

#include <array>
#include <cstdint>
#include <optional>

#include "cluster/fungible.h"
#include "core/clock.h"

namespace synergy::nodeagent {

class MemoryTold {
 public:
  // `told`: what the pod says already. A predecessor's is believed until it has grown old.
  explicit MemoryTold(const std::optional<MemoryReading>& told) : told_(told) {}

  // A look at the pod; what is to be written now, if anything.
  std::optional<MemoryReading> Next(const Fungible& fungible, Bytes in_use, bool node_short,
                                    WallTime now);

 private:
  Bytes Peak(Bytes in_use, WallTime now);

  struct Peaked {
    Bytes in_use;
    WallTime begin{};
  };

  std::optional<MemoryReading> told_;
  std::array<Peaked, 10> peaks_{};  // one a minute
  size_t newest_ = 0;
};

}  // namespace synergy::nodeagent
