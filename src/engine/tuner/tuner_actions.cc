#include "engine/tuner/tuner_actions.h"

#include "core/overloaded.h"

namespace synergy {

std::string_view ToString(PlaceEnd end) {
  switch (end) {
    case PlaceEnd::kBound:
      return "bound";
    case PlaceEnd::kGivenUp:
      return "given_up";
    case PlaceEnd::kPodGone:
      return "pod_gone";
  }
  return "unknown";
}

std::string_view ToString(ChangeFailure failure) {
  switch (failure) {
    case ChangeFailure::kRefused:
      return "refused";
    case ChangeFailure::kNoRoom:
      return "no_room";
    case ChangeFailure::kDeferred:
      return "deferred";
    case ChangeFailure::kInfeasible:
      return "infeasible";
    case ChangeFailure::kTimeout:
      return "timeout";
  }
  return "unknown";
}

std::string_view ToString(Respected reason) {
  switch (reason) {
    case Respected::kByHand:
      return "by_hand";
    case Respected::kProfileChanged:
      return "profile_changed";
    case Respected::kProfileGone:
      return "profile_gone";
    case Respected::kDevices:
      return "devices";
    case Respected::kDevicesLost:
      return "devices_lost";
  }
  return "unknown";
}

bool IsUrgent(const TunerAction& action) {
  return std::visit(Overloaded{[](const tuner_action::KeepPlace&) { return true; },
                               [](const tuner_action::EndPlace&) { return true; },
                               [](const tuner_action::Remind&) { return true; },
                               [](const tuner_action::ChangeStep& step) {
                                 return step.change.kind == ChangeKind::kReclaimed;
                               },
                               [](const tuner_action::Withdraw&) { return true; },
                               [](const tuner_action::PutBack&) { return true; },
                               [](const tuner_action::Notify&) { return false; }},
                    action.what);
}

}  // namespace synergy
