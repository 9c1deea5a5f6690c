#pragma once

// What a training does with memory, from what the agent of its node tells of one pod again and
// again (docs/profiling.md): how much its processes need, how much it reads, and what storage
// delivers while it waits for it.
//
// That more memory helps is known as soon as the epochs that it prints have said how large the data
// set is, and what it misses is what a cache of its size misses by the model (cache_model.h). A pod
// whose reads hit a cache that is charged to another pod does not fit that, so that nothing is
// concluded from it, nor from one whose storage other pods of the node read. That it needs no more
// than its processes and its data is `confirmed` once a checkpoint was written while the pod was
// watched, which is what raises the peak of its processes' memory as a rule, or after an hour.
//
// Threading: values, pure functions.

#include <optional>

#include "core/clock.h"
#include "profile/measured/measured_profile.h"
#include "profile/pod_progress.h"

namespace synergy {

struct MemoryStudy {
  struct Mark {
    MemoryUse use;
    double iterations = 0;
  };
  struct EpochMark {
    double epoch = 0;
    double read = 0;
  };

  bool shared = false;  // its storage was, with other pods
  std::optional<Mark> first;
  std::optional<Mark> last;
  std::optional<Mark> window;          // where the present one begins
  std::optional<WallTime> checkpoint;  // the first that it wrote since then
  std::optional<double> epoch;
  // The first and the last time that the epoch was seen to rise.
  std::optional<EpochMark> epochs_from;
  std::optional<EpochMark> epochs_to;
  // Of the last whole window.
  std::optional<double> missed;  // of the bytes that were read, the part that came from storage
  bool waits = false;            // for storage, most of the time
  // Bytes a second: the most that storage delivered in a window.
  double bandwidth = 0;
};

// What is told of the pod now. One that counts anew is studied anew.
void Note(MemoryStudy& study, const PodProgress& progress);

// None: not known well enough.
std::optional<MeasuredMemory> MemoryOf(const MemoryStudy& study);

// What `known` says, and `seen` of another pod or of later: the larger of each.
MeasuredMemory Joined(const MeasuredMemory& known, const MeasuredMemory& seen);

// Whether they differ by more than measurements do.
bool Differ(const MeasuredMemory& a, const MeasuredMemory& b, double agreement);

}  // namespace synergy
