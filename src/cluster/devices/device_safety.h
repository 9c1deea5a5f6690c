#pragma once

// Decides whether a running pod's CPU and memory may be changed, or whether that may cost it its
// GPUs: any resize may remove devices that are not in a container's own specification
// (docs/internals/tuner.md). All programs use this decision: the tuner changes only what may be
// changed, the extender's preemption counts only on such surplus, and the command line shows the
// reason.
//
// The first of these that has a result decides:
//
//   a resize has taken the GPUs of any pod on the node                    lost
//   the node's label synergy.io/devices-safe                              safe or unsafe
//   the node agent's report on the pod (annotation synergy.io/devices)    safe, unsafe or unknown
//   none of these                                                         unknown
//
// The node agent reports a loss as `lost`. If the label is "true", a report of `unsafe` from a
// container that has been resized is a loss, too: the label was wrong.
//
// A pod without GPUs has nothing to lose. Until it is bound, every pod may be sized.
//
// Threading: pure.

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// `node`: the pod's node.
DeviceSafety DeviceSafetyOf(const Pod& pod, const NodeState& node);
// Does the same and adds the reason as text; the text may be empty if the devices are safe.
DeviceReading DevicesOf(const Pod& pod, const NodeState& node);

inline bool MayResize(const Pod& pod, const NodeState& node) {
  return DeviceSafetyOf(pod, node) == DeviceSafety::kSafe;
}

// Returns the worst result of the running pods on the node that Synergy manages; without such pods,
// what is known of the node itself.
DeviceSafety DeviceSafetyOf(const NodeState& node);

// Returns whether a resize has taken this pod's GPUs.
bool HasLostDevices(const Pod& pod, const NodeState& node);

// Returns whether the pod's report is a loss, or would be one under the label.
bool IsSuspect(const Pod& pod);

}  // namespace synergy
