#pragma once

// The actions that the tuner requests for pods. They are data, so that the controller can carry
// them out through the API server, and the simulator in simulated time.
//
// Threading: values.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

// How a place kept for a waiting pod ended.
enum class PlaceEnd : uint8_t {
  kBound,    // the pod has a node
  kGivenUp,  // it timed out, a cut for it failed, or a pod of higher priority needs it
  kPodGone,
};
std::string_view ToString(PlaceEnd end);  // "bound", "given_up", "pod_gone"

// Why a change failed.
enum class ChangeFailure : uint8_t {
  kRefused,     // by the API server, or by the kubelet while it tried
  kNoRoom,      // when an announced growth was to be made
  kDeferred,    // by the kubelet
  kInfeasible,  // permanently, by the kubelet or the API server
  kTimeout,
};
std::string_view ToString(ChangeFailure failure);  // "refused", "no_room", "deferred", ...

// Why a pod is left alone, or handled with figures other than those at its admission.
enum class Respected : uint8_t { kByHand, kProfileChanged, kProfileGone, kDevices, kDevicesLost };
// "by_hand", "profile_changed", "profile_gone", "devices", "devices_lost"
std::string_view ToString(Respected reason);

namespace tuner_action {

// Writes on the waiting pod that `node` is kept for the pod until `until`.
struct KeepPlace {
  std::string node;
  WallTime until{};
  Duration waited{};  // since the pod was seen Unschedulable
  double cost = 0;    // other pods' lost throughput, in units of one GPU at its fair share
};

// Removes what KeepPlace has written, unless the pod is gone, and counts `end`.
struct EndPlace {
  std::string node;
  PlaceEnd end = PlaceEnd::kBound;
};

// Writes on the waiting pod that there is room, so that kube-scheduler retries it.
struct Remind {};

struct ChangeStep {
  ChangeRecord change;
  // Write only if the pod has not changed since the plan: it may have been bound, and the kubelet
  // may start it with the amounts from its bind.
  bool unchanged = false;
};

// Writes `change` on the pod before it is made.
struct Announce : ChangeStep {};

// Requests change.to.
struct Resize : ChangeStep {};

// Writes `change` on the pod after the resize. Writing it again makes the kubelet look at the pod.
struct Record : ChangeStep {};

// Reads the pod from the API server. If the pod announces `change`, writes `before` instead.
struct Withdraw : ChangeStep {
  ChangeRecord before;
  std::optional<WallTime> unshrinkable_until;  // the pod must not be cut before this
  std::optional<ChangeFailure> failure;        // the failure to count
};

// Writes `change` (kUndone), then requests change.to, both only for the dimensions in which
// change.to and change.from differ; counts `failure`.
struct PutBack {
  ChangeRecord change;
  std::optional<WallTime> unshrinkable_until;  // the pod must not be cut before this
  ChangeFailure failure = ChangeFailure::kRefused;
};

// Records an event on the pod, and for kDevicesLost also on its node.
struct Notify {
  Respected reason = Respected::kByHand;
  std::string message;
};

}  // namespace tuner_action

struct TunerAction {
  using What = std::variant<tuner_action::KeepPlace, tuner_action::EndPlace, tuner_action::Remind,
                            tuner_action::Announce, tuner_action::Resize, tuner_action::Record,
                            tuner_action::Withdraw, tuner_action::PutBack, tuner_action::Notify>;

  std::shared_ptr<const Pod> pod;  // as the plan saw it
  What what;
};

// Returns whether a pod waits for the effect of the action. Such actions precede those that only
// make other pods faster.
bool IsUrgent(const TunerAction& action);

}  // namespace synergy
