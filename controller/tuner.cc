#include "controller/tuner.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "cluster/annotations.h"
#include "cluster/fit.h"
#include "core/wall_time.h"
#include "kube/pods.h"

namespace synergy::controller {
namespace {

// An announcement by a predecessor is not taken over before its own call can have come through.
constexpr Duration kGrace = std::chrono::seconds(5);

// What the pod would ask for at its floor, if that is less.
std::optional<ResourceVector> LessThanItAsksFor(const Pod& pod) {
  if (!pod.fungible) return std::nullopt;
  const ResourceVector least = LesserOf(pod.fungible->requested, pod.fungible->floor);
  if (least == pod.fungible->requested) return std::nullopt;
  return least;
}

}  // namespace

Tuner::Tuner(ClusterState& state, FindProfile find_profile, kube::ApiClient& client,
             const json::ObjectReader& reader, kube::EventRecorder& events, const Clock& clock,
             Logger& log, metrics::TunerMetrics& metrics, TunerOptions options)
    : state_(state),
      client_(client),
      reader_(reader),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      options_(std::move(options)),
      changes_(state, client, reader, events, clock, log, metrics, options_.changes),
      tenancies_(std::move(find_profile), changes_, events, clock, log, metrics, options_.round),
      next_round_(clock.Now() + options_.round) {}

std::vector<std::shared_ptr<const Pod>> Tuner::WaitingPods() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const Pod>> pods;
  pods.reserve(waiting_.size());
  for (const auto& [uid, waiting] : waiting_) pods.push_back(waiting.pod);
  return pods;
}

void Tuner::PodSeen(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  if (pod.terminal && !pod.node.empty() && pod.UsesGpus()) touched_.insert(pod.node);
  if (pod.terminal || pod.deleting || pod.gated || !pod.waiting || !pod.UsesGpus()) {
    waiting_.erase(pod.uid);
  } else {
    WaitingPod& waiting = waiting_[pod.uid];
    const bool was = waiting.pod && waiting.pod->waiting->unschedulable;
    if (!was) waiting.since = clock_.Now();
    waiting.pod = std::make_shared<const Pod>(pod);
  }
}

void Tuner::PodGone(const Pod& pod) {
  const std::lock_guard lock(mutex_);
  waiting_.erase(pod.uid);
  if (!pod.node.empty()) touched_.insert(pod.node);
}

void Tuner::PodsListed(const std::vector<Pod>& all) {
  {
    const std::lock_guard lock(mutex_);
    std::set<std::string> there;
    for (const Pod& pod : all) there.insert(pod.uid);
    std::erase_if(waiting_, [&](const auto& entry) { return !there.contains(entry.first); });
  }
  for (const Pod& pod : all) PodSeen(pod);
}

void Tuner::StartOver() {
  changes_.Forget();
  holds_.clear();
  attempts_.clear();
  reminders_.clear();
  tenancies_.StartOver();
  due_.clear();
  next_round_ = clock_.Now();
}

void Tuner::Step() {
  state_.DropStaleExpectations(clock_.Now(), clock_.WallNow());
  changes_.Advance();
  for (const PodChanges::Outcome& outcome : changes_.TakeOutcomes()) {
    {
      const std::lock_guard lock(mutex_);
      touched_.insert(outcome.node);
    }
    if (outcome.made) continue;
    tenancies_.LetRest(outcome.uid);
    // Without that cut the place is no place.
    for (const auto& [uid, hold] : std::map(holds_)) {
      if (hold.cuts.contains(outcome.uid)) GiveUp(uid, "given_up");
    }
  }
  EndHolds();
  MakeRoom();
  Divide();
  metrics_.SetUnderWay(changes_.size(), holds_.size());
}

void Tuner::EndHolds() {
  for (const auto& [uid, hold] : std::map(holds_)) {
    const std::shared_ptr<const Pod> pod = state_.FindPod(uid);
    if (!pod) {
      metrics_.CountHold("pod_gone");
      holds_.erase(uid);
    } else if (!pod->node.empty()) {
      GiveUp(uid, "bound");
    } else if (clock_.Now() >= hold.until) {
      GiveUp(uid, "given_up");
    } else if (std::none_of(hold.cuts.begin(), hold.cuts.end(),
                            [this](const std::string& cut) { return changes_.UnderWay(cut); })) {
      RemindOfRoom(*pod);
    }
  }
}

void Tuner::GiveUp(const std::string& uid, std::string_view outcome) {
  const Hold hold = holds_.at(uid);
  holds_.erase(uid);
  metrics_.CountHold(outcome);
  const std::shared_ptr<const Pod> pod = state_.FindPod(uid);
  if (!pod) return;
  const Result<Pod> answer =
      kube::AnnotatePod(client_, reader_, *pod, {{annotations::kHold, std::nullopt}});
  if (answer) {
    state_.RefreshPod(*answer);
  } else {
    log_.Warn("kept place not given up", {{"pod", pod->Key()}, {"error", answer.error().message}});
  }
  log_.Info("kept place ended", {{"pod", pod->Key()}, {"node", hold.node}, {"outcome", outcome}});
}

