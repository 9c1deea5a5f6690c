#pragma once

// Lists the actions by which GangPreemption evicts pods for a gang. They are data, so that the
// controller can carry them out through the API server, and a test in a model of it.
//
// Threading: values.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/pod.h"
#include "core/clock.h"
#include "engine/gangs/preempting_gangs.h"

namespace synergy {

// How an attempt ended.
enum class PreemptionEnd : uint8_t {
  kBound,     // all members have nodes
  kInVain,    // victims did not leave, or the gang did not use the room
  kRefused,   // stopped before any eviction: for example, a dry run was refused
  kGangGone,  // a member no longer exists
  kYielded,   // a gang of higher priority got the room
};
std::string_view ToString(PreemptionEnd end);  // "bound", "in_vain", "refused", ...

namespace preemption_action {

// Writes on each pod that its node is kept for the pod until `until`.
struct KeepPlaces {
  std::vector<PlannedPlace> places;
  WallTime until{};
};

// Removes what KeepPlaces has written. A failure needs no retry, because the places expire.
struct EndPlaces {
  std::vector<std::shared_ptr<const Pod>> pods;
};

// Dry-runs the eviction of each pod. A pod that no longer exists needs no dry run.
struct TryEvictions {
  std::vector<std::shared_ptr<const Pod>> pods;
};

struct Evict {
  std::vector<std::shared_ptr<const Pod>> pods;
};

// Records that the eviction of all victims begins.
struct Begin {
  size_t victims = 0;
};

// Records how the attempt ended.
struct End {
  PreemptionEnd end = PreemptionEnd::kBound;
  std::string why;  // empty if the gang was bound
  size_t victims = 0;
};

}  // namespace preemption_action

struct PreemptionAction {
  using What = std::variant<preemption_action::KeepPlaces, preemption_action::EndPlaces,
                            preemption_action::TryEvictions, preemption_action::Evict,
                            preemption_action::Begin, preemption_action::End>;

  std::shared_ptr<const WaitingGang> gang;
  What what;
};

// The API server's answer to an action.
struct PreemptionResult {
  bool done = true;
  std::string why = {};                                  // why it was not done
  std::vector<std::shared_ptr<const Pod>> refused = {};  // Evict: the pods to try again
};

}  // namespace synergy
