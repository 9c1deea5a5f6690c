#pragma once

// What the tuner asks to be done to pods: data, so that the controller can do
// it through the API server and the simulator in simulated time.
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
  kGivenUp,  // its time is over, a cut for it failed, or a pod of higher priority needs the place
  kPodGone,
};
std::string_view ToString(PlaceEnd end);  // "bound", "given_up", "pod_gone"

// Why a change did not come about.
enum class ChangeFailure : uint8_t {
  kRefused,     // by the API server, or by the kubelet while it tried
  kNoRoom,      // any more, when an announced growth was to be made
  kDeferred,    // by the kubelet
  kInfeasible,  // by the kubelet or the API server, for good
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
  kRemind,     // write on the waiting pod that there is room, so that kube-scheduler tries it again
  kAnnounce,   // write `change` on the pod before it is made
  kResize,     // ask for change.to
  kRecord,     // write `change` on the pod after it was made; a repetition makes the kubelet look
  kWithdraw,   // see what the API server says; if `change` is announced there, write `before`
  kPutBack,    // write `change` (kUndone), then ask for change.to; counts `failure`
               // (of both, only the dimensions in which change.to differs from change.from)
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
  double cost = 0;  // throughput that the place costs others, in units of a GPU's at its fair share
  PlaceEnd place_end = PlaceEnd::kBound;

  // kAnnounce, kResize, kRecord, kWithdraw, kPutBack
  ChangeRecord change;
  ChangeRecord before;  // kWithdraw
  // Refuse the write if the pod has changed in any way since: it may have been bound, and the
  // kubelet may start it with what it was bound with.
  bool unchanged = false;
  // kWithdraw, kPutBack: the pod is not to be cut before.
  std::optional<WallTime> unshrinkable_until;
  std::optional<ChangeFailure> failure;

  // kTell
  Respected respected = Respected::kByHand;
  std::string message;
};

// Whether somebody waits for what the action does, so that it goes before what only makes others
// faster.
bool IsUrgent(const TunerAction& action);

}  // namespace synergy