void Tuner::MakeRoom() {
  std::vector<WaitingPod> waiting;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [uid, pod] : waiting_) waiting.push_back(pod);
    const auto gone = [this](const auto& entry) { return !waiting_.contains(entry.first); };
    std::erase_if(attempts_, gone);
    std::erase_if(reminders_, gone);
  }
  std::erase_if(waiting, [this](const WaitingPod& entry) {
    const Pod& pod = *entry.pod;
    return !pod.waiting->unschedulable || pod.waiting->scheduler != options_.scheduler_name ||
           holds_.contains(pod.uid) || changes_.UnderWay(pod.uid);
  });
  std::sort(waiting.begin(), waiting.end(), [](const WaitingPod& a, const WaitingPod& b) {
    if (a.pod->priority != b.pod->priority) return a.pod->priority > b.pod->priority;
    return std::tie(a.since, a.pod->uid) < std::tie(b.since, b.pod->uid);
  });
  for (const WaitingPod& pod : waiting) {
    // Each takes calls of the API server, so that it may have been bound by the time of its turn.
    if (const std::optional<WaitingPod> present = FindWaiting(pod.pod->uid)) MakeRoomFor(*present);
  }
}

std::optional<Tuner::WaitingPod> Tuner::FindWaiting(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto it = waiting_.find(uid);
  if (it == waiting_.end()) return std::nullopt;
  return it->second;
}

void Tuner::MakeRoomFor(const WaitingPod& waiting) {
  const Pod& pod = *waiting.pod;
  Attempts& attempts = attempts_[pod.uid];
  const Instant now = clock_.Now();
  if (now < attempts.next) return;
  if (!pod.waiting->hold.empty() && pod.waiting->hold_until > clock_.WallNow()) {
    // Kept by a predecessor.
    const Duration left = pod.waiting->hold_until - clock_.WallNow();
    holds_[pod.uid] = {pod.waiting->hold, now + std::min(left, options_.hold), {}};
    return;
  }
  attempts.next =
      now + std::min(options_.retry * (1 << std::min(attempts.count, 10)), options_.round);
  if (const std::optional<ResourceVector> least = LessThanItAsksFor(pod)) {
    // kube-scheduler has to have looked again before others pay.
    if (changes_.Cut(pod, *least, ChangeKind::kReclaimed,
                     "it waits for CPU or memory and can do with less")) {
      attempts.next = now + std::chrono::seconds(1);
    } else {
      ++attempts.count;
    }
    return;
  }
  const auto snapshot = state_.Snapshot();
  const std::optional<RoomPlan> plan = CheapestRoom(*snapshot, pod, tenancies_);
  if (!plan) {
    // What it waits for may change at any time and looking costs little, so no backoff yet.
    attempts.next = now + std::chrono::seconds(1);
    FreePlaceFor(pod, *snapshot);
    return;
  }
  if (plan->amounts.empty()) {
    attempts.next = now + std::chrono::seconds(1);
    RemindOfRoom(pod);
    return;
  }
  reminders_.erase(pod.uid);
  ++attempts.count;
  metrics_.ObserveReclaimDelay(now - waiting.since);
  Reserve(pod, *snapshot, *plan);
}

void Tuner::RemindOfRoom(const Pod& pod) {
  Reminders& reminders = reminders_[pod.uid];
  const Instant now = clock_.Now();
  if (!reminders.next) reminders.next = now + options_.remind;
  if (now < *reminders.next) return;
  // Any change of a pod that an extender has rejected makes kube-scheduler try it again.
  const Result<Pod> answer = kube::AnnotatePod(
      client_, reader_, pod, {{annotations::kRoomSeen, ToTimeText(clock_.WallNow())}});
  ++reminders.count;
  reminders.next =
      now + std::min(options_.remind * (1 << std::min(reminders.count, 10)), options_.round);
  if (!answer) {
    log_.Warn("not reminded of room", {{"pod", pod.Key()}, {"error", answer.error().message}});
    return;
  }
  state_.RefreshPod(*answer);
  log_.Info("reminded of room", {{"pod", pod.Key()}, {"times", reminders.count}});
}

void Tuner::FreePlaceFor(const Pod& pod, const ClusterSnapshot& snapshot) {
  for (const auto& [uid, hold] : std::map(holds_)) {
    const auto place = snapshot.Find(hold.node);
    if (!place || !MayGoTo(pod, snapshot.node(*place))) continue;
    const NodeState& node = snapshot.node(*place);
    for (const auto& other : node.detail->pods) {
      if (other->uid != uid || other->priority >= pod.priority) continue;
      if (!CheckFit(pod, WithoutPod(node, *other)).none()) continue;
      GiveUp(uid, "given_up");
      return;
    }
  }
}

