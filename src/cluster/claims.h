#pragma once

// Claims of pods on a node's CPU, memory and GPUs beyond their requests: the place kept for a
// waiting pod, and the growth announced for a running one. They are annotations, which every user
// who may patch pods can write. So a claim counts only
//
//   on pods that Synergy manages   its scheduler's, with GPUs, not ended, without scheduling gates
//   if Synergy wrote it            metadata.managedFields names its field manager as the writer; an
//                                  admission policy of the chart keeps others from using that name
//   for a while                    ClaimRules::longest() after the API server recorded the write
//   if it fits                     the pod with its claim is no larger than the node
//
// The reader of pods (wire/pods/claims.cc) checks the first three conditions, and pod_records.h the
// last. Pods that Synergy does not manage are not changed, either: they have no ManagedContainer.
//
// Threading: values.

#include <chrono>
#include <string>

#include "core/clock.h"

namespace synergy {

inline constexpr const char* kDefaultSchedulerName = "synergy-scheduler";
// How long the tuner keeps a place for a waiting pod.
inline constexpr std::chrono::milliseconds kDefaultHold{60000};

struct ClaimRules {
  std::string scheduler_name = kDefaultSchedulerName;
  Duration hold = kDefaultHold;

  Duration longest() const { return 2 * hold; }
};

}  // namespace synergy
