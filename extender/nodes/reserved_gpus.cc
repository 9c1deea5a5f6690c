#include "extender/nodes/reserved_gpus.h"

#include <algorithm>
#include <utility>

namespace synergy::extender {

void ReservedGpus::Replace(std::vector<wire::PodTimes> all) {
  std::map<std::string, PublishedReservation> reservations;
  std::map<std::string, Duration> longest;
  for (wire::PodTimes& pod : all) {
    if (const auto bound = pod.Bound()) longest.emplace(pod.uid, *bound);
    if (pod.reservation) reservations.emplace(pod.uid, *std::move(pod.reservation));
  }
  const std::lock_guard lock(mutex_);
  reservations_.swap(reservations);
  longest_.swap(longest);
}

void ReservedGpus::Upsert(wire::PodTimes pod) {
  const std::lock_guard lock(mutex_);
  Forget(pod.uid);
  if (const auto bound = pod.Bound()) longest_.emplace(pod.uid, *bound);
  if (pod.reservation) reservations_.emplace(pod.uid, *std::move(pod.reservation));
}

void ReservedGpus::Remove(const wire::PodTimes& pod) {
  const std::lock_guard lock(mutex_);
  Forget(pod.uid);
}

void ReservedGpus::Forget(const std::string& uid) {
  reservations_.erase(uid);
  longest_.erase(uid);
}

std::map<std::string_view, const PublishedReservation*> ReservedGpus::Holding(WallTime now) const {
  std::map<std::string_view, const PublishedReservation*> holding;
  for (const auto& [uid, reservation] : reservations_) {
    if (reservation.until <= now) continue;
    // All pods of a gang carry the reservation. While it is being rewritten, the newest one counts.
    const PublishedReservation*& newest = holding[reservation.job];
    if (newest == nullptr || newest->until < reservation.until) newest = &reservation;
  }
  return holding;
}

std::optional<PassingTerms> ReservedGpus::TermsFor(
    const Pod& pod, const std::function<std::optional<Duration>()>& longest_run) const {
  if (!pod.UsesGpus() || !IsSubjectToReservations(pod)) return std::nullopt;
  const Moment at = clock_.Present();
  PassingTerms terms{.reservations = {},
                     .gpus = pod.requests.main.gpus,
                     .largest = pod.requests.main.gpus,
                     .longest = std::nullopt,
                     .now = at.now};
  const std::lock_guard lock(mutex_);
  for (const auto& [job, reservation] : Holding(at.wall))
    terms.reservations.push_back(ToReservation(*reservation, at));
  if (terms.reservations.empty()) return std::nullopt;
  terms.longest = longest_run();
  // The run time from the annotation comes from the watch, which reports the annotation's writer.
  // kube-scheduler's requests do not.
  if (const auto own = longest_.find(pod.uid); own != longest_.end())
    terms.longest = std::min(terms.longest.value_or(own->second), own->second);
  if (!pod.IsOfGang()) return terms;
  for (const GangMember& member : state_.GangMembers(pod.gang->name)) {
    if (member.placed || !member.pod->UsesGpus() || member.pod->uid == pod.uid) continue;
    const Gpus gpus = member.pod->requests.main.gpus;
    terms.gpus += gpus;
    terms.largest = std::max(terms.largest, gpus);
    const auto longest = longest_.find(member.pod->uid);
    if (longest == longest_.end()) terms.longest.reset();
    if (terms.longest) terms.longest = std::max(*terms.longest, longest->second);
  }
  return terms;
}

size_t ReservedGpus::count() const {
  const std::lock_guard lock(mutex_);
  return Holding(clock_.WallNow()).size();
}

}  // namespace synergy::extender