void Tuner::Reserve(const Pod& pod, const ClusterSnapshot& snapshot, const RoomPlan& plan) {
  const std::string& node = snapshot.node(plan.node).detail->name;
  const Result<Pod> kept = kube::AnnotatePod(
      client_, reader_, pod,
      {{annotations::kHold, json::WriteHold(node, clock_.WallNow() + options_.hold)}});
  if (!kept) {
    log_.Warn("place not kept", {{"pod", pod.Key()}, {"error", kept.error().message}});
    return;
  }
  state_.RefreshPod(*kept);
  Hold& hold = holds_[pod.uid];
  hold.node = node;
  hold.until = clock_.Now() + options_.hold;
  log_.Info("place kept", {{"pod", pod.Key()}, {"node", node}, {"cost", plan.cost}});
  for (size_t i = 0; i < plan.amounts.size(); ++i) {
    const Pod& peer = *plan.tenancy.pods[i];
    if (plan.amounts[i] == peer.fungible->requested) continue;
    if (!changes_.Cut(peer, plan.amounts[i], ChangeKind::kReclaimed,
                      fmt::format("room for {}", pod.Key()))) {
      GiveUp(pod.uid, "given_up");
      return;
    }
    hold.cuts.insert(peer.uid);
  }
}

void Tuner::Divide() {
  const Instant now = clock_.Now();
  const bool round = now >= next_round_;
  std::set<std::string> nodes;
  for (auto next = due_.begin(); next != due_.end();) {
    if (next->second > now) {
      ++next;
      continue;
    }
    nodes.insert(next->first);
    next = due_.erase(next);
  }
  {
    const std::lock_guard lock(mutex_);
    nodes.merge(std::exchange(touched_, {}));
  }
  if (!round && nodes.empty()) return;
  const auto snapshot = state_.Snapshot();
  if (round) {
    next_round_ = now + options_.round;
    metrics_.CountRound();
    TakeOverUnfinished(*snapshot);
  }
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (!node.exists || node.allocatable.gpus == Gpus(0)) continue;
    if (round || nodes.contains(node.detail->name)) DivideNode(node);
  }
}

void Tuner::TakeOverUnfinished(const ClusterSnapshot& snapshot) {
  const WallTime old = clock_.WallNow() - kGrace;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    for (const auto& pod : snapshot.node(index).detail->pods) {
      if (!pod->fungible || pod->deleting || pod->waiting || changes_.UnderWay(pod->uid)) continue;
      const Fungible& fungible = *pod->fungible;
      if (!fungible.change || fungible.ChangedByHand()) continue;
      const bool unfinished = fungible.Announced() || !fungible.Settled();
      if (fungible.Unrecorded() || (unfinished && fungible.change->at <= old)) {
        changes_.Adopt(*pod);
      }
    }
  }
}

void Tuner::DivideNode(const NodeState& node) {
  const std::string& name = node.detail->name;
  // What is under way, and whoever is expected, is waited for: its end brings us here again.
  if (changes_.UnderWayOn(name)) return;
  for (const auto& [uid, hold] : holds_) {
    if (hold.node == name) return;
  }
  const Tenancy tenancy = tenancies_.Of(node, TenancyUse::kDivide);
  if (tenancy.next_change) due_[name] = *tenancy.next_change;
  if (tenancy.tenants.empty()) return;
  const std::vector<ResourceVector> amounts = Regrow(tenancy.tenants, node.Free());

  double before = 0;
  double after = 0;
  bool one_gains = false;
  bool cuts = false;
  for (size_t i = 0; i < amounts.size(); ++i) {
    const Tenant& tenant = tenancy.tenants[i];
    const double had = NormalizedThroughput(tenant, tenant.current);
    const double has = NormalizedThroughput(tenant, amounts[i]);
    before += had;
    after += has;
    one_gains |= has >= had * (1 + options_.least_gain);
    cuts |= LargerOf(amounts[i], tenant.current) != amounts[i];
  }
  if (after <= before || (!one_gains && after < before * (1 + options_.least_gain))) return;

  for (size_t i = 0; i < amounts.size(); ++i) {
    const Tenant& tenant = tenancy.tenants[i];
    const Pod& pod = *tenancy.pods[i];
    if (amounts[i] == tenant.current) continue;
    if (cuts) {
      // Growth comes when the cuts are in force.
      const ResourceVector less = LesserOf(amounts[i], tenant.current);
      if (less != tenant.current) {
        changes_.Cut(pod, less, ChangeKind::kDivided,
                     fmt::format("worth more to others on node {}", name));
      }
      continue;
    }
    const double gain = NormalizedThroughput(tenant, amounts[i]) /
                        std::max(NormalizedThroughput(tenant, tenant.current), 1e-9);
    changes_.Grow(pod, amounts[i],
                  fmt::format("spare on node {}; {:.0f} % faster", name, (gain - 1) * 100));
  }
}

}  // namespace synergy::controller
