#pragma once

// The actions that the tuner requests for pods. They are data, so that the controller can carry
// them out through the API server and the simulator in simulated time.
//
// Threading: values.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/fungible.h"
#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

// How a place that was kept for a waiting pod ended.
enum class PlaceEnd : uint8_t {
  kBound,    // the pod has a node
  kGivenUp,  // its time is over, a cut for it failed, or a pod of higher priority needs it
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

// Why a pod is left alone, or is served by other figures than it was admitted with.
enum class Respected : uint8_t { kByHand, kProfileChanged, kProfileGone, kDevices };
// "by_hand", "profile_changed", "profile_gone", "devices"
std::string_view ToString(Respected reason);

enum class TunerActionKind : uint8_t {
  kKeepPlace,  // write on the waiting pod that `node` is kept for it until `until`
  kEndPlace,   // remove that (not for kPodGone), and count `place_end`
  kRemind,     // write on the waiting pod that there is room, so that kube-scheduler retries it
  kAnnounce,   // write `change` on the pod before it is made
  kResize,     // request change.to
  kRecord,     // write `change` on the pod after it was made; repeated so that the kubelet looks
  kWithdraw,   // read the pod from the API server; if it announces `change`, write `before`
  kPutBack,    // write `change` (kUndone), then request change.to; counts `failure`
               // (both writes only for the dimensions in which change.to and change.from differ)
  kTell,       // an event on the pod: `respected`, `message`
};
std::string_view ToString(TunerActionKind kind);  // for logs: "keep_place", ...

struct TunerAction {
  TunerActionKind kind = TunerActionKind::kRecord;
  std::shared_ptr<const Pod> pod;  // as the decision saw it

  // kKeepPlace, kEndPlace
  std::string node;
  WallTime until{};
  Duration waited{};  // since the pod was seen Unschedulable
  double cost = 0;  // throughput that the place costs others, in units of one GPU at its fair share
  PlaceEnd place_end = PlaceEnd::kBound;

  // kAnnounce, kResize, kRecord, kWithdraw, kPutBack
  ChangeRecord change;
  ChangeRecord before;  // kWithdraw
  // Write only if the pod has not changed in any way since: it may have been bound, and the kubelet
  // may start it with the amounts of its bind.
  bool unchanged = false;
  // kWithdraw, kPutBack: the pod must not be cut before.
  std::optional<WallTime> unshrinkable_until;
  std::optional<ChangeFailure> failure;

  // kTell
  Respected respected = Respected::kByHand;
  std::string message;
};

// Whether a pod waits for the effect of the action. Such actions go before those that only make
// other pods faster.
bool IsUrgent(const TunerAction& action);

}  // namespace synergy
