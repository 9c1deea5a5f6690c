#include "sim/cluster/tuner_driver.h"

#include <utility>

namespace synergy {

TunerDriver::TunerDriver(const TunerSettings& settings, const ProfileBook& profiles,
                         ClusterState& state, SimulatedPods& pods, Resized resized, Faults& faults,
                         Moment at)
    : tuner_(settings, profiles),
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
    for (const PodNews& item : news.pods) tuner_.Hear(memory_, item, at);
    const TunerDecision decision = tuner_.Decide(*news.snapshot, memory_, at);
    wake_ = decision.wake;
    rounds_ += decision.round ? 1 : 0;
    if (decision.actions.empty()) return;
    ++decisions_;
    if (const Duration delay = faults_.CallDelay(); delay > Duration::zero()) {
      late_ = decision.actions;
      wake_ = at.now + delay;
      return;
    }
    Carry(decision.actions, at);
    news = state_.TakeNews();
  }
}

void TunerDriver::Carry(const std::vector<TunerAction>& actions, Moment at) {
  for (const TunerAction& action : actions) {
    tuner_.Learn(memory_, action, !faults_.CallFails() && Do(action), at);
  }
}

bool TunerDriver::Do(const TunerAction& action) {
  const auto record = [&action](SimulatedPod& pod) {
    if (!pod.fungible) return;
    pod.fungible->change = action.change;
    pod.fungible->announced_until = WallTime::max();  // nobody else writes here
    if (action.unshrinkable_until) pod.fungible->unshrinkable_until = action.unshrinkable_until;
  };
  switch (action.kind) {
    case TunerActionKind::kKeepPlace:
      return Write(action, [&action](SimulatedPod& pod) {
        pod.waiting.kept_node = action.node;
        pod.waiting.kept_until = action.until;
      });
    case TunerActionKind::kEndPlace:
      return action.place_end == PlaceEnd::kPodGone || Write(action, [](SimulatedPod& pod) {
               pod.waiting.kept_node.clear();
               pod.waiting.kept_until = {};
             });
    case TunerActionKind::kRemind:
      return Write(action, [](SimulatedPod&) {});
    case TunerActionKind::kAnnounce:
    case TunerActionKind::kRecord:
      return Write(action, record);
    case TunerActionKind::kResize:
      return Resize(action);
    case TunerActionKind::kWithdraw:
      return Write(action, [&action](SimulatedPod& pod) {
        if (!pod.fungible || !pod.fungible->change) return;
        if (*pod.fungible->change == action.change) pod.fungible->change = action.before;
        if (action.unshrinkable_until) pod.fungible->unshrinkable_until = action.unshrinkable_until;
      });
    case TunerActionKind::kPutBack:
      return Write(action, record) && Resize(action);
    case TunerActionKind::kTell:
      return true;  // nobody reads the events
  }
  return false;
}

bool TunerDriver::Write(const TunerAction& action, const SimulatedPods::Change& change) {
  const SimulatedPod* const pod = pods_.Find(action.pod->uid);
  if (pod == nullptr) return false;
  if (action.unchanged && pod->resource_version != action.pod->resource_version) return false;
  return pods_.Write(action.pod->uid, change);
}

bool TunerDriver::Resize(const TunerAction& action) {
  const bool written = Write(action, [&action](SimulatedPod& pod) {
    Fungible& fungible = *pod.fungible;
    fungible.requested = action.change.to;
    fungible.resized_by_us_alone = true;
    // Before a kubelet says otherwise, what is asked for counts.
    if (!fungible.reported) fungible.in_force = fungible.set_aside = fungible.requested;
  });
  if (written && !pods_.Find(action.pod->uid)->waits()) resized_(action.pod->uid);
  return written;
}

}  // namespace synergy
