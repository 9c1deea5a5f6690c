#pragma once

// Studies how a training uses memory, from repeated reports of the node's agent about one pod
// (docs/internals/profiling.md). It finds how much memory the processes need, how much the training
// reads, and how much storage delivers while the pod waits for storage.
//
// It is known whether more memory helps once two conditions are met. The printed epochs have
// revealed the size of the data set, and the misses match the model's (cache_model.h) for a cache
// of that size. The model does not describe a pod whose reads hit a cache charged to another pod.
// So nothing is concluded from such a pod, nor from one whose storage other pods of the node read.
// The peak of its processes' memory is `confirmed` after an hour, or once a checkpoint, which
// usually causes the peak, was written while the pod was watched.
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

  bool shared = false;  // other pods read the same storage
  std::optional<Mark> first;
  std::optional<Mark> last;
  std::optional<Mark> window;          // start of the present window
  std::optional<WallTime> checkpoint;  // the first checkpoint written since `first`
  std::optional<double> epoch;
  // The first and the last time that the epoch was seen to increase.
  std::optional<EpochMark> epochs_from;
  std::optional<EpochMark> epochs_to;
  // Values from the last complete window.
  std::optional<double> missed;  // fraction of the bytes read that came from storage
  bool waits = false;            // waits for storage most of the time
  // Bytes per second: the most that storage delivered in any window.
  double bandwidth = 0;
};

// Processes a report. If the pod's counters have restarted, the study restarts, too.
void Note(MemoryStudy& study, const PodProgress& progress);

// Returns nullopt if too little is known.
std::optional<MeasuredMemory> MemoryOf(const MemoryStudy& study);

// Returns the larger of each value; bytes_per_iteration is that of `known` if `known` has a data
// set, otherwise that of `seen`. `seen` comes from another pod, or a later time, than `known`.
MeasuredMemory Combined(const MeasuredMemory& known, const MeasuredMemory& seen);

// Returns whether they differ by more than repeated measurements do.
bool Differ(const MeasuredMemory& a, const MeasuredMemory& b, double agreement);

}  // namespace synergy
