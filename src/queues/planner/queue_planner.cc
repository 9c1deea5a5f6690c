#include "queues/planner/queue_planner.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/text/quantity_text.h"
#include "queues/planner/gpu_type_answers.h"
#include "queues/planner/queue_decisions.h"
#include "queues/round_workload.h"

namespace synergy {
namespace {

// The maximum number of workloads that an event names as successors of a turn.
constexpr size_t kMostTakers = 3;
constexpr size_t kMostUpNext = 5;
// If writes of a round fail, each later plan starts the round again, for at most this time.
constexpr Duration kLongestBeginning = std::chrono::minutes(1);
// A turn counts as overlooked if Kueue takes longer than this to make room for the workload.
constexpr Duration kMostOverlooked = std::chrono::seconds(5);
// A workload loses its turn if Kueue has not admitted it for this time although its GPUs are free.
constexpr Duration kMostRefused = std::chrono::seconds(10);
// How long a workload is left alone after a first refused write.
constexpr Duration kRefusalLasts = std::chrono::seconds(10);
constexpr std::string_view kOverlooked = "it has its turn, but Kueue has not considered it since";

// Returns the name of `workload` for an event in `reader`'s namespace. Hides the names of jobs in
// other namespaces.
std::string NameFor(const Workload& reader, const Workload& workload) {
  if (workload.workload_namespace != reader.workload_namespace)
    return fmt::format("a job of namespace {}", workload.workload_namespace);
  return workload.owner.name.empty() ? workload.name : workload.owner.name;
}

// Returns whether Kueue should be making room: a running workload must give way, Kueue has already
// seen the lower priority of such a workload, but none is leaving yet.
bool IsMadeRoom(const QueuedWorkloads& queue, const RoundDecision& decision) {
  bool gives_way = false;
  for (size_t index = 0; index < queue.size(); ++index) {
    const RoundWorkload& workload = queue[index].round;
    if (workload.state == RoundState::kLeaves) return false;
    gives_way |= workload.state == RoundState::kRuns && workload.band != Band::kRuns &&
                 decision.verdicts[index].band != Band::kRuns;
  }
  return gives_way;
}

// Returns whether the workloads have the same shape, so that Kueue can admit either both or none.
// Kueue 0.19 does not even try a workload of a shape that it has just tried in vain.
bool IsAlike(const Workload& a, const Workload& b) {
  return !a.alike.empty() && a.alike == b.alike && a.pods == b.pods && a.gpus == b.gpus;
}

WorkloadWrite::Kind KindOfChange(const RoundWorkload& workload, Band band) {
  const bool runs = workload.state == RoundState::kRuns;
  if (band == Band::kRuns)
    return runs ? WorkloadWrite::Kind::kProtect : WorkloadWrite::Kind::kRaise;
  if (workload.band != Band::kRuns) return WorkloadWrite::Kind::kSort;
  return runs ? WorkloadWrite::Kind::kLower : WorkloadWrite::Kind::kWithdraw;
}

// Completes a status whose queues are already filled in.
void Conclude(const JudgedPolicy& judged, RoundPolicyStatus& status) {
  status.observed_generation = judged.policy->generation;
  const RoundPolicyStatus::Queue* refused = nullptr;
  for (const auto& queue : status.queues) {
    if (!queue.ready && refused == nullptr) refused = &queue;
  }
  status.ready = judged.rounds && refused == nullptr;
  status.reason = !judged.rounds ? "Invalid" : status.ready ? "Ordered" : "QueueRefused";
  status.message = judged.problem;
  if (const std::string& former = judged.policy->former_name; !former.empty()) {
    status.warning = fmt::format("policy {} has a new name: set policy: {}", former,
                                 DescribePolicy(judged.policy->settings));
  }
  if (judged.rounds && refused != nullptr)
    status.message = fmt::format("cluster queue {}: {}", refused->name, refused->message);
}

}  // namespace

// The state of one call of Plan().
struct QueuePlanner::Pass {
  const QueueObjects& objects;
  Moment at;
  QueuePlan plan;
  std::vector<JudgedPolicy> policies;
  std::map<std::string, QueuedWorkloads> queues;  // ordered queues, by ClusterQueue
  std::map<std::string, QueueDecision> decisions;
  std::unordered_map<std::string, ObservedPods> pods;
  std::set<std::string> elastic_jobs;  // UIDs
};

QueuePlanner::QueuePlanner(ProgressOf progress, ProfileCheckpoints checkpoints, PodRoom room,
                           TypeChooser& types)
    : progress_(std::move(progress)),
      checkpoints_(std::move(checkpoints)),
      room_(std::move(room)),
      types_(types) {}

void QueuePlanner::SetJournal(QueueJournal& journal) {
  recording_ = std::make_unique<QueueRecording>(journal);
  progress_ = recording_->Noting(std::move(progress_));
  checkpoints_ = recording_->Noting(std::move(checkpoints_));
  room_ = recording_->Noting(std::move(room_));
}

void QueuePlanner::StartOver() {
  ledger_.StartOver();
  elastic_.StartOver();
  rounds_.clear();
  unwritable_ = {};
  unadmitted_ = {};
  types_.StartOver();
  if (recording_) recording_->StartedOver();
}

QueuePlan QueuePlanner::Plan(const QueueObjects& objects, Moment at) {
  Pass pass{.objects = objects,
            .at = at,
            .plan = {},
            .policies = JudgePolicies(objects),
            .queues = {},
            .decisions = {},
            .pods = ObservePods(objects, progress_),
            .elastic_jobs = {}};
  unwritable_.Forget(at.now);
  unadmitted_.Forget(at.now);
  Observe(pass);
  planned_rounds_.clear();
  planned_at_ = at;
  std::set<std::string> with_types;
  for (const JudgedPolicy& policy : pass.policies) {
    if (policy.policy->ChoosesTypes()) with_types.insert(policy.policy->uid);
  }
  types_.Keep(with_types);
  for (JudgedPolicy& policy : pass.policies) PlanPolicy(pass, policy);
  PlanWorkers(pass);
  std::stable_sort(pass.plan.writes.begin(), pass.plan.writes.end(),
                   [](const WorkloadWrite& a, const WorkloadWrite& b) { return a.kind < b.kind; });
  if (recording_) recording_->Planned(objects, at, pass.plan);
  return std::move(pass.plan);
}

void QueuePlanner::Observe(Pass& pass) {
  std::map<std::string, const JudgedPolicy*> ordered;  // by ClusterQueue
  std::set<std::string_view> named;                    // ClusterQueues that a policy names
  for (const JudgedPolicy& policy : pass.policies) {
    for (const auto& [name, queue] : policy.queues) {
      named.insert(name);
      if (policy.rounds && queue.problem.empty()) ordered.emplace(name, &policy);
    }
  }
  ledger_.Begin(pass.objects, pass.at.now);
  for (const auto& [key, workload] : pass.objects.workloads) {
    if (workload->finished) continue;
    const auto local =
        pass.objects.local_queues.Find(workload->workload_namespace + "/" + workload->local_queue);
    const auto policy = local ? ordered.find(local->cluster_queue) : ordered.end();
    if (policy != ordered.end() && workload->gpus > Gpus(0)) {
      ObserveOrdered(pass, *policy->second, *local, policy->first, workload);
    } else if (workload->note && !unwritable_.Has(workload->uid, pass.at.now)) {
      // A refusal may end as soon as an object is corrected, so the note keeps the service.
      Restore(pass, workload, local == nullptr || named.contains(local->cluster_queue));
    }
  }
  elastic_.ForgetOthers(pass.objects, std::move(pass.elastic_jobs));
  ledger_.Forget();
}

void QueuePlanner::Restore(Pass& pass, const std::shared_ptr<const Workload>& workload,
                           bool keeps_note) {
  std::optional<RoundNote> note;
  if (keeps_note) {
    note = workload->note;
    note->own = note->written = workload->OwnPriority();
    if (note == workload->note && workload->priority == note->own) return;
  }
  const auto kind = workload->has_quota ? WorkloadWrite::Kind::kRestoreRunning
                                        : WorkloadWrite::Kind::kRestoreWaiting;
  pass.plan.writes.push_back(
      {kind, workload, workload->OwnPriority(), note, "no policy orders its queue"});
}

void QueuePlanner::ObserveOrdered(Pass& pass, const JudgedPolicy& policy, const LocalQueue& local,
                                  const std::string& queue,
                                  const std::shared_ptr<const Workload>& workload) {
  static const ObservedPods kNoPods;
  const auto own_pods = pass.pods.find(workload->PodsKey());
  const ObservedPods& pods = own_pods == pass.pods.end() ? kNoPods : own_pods->second;
  const bool held = IsHeld(pass.objects, *workload);
  const Workload* const replaced = ReplacedBy(pass.objects, *workload);
  const RoundDelays charged =
      ledger_.Observe(pass.objects, *policy.rounds, *workload, pods, replaced, held, pass.at);
  RoundDelays& sum = pass.plan.delays[queue];
  sum.fair_share += charged.fair_share;
  sum.fragmentation += charged.fragmentation;
  if (std::string loss = ledger_.TakeLoss(*workload, pods); !loss.empty())
    pass.plan.notices.push_back({workload, "SynergyTurnBegan", std::move(loss)});

  const WorkloadLedger::Account& account = ledger_.Of(*workload);
  QueuedWorkload& queued = pass.queues[queue].emplace_back();
  queued.object = workload;
  queued.round = ToRoundWorkload(*policy.policy, *workload, account.service, pass.at.wall);
  queued.round.may_lose_turn = workload->MayLoseTurn(checkpoints_);
  // Kueue admits no workload of a stopped local queue, so no other job must lose its turn to it. A
  // stopped ClusterQueue is still ordered, for the time when it is resumed.
  queued.round.left_alone |= local.stopped && !workload->has_quota;
  queued.round.left_alone |= unwritable_.Has(workload->uid, pass.at.now);
  queued.round.rests = unadmitted_.Has(workload->uid, pass.at.now);
  // Kueue counts only the GPUs that the slice needs in addition to those of the replaced one.
  if (replaced != nullptr) queued.round.gpus = std::max(workload->gpus - replaced->gpus, Gpus(0));
  if (policy.policy->ChoosesTypes() && held) queued.round.state = RoundState::kWaits;
  if (!policy.rounds->IsElastic()) return;
  const bool runs = account.doing == Rounds::Doing::kRan;
  elastic_.Observe(pass.objects, checkpoints_, policy.rounds->settings(),
                   runs ? std::optional(pods.counts.since) : std::nullopt, pods.sight, pass.at.wall,
                   queued, pass.plan.notices);
  pass.elastic_jobs.insert(queued.elastic.job);
}

const Workload* QueuePlanner::ReplacedBy(const QueueObjects& objects,
                                         const Workload& workload) const {
  if (workload.replaces.empty() || workload.has_quota) return nullptr;
  const auto replaced = objects.workloads.Find(workload.replaces);
  const bool is_slice = replaced && !replaced->finished && replaced->has_quota &&
                        replaced->uid != workload.uid &&
                        replaced->owner.uid == workload.owner.uid && ledger_.Has(*replaced);
  return is_slice ? replaced.get() : nullptr;
}

void QueuePlanner::PlanPolicy(Pass& pass, JudgedPolicy& policy) {
  const std::string& uid = policy.policy->uid;
  bool begins = false;
  if (policy.rounds) {
    const WallTime round = policy.rounds->RoundAt(pass.at.wall);
    const auto known = rounds_.find(uid);
    begins = known != rounds_.end() && known->second != round;
    PlannedRound& planned = planned_rounds_[uid];
    planned.round = round;
    for (const auto& [name, judged] : policy.queues) planned.queues.push_back(name);
    if (policy.policy->ChoosesTypes()) ChooseTypes(pass, policy, begins);
    Decide(pass, policy, begins);
  }
  RoundPolicyStatus& status =
      pass.plan.statuses.emplace_back(PolicyStatusWrite{policy.policy, {}}).status;
  for (const auto& [name, judged] : policy.queues) {
    RoundPolicyStatus::Queue& queue = status.queues.emplace_back();
    queue.name = name;
    queue.ready = policy.rounds && judged.problem.empty();
    queue.message = judged.problem.empty() ? judged.hint : judged.problem;
    if (!queue.ready) continue;
    queue.gpus = judged.queue->quota.count();
    PlanQueue(pass, policy, name, queue);
  }
  Conclude(policy, status);
}

void QueuePlanner::ChooseTypes(Pass& pass, JudgedPolicy& policy, bool begins) {
  std::vector<TypedWorkload> workloads;
  std::vector<RoundWorkload*> described;
  std::set<std::string> ours;
  for (const auto& [name, judged] : policy.queues) {
    if (!judged.problem.empty()) continue;
    for (QueuedWorkload& queued : pass.queues[name]) {
      const Workload& object = *queued.object;
      TypedWorkload& workload = workloads.emplace_back(TypedWorkload{queued.object, queued.round});
      described.push_back(&queued.round);
      workload.running = ledger_.Of(object).doing == Rounds::Doing::kRan;
      const auto own = pass.pods.find(object.PodsKey());
      const Gpus placed = own == pass.pods.end() ? Gpus(0) : own->second.placed;
      if (workload.running) workload.unseen = std::max(object.gpus - placed, Gpus(0));
      if (own != pass.pods.end()) {
        ours.insert(own->second.uids.begin(), own->second.uids.end());
        workload.rate = own->second.rate;
        if (!own->second.node.empty()) workload.on = types_.ProductOf(own->second.node);
      }
      const auto check = OurCheck(pass.objects, object);
      if (workload.on.empty() && check) workload.on = object.checks[*check].product;
    }
  }
  const Result<> decided =
      types_.Decide(*policy.policy, *policy.rounds, workloads, ours, begins, pass.at);
  if (recording_) recording_->Chose(policy.policy->uid, decided, workloads, types_);
  planned_rounds_[policy.policy->uid].undecided = !decided;
  if (!decided) {
    for (auto& [name, queue] : policy.queues) {
      if (queue.problem.empty()) queue.problem = "spec." + decided.error().message;
    }
    return;
  }
  for (size_t index = 0; index < workloads.size(); ++index) {
    if (const GpuTypeTurn* const turn = types_.Of(workloads[index].object->uid))
      described[index]->place = turn->place;
  }
}

void QueuePlanner::Decide(Pass& pass, const JudgedPolicy& policy, bool begins) {
  // Queues share GPUs if they have the same flavor and cohort. A queue that shares none gets its
  // own key.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> sharing;
  for (const auto& [name, judged] : policy.queues) {
    if (!judged.problem.empty()) continue;
    const ClusterQueue& queue = *judged.queue;
    const bool shares = !queue.cohort.empty() && !policy.rounds->IsElastic();
    sharing[shares ? std::pair(queue.cohort, queue.flavors.front()) : std::pair(name, "")]
        .push_back(name);
  }
  for (const auto& [key, names] : sharing) {
    std::vector<SharingQueue> queues;
    for (const std::string& name : names)
      queues.push_back({policy.queues.at(name).queue.get(), &pass.queues[name]});
    const auto cohort = pass.objects.cohorts.Find(key.first);
    Gpus shared;
    if (cohort && !key.second.empty() && cohort->quotas.contains(key.second))
      shared = cohort->quotas.at(key.second);
    auto decided = DecideTogether(*policy.rounds, queues, shared, begins, pass.at.wall);
    if (policy.rounds->IsElastic()) {
      decided.front().decision =
          elastic_.Decide(policy.rounds->settings(), queues.front().queue->quota, room_,
                          *queues.front().workloads, begins, pass.at.wall);
    }
    for (size_t index = 0; index < names.size(); ++index)
      pass.decisions.emplace(names[index], std::move(decided[index]));
  }
}

void QueuePlanner::PlanQueue(Pass& pass, const JudgedPolicy& policy, const std::string& name,
                             RoundPolicyStatus::Queue& status) {
  const ClusterQueue& cluster_queue = *policy.queues.at(name).queue;
  const QueuedWorkloads& queue = pass.queues[name];
  const WallTime now = pass.at.wall;
  const RoundDecision& decision = pass.decisions.at(name).decision;
  for (const size_t index : decision.order) {
    const bool waits = queue[index].round.state == RoundState::kWaits;
    if (waits && status.up_next.size() < kMostUpNext)
      status.up_next.push_back(queue[index].round.name);
  }
  const bool takes_turns = cluster_queue.TakesTurns();
  const bool is_made_room = takes_turns && IsMadeRoom(queue, decision);
  const Gpus room = RoomForTurns({&cluster_queue, &queue}, pass.decisions.at(name));
  for (size_t index = 0; index < queue.size(); ++index) {
    const auto& [workload, described, job, elastic] = queue[index];
    const RoundVerdict& verdict = decision.verdicts[index];
    const Band band = verdict.band;
    RoundNote note = NoteOf(described.service, now);
    note.own = described.own_priority;
    note.written = workload->priority;
    if (described.left_alone) {
      ++status.left_alone;
      // Without this write, a restart of this process would lose the service that the workload had
      // received before its user stopped it.
      if (workload->note && ledger_.WantsNote(*workload) &&
          !unwritable_.Has(workload->uid, pass.at.now)) {
        pass.plan.writes.push_back(
            {WorkloadWrite::Kind::kNote, workload, workload->priority, note, verdict.why});
      }
      continue;
    }
    ++(band == Band::kRuns ? status.runs : band == Band::kNext ? status.next : status.waits);
    const bool has_turn =
        !workload->has_quota && band == Band::kRuns && described.band == Band::kRuns;
    const bool could_start = is_made_room && has_turn;
    ObserveRefusal(pass, *policy.rounds, queue, index, has_turn && described.gpus <= room);
    if (band == described.band) {
      PlanSameBand(pass, *policy.policy, queue[index], verdict, could_start, name, note);
      continue;
    }
    ledger_.Of(*workload).overlooked_since.reset();
    note.written = PriorityOf(note.own, band);
    const WorkloadWrite::Kind kind = KindOfChange(described, band);
    std::optional<JobNotice> lost_turn;
    if (kind == WorkloadWrite::Kind::kLower && takes_turns) {
      ++note.lost_turns;
      lost_turn = LostTurn(queue, decision, index, now);
    }
    pass.plan.writes.push_back(
        {kind, workload, note.written, note, verdict.why, name, std::move(lost_turn)});
  }
}

void QueuePlanner::PlanSameBand(Pass& pass, const RoundPolicy& policy,
                                const QueuedWorkload& workload, const RoundVerdict& verdict,
                                bool could_start, const std::string& queue, RoundNote note) {
  const auto& object = workload.object;
  const bool overlooked = IsOverlooked(*object, could_start, pass.at.now);
  const std::optional<int64_t> again = RaisedAgain(*object);
  if (overlooked && again && *again <= policy.most_priority) {
    note.written = *again;
    pass.plan.writes.push_back(
        {WorkloadWrite::Kind::kRaise, object, *again, note, kOverlooked, queue});
  } else if (ledger_.WantsNote(*object)) {
    pass.plan.writes.push_back(
        {WorkloadWrite::Kind::kNote, object, object->priority, note, verdict.why});
  }
}

// Kueue 0.19 remembers each combination of pod shape and priority that it could not admit, and
// skips such workloads until something else in the queue changes. A lower priority of a running
// workload without a class is not such a change.
bool QueuePlanner::IsOverlooked(const Workload& workload, bool could_start, Instant now) {
  std::optional<Instant>& since = ledger_.Of(workload).overlooked_since;
  if (!could_start) {
    since.reset();
    return false;
  }
  if (!since) since = now;
  return now - *since >= kMostOverlooked;
}

void QueuePlanner::ObserveRefusal(Pass& pass, const Rounds& rounds, const QueuedWorkloads& queue,
                                  size_t index, bool could_start) {
  const auto& object = queue[index].object;
  const Workload& workload = *object;
  std::optional<Instant>& since = ledger_.Of(workload).refused_since;
  if (workload.has_quota) unadmitted_.Succeeded(workload.uid);
  if (!could_start || !workload.inadmissible) {
    since.reset();
    return;
  }
  const Instant now = pass.at.now;
  if (!since) since = now;
  if (now - *since < kMostRefused) return;
  since.reset();
  const Duration round = rounds.settings().round;
  const Duration rest = unadmitted_.Failed(workload.uid, now, round);
  for (const QueuedWorkload& other : queue) {
    const bool waits = other.object->uid != workload.uid && !other.object->has_quota;
    if (waits && IsAlike(*other.object, workload))
      unadmitted_.Failed(other.object->uid, now, round);
  }
  pass.plan.notices.push_back(
      {object, "SynergyTurnPassed",
       fmt::format("Kueue does not admit it in its turn although its GPUs are free; others go "
                   "before it for {} s. Condition QuotaReserved of Workload {} has Kueue's reason",
                   std::chrono::floor<std::chrono::seconds>(rest).count(), workload.name)});
}

JobNotice QueuePlanner::LostTurn(const QueuedWorkloads& queue, const RoundDecision& decision,
                                 size_t index, WallTime now) const {
  const Workload& loser = *queue[index].object;
  std::vector<std::string> takers;
  size_t more = 0;
  for (const size_t other : decision.order) {
    const bool takes = decision.verdicts[other].band == Band::kRuns &&
                       queue[other].round.state == RoundState::kWaits;
    if (!takes) continue;
    if (takers.size() < kMostTakers) {
      takers.push_back(NameFor(loser, *queue[other].object));
    } else {
      ++more;
    }
  }
  if (takers.empty()) takers.emplace_back("others");
  const auto had = std::chrono::floor<std::chrono::seconds>(now - loser.quota_since);
  std::string message = fmt::format("its turn ends; next: {}", fmt::join(takers, ", "));
  if (more > 0) message += fmt::format(" and {} more", more);
  message += fmt::format("; it had {} for {} s", DescribeGpus(loser.gpus), had.count());
  if (const auto& iteration = ledger_.Of(loser).iteration)
    message += fmt::format(" and is at iteration {}", *iteration);
  message += ", and continues from its last checkpoint in its next turn";
  return {queue[index].object, "SynergyTurnLost", std::move(message)};
}

// A waiting job is resized before it gets its place, and Kueue copies the size into its workload.
// Until then, no band is written for the workload, and no room is made for it.
void QueuePlanner::PlanWorkers(Pass& pass) {
  QueuePlan& plan = pass.plan;
  std::set<std::string> sizing;
  const auto append = [](std::vector<WorkersWrite>& to, std::vector<WorkersWrite> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  for (const auto& [name, queue] : pass.queues) {
    const std::set<std::string> uids = elastic_.Sizing(queue, pass.at.wall);
    append(plan.waiting_jobs, elastic_.Due(name, queue, RoundState::kWaits, pass.at.wall));
    if (uids.empty())
      append(plan.running_jobs, elastic_.Due(name, queue, RoundState::kRuns, pass.at.wall));
    sizing.insert(uids.begin(), uids.end());
  }
  std::erase_if(plan.writes,
                [&](const WorkloadWrite& write) { return sizing.contains(write.workload->uid); });
}

void QueuePlanner::OnResult(const QueuePlan& plan, const QueueOutcome& outcome) {
  if (recording_) recording_->Learned(outcome);
  for (size_t index = 0; index < plan.writes.size(); ++index) {
    const WorkloadWrite& write = plan.writes[index];
    const std::string& uid = write.workload->uid;
    if (outcome.writes[index] == WriteOutcome::kRefused)
      unwritable_.Failed(uid, planned_at_.now, kRefusalLasts);
    if (outcome.writes[index] != WriteOutcome::kWritten) continue;
    unwritable_.Succeeded(uid);
    if (write.note && ledger_.Has(*write.workload))
      ledger_.Of(*write.workload).service.lost_turns = write.note->lost_turns;
  }
  const auto on_jobs = [this](const std::vector<WorkersWrite>& writes,
                              const std::vector<WriteOutcome>& outcomes) {
    for (size_t index = 0; index < writes.size(); ++index) {
      if (outcomes[index] == WriteOutcome::kWritten) elastic_.OnWritten(writes[index]);
      if (outcomes[index] == WriteOutcome::kRefused) elastic_.OnRefused(writes[index]);
    }
  };
  on_jobs(plan.waiting_jobs, outcome.waiting_jobs);
  on_jobs(plan.running_jobs, outcome.running_jobs);
  // If a round has not begun in all queues, the next plan begins it again, but not indefinitely.
  const std::set<std::string> pending = PendingQueues(plan, outcome.writes);
  std::map<std::string, WallTime> rounds;
  for (const auto& [uid, planned] : planned_rounds_) {
    const auto known = rounds_.find(uid);
    const bool late = planned_at_.wall - planned.round > kLongestBeginning;
    const bool is_pending =
        std::any_of(planned.queues.begin(), planned.queues.end(),
                    [&pending](const std::string& queue) { return pending.contains(queue); });
    const bool stays = known != rounds_.end() && (is_pending || planned.undecided) && !late;
    rounds.emplace(uid, stays ? known->second : planned.round);
  }
  rounds_ = std::move(rounds);
}

}  // namespace synergy
