#include "sim/cluster/scheduling_queue.h"

#include <algorithm>
#include <utility>

#include "cluster/node_selection.h"

namespace synergy {
namespace {

// Returns whether the outcome for one pod also applies to the other.
bool Alike(const Pod& a, const Pod& b) {
  if (!(a.requests == b.requests) || a.priority != b.priority || a.gpu_product != b.gpu_product ||
      a.tolerates_unschedulable != b.tolerates_unschedulable || a.gang != b.gang) {
    return false;
  }
  const auto& one = a.waiting->selection;
  const auto& other = b.waiting->selection;
  return one == other || (one && other && *one == *other);
}

}  // namespace

void SchedulingQueue::Add(const Pod& pod, Instant now, const std::string& likeness) {
  auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& known) {
    return known.likeness == likeness && Alike(known.model, pod);
  });
  if (kind == kinds_.end()) kind = kinds_.insert(kind, Kind{.model = pod, .likeness = likeness});
  // Resets a kind without pods, but keeps the version at which its nodes were last searched.
  if (kind->turns.empty()) {
    *kind = Kind{.model = pod, .likeness = likeness, .looked_at = kind->looked_at};
  }
  Member member{.kind = &*kind, .turn = {pod.priority, now, ++numbers_, pod.uid}};
  member.joined = kind->passes;
  member.active = true;
  kind->turns.insert(member.turn);
  active_.insert(member.turn);
  members_.insert_or_assign(pod.uid, std::move(member));
}

void SchedulingQueue::Remove(const std::string& uid) {
  const auto it = members_.find(uid);
  if (it == members_.end()) return;
  Kind* const kind = it->second.kind;
  active_.erase(it->second.turn);
  kind->turns.erase(it->second.turn);
  members_.erase(it);
  // No pod of that gang, or of that likeness, comes again.
  if (kind->turns.empty() && (kind->model.gang || !kind->likeness.empty())) {
    kinds_.remove_if([kind](const Kind& known) { return &known == kind; });
  }
}

void SchedulingQueue::WakeAll() {
  for (Kind& kind : kinds_) kind.woken = true;
}

void SchedulingQueue::LookAgain() {
  WakeAll();
  for (Kind& kind : kinds_) kind.looked_at = 0;
}

void SchedulingQueue::Wake(const std::string& uid) {
  const auto it = members_.find(uid);
  if (it == members_.end() || it->second.active) return;
  it->second.active = true;
  active_.insert(it->second.turn);
}

Instant SchedulingQueue::BackoffEnds(const Member& member) {
  const uint32_t attempts = member.attempts + (member.kind->passes - member.joined);
  if (attempts == 0) return Instant::min();
  const Instant last =
      std::max(member.last_attempt,
               member.kind->passes > member.joined ? member.kind->last_pass : Instant::min());
  const Duration backoff = kFirstBackoff * (1 << std::min<uint32_t>(attempts - 1, 10));
  return last + std::min<Duration>(backoff, kMostBackoff);
}

std::optional<SchedulingQueue::Candidate> SchedulingQueue::Next(Instant now) {
  // Pods in backoff come after all others, in the order in which their backoffs end.
  using Order = std::tuple<bool, Instant, Turn>;
  std::optional<Order> best;
  Candidate candidate;
  const auto consider = [&](const Turn& turn) {
    const Member& member = members_.at(turn.uid);
    const Instant ends = BackoffEnds(member);
    const bool backs_off = ends > now;
    Order order{backs_off, backs_off ? ends : Instant::min(), turn};
    if (!best || order < *best) {
      best = std::move(order);
      candidate = {turn.uid, member.kind};
    }
    return backs_off;
  };
  for (Kind& kind : kinds_) {
    if (kind.turns.empty()) {
      kind.woken = false;
      continue;
    }
    if (!kind.woken) kind.woken = RestEnds(kind) <= now;
    if (kind.woken) consider(*kind.turns.begin());
  }
  for (const Turn& turn : active_) {
    if (!consider(turn)) break;  // later turns come after this one
  }
  if (!best) return std::nullopt;
  return candidate;
}

void SchedulingQueue::Failed(const Candidate& candidate, Instant now) {
  const auto it = members_.find(candidate.uid);
  if (it == members_.end()) return;
  Member& member = it->second;
  Kind& kind = *member.kind;
  if (kind.woken && *kind.turns.begin() == member.turn) {
    kind.woken = false;
    ++kind.passes;
    kind.last_pass = now;
    active_.erase(member.turn);
    member.active = false;
    return;
  }
  active_.erase(member.turn);
  member.kind->turns.erase(member.turn);
  member.active = false;
  member.turn.since = now;
  ++member.attempts;
  member.last_attempt = now;
  member.kind->turns.insert(member.turn);
}

Instant SchedulingQueue::RestEnds(const Kind& kind) const {
  const Member& first = members_.at(kind.turns.begin()->uid);
  if (first.active) return Instant::max();
  return std::max(first.last_attempt, kind.last_pass) + kMostRest;
}

std::optional<Instant> SchedulingQueue::RestEnds() const {
  std::optional<Instant> ends;
  for (const Kind& kind : kinds_) {
    if (kind.turns.empty() || kind.woken) continue;
    const Instant then = RestEnds(kind);
    if (then != Instant::max()) ends = std::min(ends.value_or(then), then);
  }
  return ends;
}

}  // namespace synergy
