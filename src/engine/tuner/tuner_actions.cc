#include "engine/tuner/tuner_actions.h"

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
  }
  return "unknown";
}

std::string_view ToString(TunerActionKind kind) {
  switch (kind) {
    case TunerActionKind::kKeepPlace:
      return "keep_place";
    case TunerActionKind::kEndPlace:
      return "end_place";
    case TunerActionKind::kRemind:
      return "remind";
    case TunerActionKind::kAnnounce:
      return "announce";
    case TunerActionKind::kResize:
      return "resize";
    case TunerActionKind::kRecord:
      return "record";
    case TunerActionKind::kWithdraw:
      return "withdraw";
    case TunerActionKind::kPutBack:
      return "put_back";
    case TunerActionKind::kTell:
      return "tell";
  }
  return "unknown";
}

bool IsUrgent(const TunerAction& action) {
  switch (action.kind) {
    case TunerActionKind::kKeepPlace:
    case TunerActionKind::kEndPlace:
    case TunerActionKind::kRemind:
    case TunerActionKind::kWithdraw:
    case TunerActionKind::kPutBack:
      return true;
    case TunerActionKind::kAnnounce:
    case TunerActionKind::kResize:
    case TunerActionKind::kRecord:
      return action.change.kind == ChangeKind::kReclaimed;
    case TunerActionKind::kTell:
      return false;
  }
  return false;
}

}  // namespace synergy
