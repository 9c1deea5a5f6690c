#include "extender/gangs/lost_members.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "kube/deadline.h"

namespace synergy::extender {
namespace {

constexpr Duration kLongestLook = std::chrono::seconds(2);

}  // namespace

void LostMembers::Look() {
  const std::vector<Reservation> places = state_.Reservations(ReservationKind::kReplacement);
  std::map<std::string, Reservation> before = std::exchange(held_, {});
  if (places.empty() && before.empty()) return;
  std::optional<kube::Deadline> deadline;  // starts a thread, which most looks do not need
  for (const Reservation& place : places) {
    before.erase(place.pod->uid);
    if (!place.settled && !deadline) deadline.emplace(clock_, kLongestLook);
    if (place.settled || Settle(place, deadline->token())) held_.emplace(place.pod->uid, place);
  }
  for (const auto& [uid, place] : before) ReportEnd(place);
}

bool LostMembers::Settle(const Reservation& place, const std::stop_token& stop) {
  const Pod& pod = *place.pod;
  const Result<Pod> found = pods_.Get(pod.pod_namespace, pod.name, stop);
  const bool is_gone = found ? found->uid != pod.uid : found.error().code == ErrorCode::kNotFound;
  // The pod is alive, and the watch will report it.
  if (!is_gone && !(found && found->terminal)) return false;
  const bool has_succeeded = !is_gone && found->succeeded;
  state_.SettleReplacement(pod.uid, !has_succeeded);
  if (has_succeeded) {
    metrics_.CountVacantPlace("succeeded");
    return false;
  }
  metrics_.CountVacantPlace("held");
  log_.Info("a gang's member is lost: its place is reserved for its replacement",
            {{"gang", place.gang}, {"pod", pod.Key()}, {"node", pod.node}});
  const auto left = std::chrono::ceil<std::chrono::seconds>(place.until - clock_.Now());
  RecordEvent(
      place, "Normal",
      fmt::format(
          "its place on node {} is reserved for its replacement, for at most {} s: gang {} runs",
          pod.node, std::max<int64_t>(left.count(), 0), place.gang));
  return true;
}

void LostMembers::ReportEnd(const Reservation& place) {
  size_t there = state_.ReplacementsOf(place.gang).size();
  size_t size = 0;
  bool runs = false;
  for (const GangMember& member : state_.GangMembers(place.gang)) {
    runs |= member.placed && member.pod->UsesGpus();
    if (!member.node.empty() || !member.pod->UsesGpus()) ++there;
    size = static_cast<size_t>(member.pod->gang->size);
  }
  const bool is_late = runs && place.until <= clock_.Now();
  const std::string_view outcome = !runs           ? "gang_ended"
                                   : is_late       ? "expired"
                                   : there >= size ? "filled"
                                                   : "yielded";
  metrics_.CountVacantPlace(outcome);
  log_.Info("a place of a gang's lost member is no longer reserved", {{"gang", place.gang},
                                                                      {"pod", place.pod->Key()},
                                                                      {"node", place.pod->node},
                                                                      {"outcome", outcome}});
  if (!is_late) return;
  RecordEvent(place, "Warning",
              fmt::format("no replacement came in time: its place on node {} is released",
                          place.pod->node));
}

void LostMembers::RecordEvent(const Reservation& place, std::string_view type,
                              std::string message) {
  events_.Record(
      kube::AboutPod(*place.pod, std::string(type), "SynergyPlaceHeld", std::move(message)));
}

}  // namespace synergy::extender
