#include "sim/cluster/drivers/tuner_driver.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace synergy {

TunerDriver::TunerDriver(const TunerSettings& settings, const ProfileCatalog& profiles,
                         const StorageCatalog* storage, ClusterState& state, SimulatedPods& pods,
                         Resized resized, Faults& faults, Moment at)
    : tuner_(settings, profiles, storage),
      memory_(Tuner::StartOver(at)),
      state_(state),
      pods_(pods),
      resized_(std::move(resized)),
      faults_(faults),
      wake_(at.now) {
  state_.KeepNews();
}

void TunerDriver::Run(Moment at) {
  if (!late_.empty()) {
    if (at.now < wake_) return;
    Carry(std::exchange(late_, {}), at);
    wake_ = at.now;
  }
  ClusterNews news = state_.TakeNews();
  if (news.pods.empty() && at.now < wake_) return;
  while (true) {
    for (const PodNews& item : news.pods) tuner_.Observe(memory_, item, at);
    const TunerPlan plan = tuner_.Plan(*news.snapshot, memory_, at);
    wake_ = plan.wake;
    rounds_ += plan.round ? 1 : 0;
    if (plan.actions.empty()) return;
    ++decisions_;
    if (const Duration delay = faults_.CallDelay(); delay > Duration::zero()) {
      late_ = plan.actions;
      wake_ = at.now + delay;
      return;
    }
    Carry(plan.actions, at);
    news = state_.TakeNews();
  }
}

void TunerDriver::SetReservations(std::vector<GpuReservation> reservations, Instant now) {
  if (reservations == memory_.reservations) return;
  tuner_.ObserveReservations(memory_, std::move(reservations));
  if (late_.empty()) wake_ = std::min(wake_, std::max(tuner_.ReservationsDue(memory_), now));
}

void TunerDriver::Carry(const std::vector<TunerAction>& actions, Moment at) {
  for (const TunerAction& action : actions) {
    tuner_.OnResult(memory_, action, !faults_.CallFails() && Do(action), at);
  }
}

bool TunerDriver::Do(const TunerAction& action) {
  return std::visit([&](const auto& what) { return Do(*action.pod, what); }, action.what);
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::KeepPlace& place) {
  return pods_.Write(pod.uid, [&](SimulatedPod& waiting) {
    waiting.waiting.kept_node = place.node;
    waiting.waiting.kept_until = place.until;
  });
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::EndPlace& place) {
  return place.end == PlaceEnd::kPodGone || pods_.Write(pod.uid, [](SimulatedPod& waiting) {
    waiting.waiting.kept_node.clear();
    waiting.waiting.kept_until = {};
  });
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::Remind&) {
  return pods_.Write(pod.uid, [](SimulatedPod&) {});
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::Announce& step) {
  return IsWritable(pod, step) && Record(pod, step.change, std::nullopt);
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::Record& step) {
  return IsWritable(pod, step) && Record(pod, step.change, std::nullopt);
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::Resize& step) {
  return IsWritable(pod, step) && Resize(pod, step.change);
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::Withdraw& step) {
  return IsWritable(pod, step) && pods_.Write(pod.uid, [&](SimulatedPod& written) {
    if (!written.fungible || !written.fungible->change) return;
    if (*written.fungible->change == step.change) written.fungible->change = step.before;
    if (step.unshrinkable_until) written.fungible->unshrinkable_until = step.unshrinkable_until;
  });
}

bool TunerDriver::Do(const Pod& pod, const tuner_action::PutBack& step) {
  return Record(pod, step.change, step.unshrinkable_until) && Resize(pod, step.change);
}

bool TunerDriver::Do(const Pod&, const tuner_action::Notify&) {
  return true;  // the events have no reader
}

bool TunerDriver::IsWritable(const Pod& pod, const tuner_action::ChangeStep& step) const {
  const SimulatedPod* const now = pods_.Find(pod.uid);
  return now != nullptr && (!step.unchanged || now->resource_version == pod.resource_version);
}

bool TunerDriver::Record(const Pod& pod, const ChangeRecord& change,
                         std::optional<WallTime> unshrinkable_until) {
  return pods_.Write(pod.uid, [&](SimulatedPod& written) {
    if (!written.fungible) return;
    written.fungible->change = change;
    written.fungible->announced_until = WallTime::max();  // no other writer
    if (unshrinkable_until) written.fungible->unshrinkable_until = unshrinkable_until;
  });
}

bool TunerDriver::Resize(const Pod& pod, const ChangeRecord& change) {
  const bool written = pods_.Write(pod.uid, [&](SimulatedPod& resized) {
    ManagedContainer& fungible = *resized.fungible;
    fungible.requested = change.to;
    fungible.resized_by_us_alone = true;
    // Use the requests until a kubelet reports otherwise.
    if (!fungible.reported) fungible.in_force = fungible.set_aside = fungible.requested;
  });
  if (written && !pods_.Find(pod.uid)->waits()) resized_(pod.uid);
  return written;
}

}  // namespace synergy
