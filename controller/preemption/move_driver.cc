#include "controller/preemption/move_driver.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "controller/preemption/lost_answer.h"
#include "engine/reservations/passing_check.h"
#include "wire/pods/pod_writes.h"

namespace synergy::controller {
namespace {

// The pause before a failed renewal of places is tried again.
constexpr Duration kRenewAgain = std::chrono::seconds(5);
constexpr Duration kPauseToLoad = std::chrono::seconds(5);
// How long the job's new pods are guided to the planned nodes, counted from the end of the time
// that the old pods have to leave.
constexpr Duration kGuides = std::chrono::minutes(10);

bool IsPodGone(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict;
}

// A later job may have the same name, so the name alone does not identify the waiter.
std::string IdentityOfWaiter(const JobInLine& waiter) {
  return fmt::format("{} {}", waiter.name, waiter.pods.front()->uid);
}

std::string InMinutes(Duration time) {
  return fmt::format("{:.3g} min", std::chrono::duration<double, std::ratio<60>>(time).count());
}

std::string NodesOf(const std::vector<PlannedPlace>& places) {
  std::set<std::string> names;
  for (const PlannedPlace& place : places) names.insert(place.node);
  return fmt::format("{}", fmt::join(names, ", "));
}

Gpus GpusOf(const std::vector<std::shared_ptr<const Pod>>& pods) {
  Gpus gpus;
  for (const auto& pod : pods) gpus += pod->requests.main.gpus;
  return gpus;
}

bool HasKeptPlace(const Pod& pod, WallTime now) {
  return pod.waiting && !pod.waiting->kept_node.empty() && pod.waiting->kept_until > now;
}

}  // namespace

std::string_view MoveDriver::ToString(End end) {
  switch (end) {
    case End::kMoved:
      return "moved";
    case End::kInVain:
      return "in_vain";
    case End::kRefused:
      return "refused";
    case End::kWaiterGone:
      return "waiter_gone";
  }
  return "unknown";
}

MoveDriver::MoveDriver(MoveDriverSettings settings, MoveSources sources, kube::PodApi& pod_api,
                       kube::EvictionApi& evictions, kube::MoveApi& moves,
                       kube::EventRecorder& events, PodActs& acts, std::function<bool()> may_act,
                       const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics)
    : settings_(std::move(settings)),
      sources_(std::move(sources)),
      pod_api_(pod_api),
      evictions_(evictions),
      move_api_(moves),
      events_(events),
      acts_(acts),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      ends_(sources_.progress, sources_.times),
      restarts_(sources_.progress, sources_.times, sources_.pods) {}

void MoveDriver::StartOver() {
  records_.reset();
  attempt_.reset();
  rests_.clear();
  guided_.clear();
  restarts_.StartOver();
  looked_.reset();
  load_from_ = Instant::min();
}

void MoveDriver::Step(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  if (!records_ && !Load(stop)) return;
  if (attempt_) Advance(stop);
  if (records_) Guide(stop);
  if (looked_ && at.now - *looked_ < settings_.look) return;
  looked_ = at.now;
  restarts_.Observe(at.now);
  if (records_) Compare(stop);
  const MovesView view = View(at);
  if (!records_ || attempt_ || records_->IsFull()) return;
  if (const auto plan = PlanMove(moves_, view)) Begin(*plan, stop);
}

bool MoveDriver::Load(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  if (at.now < load_from_ || !MayGoOn(stop)) return false;
  auto read = move_api_.ReadMoves(stop);
  if (!read && read.error().code != ErrorCode::kNotFound) {
    load_from_ = at.now + kPauseToLoad;
    log_.Warn("cannot read the record of moves, so no job moves",
              {{"error", read.error().message}});
    return false;
  }
  records_ = read ? *std::move(read) : PublishedMoves();
  if (!attempt_) {
    const PublishedMoves before = *records_;
    for (MoveRecord& record : records_->moves) {
      if (record.phase != MovePhase::kBegun) continue;
      const Result<bool> evicted = TakeOver(record, stop);
      if (!evicted) {
        log_.Warn("cannot see how far a move went", {{"error", evicted.error().message}});
        records_.reset();
        attempt_.reset();
        load_from_ = at.now + kPauseToLoad;
        return false;
      }
      if (*evicted) record.phase = MovePhase::kEnded;
    }
    std::erase_if(records_->moves,
                  [](const MoveRecord& each) { return each.phase == MovePhase::kBegun; });
    if (!(before == *records_) && !Store(stop)) return false;
  }
  moves_.StartOver(records_->Moved(), records_->Worse());
  return true;
}

Result<bool> MoveDriver::TakeOver(MoveRecord& record, const std::stop_token& stop) {
  Attempt attempt{.owner = record.owner,
                  .job = record.job,
                  .waiter = record.waiter,
                  .places = {},
                  .asked = {},
                  .refused = {}};
  for (const std::string& uid : record.pods) {
    const auto pod = sources_.state.FindPod(uid);
    if (!pod || pod->terminal) continue;
    // The watch may not have seen the eviction yet.
    const Result<Pod> now = pod_api_.Get(pod->pod_namespace, pod->name, stop);
    if (!now && now.error().code != ErrorCode::kNotFound) return Fail(now.error());
    if (!now || now->uid != uid) continue;
    (now->deleting ? attempt.asked : attempt.refused).push_back(pod);
  }
  if (attempt.refused.size() == record.pods.size()) {
    log_.Info("a move is forgotten, because it had not evicted any pod", {{"job", record.job}});
    return false;
  }
  attempt.evicted = record.pods.size() - attempt.refused.size();
  const Moment at = clock_.Present();
  for (const auto& pod : sources_.state.WaitingPods()) {
    if (record.waiter.starts_with(JobOf(*pod) + " ") && HasKeptPlace(*pod, at.wall))
      attempt.places.push_back({pod, pod->waiting->kept_node});
  }
  if (attempt.places.empty()) return true;
  log_.Info("a move continues", {{"job", record.job}, {"waiter", record.waiter}});
  attempt.began = attempt.tried = at.now;
  // Another leader kept the places. Renew them at once; if that fails, they lapse at their recorded
  // time.
  Duration left = settings_.keep;
  for (const PlannedPlace& place : attempt.places)
    left = std::min(left, place.pod->waiting->kept_until - at.wall);
  attempt.kept = attempt.renewed = at.now - settings_.keep + left;
  attempt.renewed -= settings_.keep;
  Pods leaving = attempt.asked;
  leaving.insert(leaving.end(), attempt.refused.begin(), attempt.refused.end());
  attempt.leave = LeaveOf(leaving);
  attempt_ = std::move(attempt);
  return true;
}

Duration MoveDriver::LeaveOf(const Pods& pods) const {
  Duration leave = settings_.leave;
  for (const auto& pod : pods) leave = std::max(leave, pod->grace);
  return std::min(leave + settings_.keep, settings_.most_leave);
}

std::vector<JobInLine> MoveDriver::Waiters(const ClusterSnapshot& snapshot, Moment at) const {
  ReservationSettings in_line;
  in_line.after = settings_.after;
  std::vector<JobInLine> waiters =
      JobsInLine(snapshot, sources_.state.WaitingPods(), settings_.scheduler_name, in_line, {}, at);
  std::erase_if(waiters, [&](const JobInLine& job) {
    return job.pods.size() > MoveRecord::kMostPods || rests_.contains(job.name) ||
           records_->WasHelped(IdentityOfWaiter(job)) ||
           std::any_of(job.pods.begin(), job.pods.end(),
                       [&](const auto& pod) { return HasKeptPlace(*pod, at.wall); });
  });
  return waiters;
}

std::vector<MovingJob> MoveDriver::MovingJobs(Moment at) const {
  std::map<std::string, MovingJob> jobs;
  std::set<std::string> left_out;
  for (const auto& [uid, facts] : sources_.pods.Snapshot()) {
    if (!facts->moves || facts->owner.kind != "Job" || facts->owner.api_version != "batch/v1" ||
        facts->owner.uid.empty() || rests_.contains(facts->owner.uid)) {
      continue;
    }
    const auto pod = sources_.state.FindPod(uid);
    if (!pod || pod->terminal) continue;
    MovingJob& job = jobs[facts->owner.uid];
    if (job.pods.size() == MoveRecord::kMostPods) left_out.insert(facts->owner.uid);
    // The author of a pod chooses its owner reference, so an owner counts only within its
    // namespace.
    if (!job.pods.empty() && job.pods.front()->pod_namespace != pod->pod_namespace)
      left_out.insert(facts->owner.uid);
    if (left_out.contains(facts->owner.uid)) continue;
    const bool has_profile = pod->fungible && !pod->fungible->profile.empty();
    job.name = facts->owner.uid;
    job.selection = facts->selection;
    job.checkpoints =
        facts->checkpoints ||
        (has_profile && sources_.checkpoints(pod->pod_namespace, pod->fungible->profile));
    job.pods.push_back(pod);
  }
  std::vector<MovingJob> moving;
  for (auto& [owner, job] : jobs) {
    if (left_out.contains(owner)) continue;
    const Pod& first = *job.pods.front();
    if (first.fungible && !first.fungible->workload.empty())
      job.workload = fmt::format("{}/{}", first.pod_namespace, first.fungible->workload);
    job.restart = restarts_.CostOf(job.pods, at);
    if (!job.restart && settings_.restart_cost > Duration::zero())
      job.restart = settings_.restart_cost;
    moving.push_back(std::move(job));
  }
  return moving;
}

MovesView MoveDriver::View(Moment at) {
  std::erase_if(rests_, [&](const auto& entry) { return entry.second <= at.now; });
  MovesView view;
  view.snapshot = sources_.state.Snapshot();
  view.headroom = settings_.headroom;
  view.wall = at.wall;
  const std::vector<RunningJob> running = RunningJobs(*view.snapshot);
  ends_.Observe(running, at);
  if (!records_ || attempt_ || view.snapshot->waiting_gpu_pods() == 0) return view;
  view.waiters = Waiters(*view.snapshot, at);
  if (view.waiters.empty()) return view;
  view.jobs = MovingJobs(at);
  if (view.jobs.empty()) return view;
  for (const RunningJob& job : running) {
    if (const auto end = ends_.EndOf(job, at))
      view.ends.push_back({job.pods, std::max(end->likely - at.now, Duration::zero())});
  }
  std::map<std::string, PublishedReservation> reserved;
  for (const auto& [uid, times] : sources_.times.Snapshot()) {
    if (times->reservation && times->reservation->until > at.wall)
      reserved.emplace(times->reservation->job, *times->reservation);
  }
  for (const auto& [job, reservation] : reserved)
    view.reservations.push_back(ToReservation(reservation, at));
  return view;
}

void MoveDriver::Drop(const PlannedMove& plan, const std::string& resting, std::string_view why) {
  moves_.OnResult(plan.job.name, false);
  rests_[resting] = clock_.Now() + settings_.rest;
  metrics_.CountMove(ToString(End::kRefused));
  log_.Info("a job does not move",
            {{"job", plan.job.pods.front()->Key()}, {"waiter", plan.waiter.name}, {"why", why}});
}

std::string MoveDriver::Obstacle(const MovingJob& job, const std::string& name,
                                 const std::stop_token& stop) {
  const auto owner = move_api_.ReadJob(job.pods.front()->pod_namespace, name, stop);
  if (!owner) return owner.error().message;
  if (owner->uid != job.name || owner->ends) return "its Job was replaced, or is ending";
  if (owner->ignores_disruption) return {};
  return "its Job's podFailurePolicy does not ignore DisruptionTarget, so the eviction would count "
         "as a failure";
}

bool MoveDriver::HasBound(const std::vector<PlannedPlace>& places) const {
  return std::any_of(places.begin(), places.end(), [&](const PlannedPlace& place) {
    const auto pod = sources_.state.FindPod(place.pod->uid);
    return pod && !pod->waiting;
  });
}

bool MoveDriver::Prepare(const PlannedMove& plan, const std::stop_token& stop) {
  std::string refused;
  const bool kept = KeepPlaces(plan.places, stop);
  for (size_t i = 0; kept && refused.empty() && i < plan.job.pods.size(); ++i) {
    const Result<> tried = MayGoOn(stop)
                               ? evictions_.TryEvict(kube::IdentityOf(*plan.job.pods[i]), stop)
                               : Fail(ErrorCode::kCancelled, "another replica acts now");
    if (!tried) refused = tried.error().message;
  }
  const bool has_bound = refused.empty() && HasBound(plan.places);
  if (kept && refused.empty() && !has_bound) return true;
  EndPlaces(plan.places, stop);
  if (!refused.empty()) {
    Drop(plan, plan.job.name, refused);
  } else if (has_bound) {
    // A waiter whose other pods still wait is considered at the next look.
    moves_.OnResult(plan.job.name, false);
  } else {
    Drop(plan, plan.waiter.name, "a place could not be kept");
  }
  return false;
}

void MoveDriver::Begin(const PlannedMove& plan, const std::stop_token& stop) {
  const Moment at = clock_.Present();
  const Pod& first = *plan.job.pods.front();
  const auto facts = sources_.pods.Find(first.uid);
  if (!facts || !MayGoOn(stop)) return moves_.OnResult(plan.job.name, false);
  if (const std::string why = Obstacle(plan.job, facts->owner.name, stop); !why.empty())
    return Drop(plan, plan.job.name, why);
  if (!Prepare(plan, stop)) return;
  MoveRecord record{.owner = plan.job.name,
                    .job = fmt::format("{}/{}", first.pod_namespace, facts->owner.name),
                    .workload = plan.job.workload,
                    .waiter = IdentityOfWaiter(plan.waiter),
                    .kind = plan.kind,
                    .pods = {},
                    .nodes = {},
                    .at = at.wall,
                    .rate = restarts_.RateOf(plan.job.pods, GpuMoves::kCompared, at.now)};
  for (const PlannedPlace& place : plan.to) {
    record.pods.push_back(place.pod->uid);
    record.nodes.push_back(place.node);
  }
  records_->moves.push_back(record);
  if (!Store(stop)) {
    EndPlaces(plan.places, stop);
    return Drop(plan, plan.job.name, "the move could not be recorded");
  }
  Attempt attempt{.owner = record.owner,
                  .job = record.job,
                  .waiter = record.waiter,
                  .places = plan.places,
                  .asked = {},
                  .refused = {},
                  .began = at.now,
                  .leave = LeaveOf(plan.job.pods),
                  .kept = at.now,
                  .renewed = at.now,
                  .tried = at.now};
  attempt.refused = Evict(plan.job.pods, stop);
  for (const auto& pod : plan.job.pods) {
    if (std::find(attempt.refused.begin(), attempt.refused.end(), pod) == attempt.refused.end())
      attempt.asked.push_back(pod);
  }
  attempt.evicted = attempt.asked.size();
  attempt_ = std::move(attempt);
  if (attempt_->evicted == 0 && !MayHaveEvicted(plan.job.pods, stop))
    return Finish(End::kRefused, "no pod could be evicted", stop);
  Announce(plan, facts->owner, record.job);
}

void MoveDriver::Announce(const PlannedMove& plan, const ObjectOwner& owner,
                          const std::string& job) {
  const int64_t waiting = GpusOf(plan.waiter.pods).count();
  const std::string worth = fmt::format("cost: {} GPUs for about {}; gain: {} GPUs about {} sooner",
                                        GpusOf(plan.job.pods).count(), InMinutes(*plan.job.restart),
                                        waiting, InMinutes(plan.waits));
  log_.Info("a job moves", {{"job", job},
                            {"to", NodesOf(plan.to)},
                            {"waiter", plan.waiter.name},
                            {"room_on", NodesOf(plan.places)},
                            {"worth", worth}});
  const std::string for_job =
      fmt::format("moves so that {} gets {} GPUs on {}; its new pods have room on {}; {}",
                  plan.waiter.name, waiting, NodesOf(plan.places), NodesOf(plan.to), worth);
  for (const auto& pod : plan.job.pods) Record(*pod, for_job);
  Record(owner, plan.job.pods.front()->pod_namespace, for_job);
  const std::string for_waiter =
      fmt::format("{} moves to {}, so that this job gets {} GPUs on {}; {}", job, NodesOf(plan.to),
                  waiting, NodesOf(plan.places), worth);
  for (const auto& pod : plan.waiter.pods) Record(*pod, for_waiter);
}

void MoveDriver::Advance(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  Attempt& attempt = *attempt_;
  size_t bound = 0;
  for (PlannedPlace& place : attempt.places) {
    const auto pod = sources_.state.FindPod(place.pod->uid);
    if (!pod || pod->deleting || pod->terminal)
      return Finish(End::kWaiterGone, fmt::format("{} no longer exists", place.pod->Key()), stop);
    place.pod = pod;
    if (!pod->waiting) ++bound;
  }
  const auto drop_gone = [&](Pods& pods) {
    return std::erase_if(pods, [&](const auto& pod) {
      const auto seen = sources_.state.FindPod(pod->uid);
      return !seen || seen->terminal;
    });
  };
  drop_gone(attempt.asked);
  // A pod whose eviction seemed refused may have been evicted: the answer may have been lost.
  attempt.evicted += drop_gone(attempt.refused);
  if (bound == attempt.places.size()) return Finish(End::kMoved, "", stop);
  if (!attempt.refused.empty() && at.now - attempt.tried >= std::chrono::seconds(1)) {
    if (at.now - attempt.kept >= settings_.keep) {
      // The answer to an eviction may have been lost, and the pod is still leaving.
      if (attempt.evicted == 0 && MayHaveEvicted(attempt.refused, stop)) ++attempt.evicted;
      return Finish(End::kInVain, "the kept places lapsed before all evictions", stop);
    }
    attempt.tried = at.now;
    Pods again = Evict(attempt.refused, stop);
    for (const auto& pod : attempt.refused) {
      if (std::find(again.begin(), again.end(), pod) == again.end()) {
        attempt.asked.push_back(pod);
        ++attempt.evicted;
      }
    }
    attempt.refused = std::move(again);
  }
  const bool all_gone = attempt.asked.empty() && attempt.refused.empty();
  if (!all_gone && at.now - attempt.began >= attempt.leave)
    return Finish(End::kInVain, "not all evicted pods have left", stop);
  if (attempt.room_since && at.now - *attempt.room_since >= 2 * settings_.keep)
    return Finish(End::kInVain, "the waiting job did not use the room", stop);
  const bool is_news = all_gone && !attempt.room_since;
  if (is_news) attempt.room_since = at.now;
  // The write also makes kube-scheduler try the pods again.
  if (is_news || at.now - attempt.renewed >= settings_.keep / 2) {
    const bool kept = KeepPlaces(attempt.places, stop);
    attempt.renewed = at.now;
    if (kept) attempt.kept = at.now;
    if (!kept) attempt.renewed -= std::max(settings_.keep / 2 - kRenewAgain, Duration::zero());
  }
}

void MoveDriver::Finish(End end, std::string_view why, const std::stop_token& stop) {
  const Attempt attempt = *std::exchange(attempt_, std::nullopt);
  EndPlaces(attempt.places, stop);
  metrics_.CountMove(ToString(end));
  log_.Info("a move ended", {{"job", attempt.job},
                             {"waiter", attempt.waiter},
                             {"outcome", ToString(end)},
                             {"why", why},
                             {"evicted", attempt.evicted}});
  moves_.OnResult(attempt.owner, attempt.evicted > 0);
  if (attempt.evicted == 0) rests_[attempt.owner] = clock_.Now() + settings_.rest;
  if (!records_) return;
  if (MoveRecord* const record = records_->Find(attempt.owner)) record->phase = MovePhase::kEnded;
  if (attempt.evicted == 0) {
    std::erase_if(records_->moves,
                  [&](const MoveRecord& each) { return each.owner == attempt.owner; });
  }
  Store(stop);
}

void MoveDriver::Guide(const std::stop_token& stop) {
  const WallTime wall = clock_.WallNow();
  for (const MoveRecord& record : records_->moves) {
    if (record.at + settings_.most_leave + kGuides < wall) continue;
    std::vector<std::string> nodes = record.nodes;
    Pods next;
    for (const auto& pod : PodsOf(record)) {
      if (std::find(record.pods.begin(), record.pods.end(), pod->uid) != record.pods.end())
        continue;
      const std::string& node = pod->waiting ? pod->waiting->kept_node : pod->node;
      const auto taken = std::find(nodes.begin(), nodes.end(), node);
      if (taken != nodes.end()) nodes.erase(taken);
      if (pod->waiting && !pod->gated && pod->waiting->kept_node.empty() &&
          !guided_.contains(pod->uid)) {
        next.push_back(pod);
      }
    }
    const std::set<std::string> leaving(record.pods.begin(), record.pods.end());
    for (const auto& pod : next) {
      if (nodes.empty()) break;
      const PlannedPlace place{pod, nodes.back()};
      nodes.pop_back();
      guided_.insert(pod->uid);
      if (!FitBeside(*sources_.state.Snapshot(), {place}, {}, leaving, wall)) continue;
      if (!KeepPlaces({place}, stop)) return;
    }
  }
  if (guided_.size() > PublishedMoves::kMost * MoveRecord::kMostPods) guided_.clear();
}

void MoveDriver::Compare(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  std::set<std::string> owners;
  for (const auto& [uid, facts] : sources_.pods.Snapshot()) {
    const MoveRecord* const record = records_->Find(facts->owner.uid);
    const auto pod = sources_.state.FindPod(uid);
    if (record != nullptr && pod && record->IsIn(pod->pod_namespace)) owners.insert(record->owner);
  }
  const PublishedMoves before = *records_;
  records_->DropGone(owners, at.wall);
  for (MoveRecord& record : records_->moves) {
    if (record.phase != MovePhase::kEnded || record.compared || !record.rate || *record.rate <= 0)
      continue;
    Pods now = PodsOf(record);
    std::erase_if(now, [&](const auto& pod) {
      return pod->waiting ||
             std::find(record.pods.begin(), record.pods.end(), pod->uid) != record.pods.end();
    });
    const auto rate = restarts_.RateOf(now, GpuMoves::kCompared, at.now);
    if (!rate) continue;
    record.compared = true;
    const double relative = *rate / *record.rate;
    const auto node = sources_.state.Snapshot()->Find(now.front()->node);
    const std::string kind = node ? KindOf(sources_.state.Snapshot()->node(*node)) : record.kind;
    moves_.OnCompared(record.workload, kind, relative);
    if (relative < GpuMoves::kWorse && !record.workload.empty())
      records_->AddWorse({record.workload, kind});
    log_.Info("a moved job's rate was compared",
              {{"job", record.job}, {"kind", kind}, {"rate", fmt::format("{:.3f}", relative)}});
    Record(*now.front(),
           fmt::format("runs at {:.3g} times its rate from before the move", relative));
  }
  if (!(before == *records_)) Store(stop);
}

bool MoveDriver::KeepPlaces(const std::vector<PlannedPlace>& places, const std::stop_token& stop) {
  for (const auto& [pod, node] : places) {
    if (!pod->waiting) continue;
    if (!MayGoOn(stop)) return false;
    const std::string value = wire::WriteKeptPlace(node, clock_.WallNow() + settings_.keep);
    const Result<Pod> kept = pod_api_.Annotate(*pod, {{annotations::kKeptPlace, value}},
                                               kube::Precondition::kSamePod, stop);
    if (!kept) {
      log_.Warn("cannot keep a place for a move",
                {{"pod", pod->Key()}, {"error", kept.error().message}});
      if (!MayHaveBeenDone(kept.error())) return false;
      // If the place was written after all, EndPlaces() must see it.
      const Result<Pod> now = pod_api_.Get(pod->pod_namespace, pod->name, stop);
      if (now && now->uid == pod->uid) sources_.state.RefreshPod(*now);
      return false;
    }
    sources_.state.RefreshPod(*kept);
    if (!kept->waiting) return false;  // it was bound meanwhile
  }
  return true;
}

void MoveDriver::EndPlaces(const std::vector<PlannedPlace>& places, const std::stop_token& stop) {
  for (const auto& [pod, node] : places) {
    const auto seen = sources_.state.FindPod(pod->uid);
    if (!seen || !seen->waiting || seen->waiting->kept_node != node || !MayGoOn(stop)) continue;
    const Result<Pod> ended = pod_api_.Annotate(*seen, {{annotations::kKeptPlace, std::nullopt}},
                                                kube::Precondition::kSamePod, stop);
    if (ended) sources_.state.RefreshPod(*ended);
  }
}

bool MoveDriver::MayHaveEvicted(const Pods& pods, const std::stop_token& stop) {
  return std::any_of(pods.begin(), pods.end(), [&](const auto& pod) {
    const Result<Pod> now = pod_api_.Get(pod->pod_namespace, pod->name, stop);
    return !now || now->uid != pod->uid || now->deleting;
  });
}

MoveDriver::Pods MoveDriver::Evict(const Pods& pods, const std::stop_token& stop) {
  Pods refused;
  for (const auto& pod : pods) {
    if (!MayGoOn(stop)) {
      refused.push_back(pod);
      continue;
    }
    const WallTime asked = clock_.WallNow();
    const Result<> evicted = evictions_.Evict(kube::IdentityOf(*pod), stop);
    // If the answer was lost, the pod may be gone before the next try.
    if (evicted || MayHaveBeenDone(evicted.error())) acts_.Note(pod->uid, "move", asked);
    if (!evicted && !IsPodGone(evicted.error())) {
      log_.Warn("cannot evict", {{"pod", pod->Key()}, {"error", evicted.error().message}});
      refused.push_back(pod);
    }
  }
  return refused;
}

bool MoveDriver::Store(const std::stop_token& stop) {
  if (!MayGoOn(stop)) {
    records_.reset();
    return false;
  }
  auto stored = move_api_.WriteMoves(*records_, stop);
  if (stored) {
    records_ = *std::move(stored);
    return true;
  }
  log_.Warn("cannot write the record of moves", {{"error", stored.error().message}});
  // The call may have taken effect, or another client may have written.
  records_.reset();
  load_from_ = clock_.Now() + kPauseToLoad;
  return false;
}

MoveDriver::Pods MoveDriver::PodsOf(const MoveRecord& record) const {
  Pods pods;
  for (const auto& [uid, facts] : sources_.pods.Snapshot()) {
    if (facts->owner.uid != record.owner) continue;
    const auto pod = sources_.state.FindPod(uid);
    if (pod && !pod->terminal && !pod->deleting && record.IsIn(pod->pod_namespace))
      pods.push_back(pod);
  }
  return pods;
}

void MoveDriver::Record(const Pod& pod, std::string message) {
  events_.Record(kube::AboutPod(pod, "Normal", "SynergyMoved", std::move(message)));
}

void MoveDriver::Record(const ObjectOwner& owner, const std::string& its_namespace,
                        std::string message) {
  events_.Record(
      kube::AboutOwner(its_namespace, owner, "Normal", "SynergyMoved", std::move(message)));
}

}  // namespace synergy::controller
