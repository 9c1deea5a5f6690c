#pragma once

// Decides whether a running pod's CPU and memory may be changed, or whether that may cost it its
// GPUs: any resize may remove devices that are not in a container's own specification
// (docs/internals/tuner.md). All programs use this decision: the tuner changes only what may be
// changed, the extender's preemption counts only on such surplus, and the command line shows the
// reason.
//
// The first of these that has a result decides:
//
//   the node agent has seen a resize take a device away on that node      lost (not reported yet)
//   the node's label synergy.io/devices-safe                              safe or unsafe
//   the node agent's report on the pod (annotation synergy.io/devices)    safe, unsafe or unknown
//   none of these                                                         unknown
//
// A pod without GPUs has nothing to lose. Until it is bound, every pod may be sized.
//
// Threading: pure.

#include "cluster/labels.h"
#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// `node`: the labels of the pod's node.
DeviceSafety DeviceSafetyOf(const Pod& pod, const Labels& node);
// Does the same and adds the reason as text; the text may be empty if the devices are safe.
DeviceReading DevicesOf(const Pod& pod, const Labels& node);

inline bool MayResize(const Pod& pod, const Labels& node) {
  return DeviceSafetyOf(pod, node) == DeviceSafety::kSafe;
}

// Returns the worst result of the running pods on the node that Synergy manages; without such pods,
// what is known of the node itself.
DeviceSafety DeviceSafetyOf(const NodeDetail& node);

}  // namespace synergy
