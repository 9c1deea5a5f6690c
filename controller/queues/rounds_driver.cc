#include "controller/queues/rounds_driver.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "controller/queues/job_events.h"
#include "controller/queues/type_checks.h"
#include "core/wall_time.h"

namespace synergy::controller {
namespace {

// Of one step: the API server may be away, and each call then takes seconds.
constexpr size_t kMostFailedWrites = 3;
// Running time after which what was served is written down.
constexpr double kUnwrittenSeconds = 300;
// Of a wait that is over, and worth a write: no shorter one can be told from a look.
constexpr Seconds kLeastDelay{1};
// Of those to whom a turn goes, in one event.
constexpr size_t kMostTakers = 3;
constexpr Duration kStatusInterval = std::chrono::seconds(5);
constexpr size_t kMostUpNext = 5;
// Within which a round's changes of turns are begun that did not come off at once.
constexpr Duration kLongestBeginning = std::chrono::minutes(1);
// How long Kueue may take to make room for who has its turn, before the turn counts as overlooked.
constexpr Duration kMostOverlooked = std::chrono::seconds(5);
constexpr std::string_view kOverlooked = "it is its turn, and Kueue has not looked at it since";

// In an event that people of `reader`'s namespace see: jobs of others have no names there.
std::string NameFor(const Workload& reader, const Workload& workload) {
  if (workload.workload_namespace != reader.workload_namespace)
    return fmt::format("a job of namespace {}", workload.workload_namespace);
  return workload.owner.name.empty() ? workload.name : workload.owner.name;
}

// Whether somebody runs who is to give way, as Kueue has been told, and nobody leaves yet.
bool IsMadeRoom(const RoundQueue& queued, const RoundDecision& decision) {
  bool gives_way = false;
  for (size_t index = 0; index < queued.workloads.size(); ++index) {
    const RoundWorkload& workload = queued.workloads[index];
    if (workload.state == RoundState::kLeaves) return false;
    gives_way |= workload.state == RoundState::kRuns && workload.band != Band::kRuns &&
                 decision.verdicts[index].band != Band::kRuns;
  }
  return gives_way;
}

}  // namespace

// One of a Workload.
struct RoundsDriver::Write {
  // In the order in which they are made, so that nobody who is to go on running is ever behind
  // somebody who waits.
  enum class Kind : uint8_t {
    kRestoreWaiting,
    kProtect,  // whoever runs has the upper band
    kRestoreRunning,
    kWithdraw,  // whoever waits has it no more
    kLower,     // whoever runs has it no more
    // Whoever waits has it. Kueue looks at it now, and does not when the other one's falls later
    // on: so never before that.
    kRaise,
    kSort,  // who is next
    kNote,
  };

  Kind kind = Kind::kNote;
  std::shared_ptr<const Workload> workload;
  int64_t priority = 0;
  std::optional<RoundNote> note;
  std::string_view why;
  std::string_view queue = {};  // that it is ordered in
  // That the workload loses its turn by it.
  std::optional<kube::EventRecord> lost_turn = {};
};

RoundsDriver::RoundsDriver(const RoundObjects& objects, kube::RoundApi& api,
                           kube::EventRecorder& events, ProgressOf progress,
                           ProfileCheckpoints checkpoints, TypeFacts& facts, const Clock& clock,
                           Logger& log, metrics::RoundMetrics& metrics)
    : objects_(objects),
      api_(api),
      events_(events),
      progress_(std::move(progress)),
      checkpoints_(std::move(checkpoints)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      facts_(facts),
      turns_(facts),
      elastic_(objects, api, events, checkpoints_, clock, rate_, log, metrics) {}

void RoundsDriver::StartOver() {
  kept_.clear();
  elastic_.StartOver();
  rounds_.clear();
  turns_.StartOver();
  status_written_.clear();
}

std::unordered_map<std::string, RoundsDriver::Pods> RoundsDriver::CountPods() const {
  std::unordered_map<std::string, Pods> counts;
  for (const auto& pod : objects_.pods.All()) {
    if (!pod->has_gpus || pod->workload.empty()) continue;
    Pods& pods = counts[pod->pod_namespace + "/" + pod->workload];
    pods.counts.Add(*pod);
    pods.uids.push_back(pod->uid);
    if (pod->has_node) pods.node = pod->node;
    if (!pod->running) continue;
    const auto progress = progress_(pod->uid);
    if (!progress) continue;
    // An empty one is less than any other.
    pods.remaining = std::max(pods.remaining, progress->remaining);
    if (progress->rate) pods.rate = pods.rate.value_or(0) + *progress->rate;
    // One that counts by epochs tells no iteration of the whole run.
    if (!progress->iteration || progress->epoch) continue;
    ElasticSight& sight = pods.sight;
    sight.rate = std::max(sight.rate, progress->rate);
    // Often one of the pods tells for all.
    if (!pods.iteration || *progress->iteration > *pods.iteration) {
      sight.iteration = static_cast<double>(*progress->iteration);
      if (progress->total) sight.total = static_cast<double>(*progress->total);
      if (progress->loss) sight.loss = progress->loss;
    }
    pods.iteration = std::max(pods.iteration, progress->iteration);
    const double began_at = static_cast<double>(*progress->iteration) - progress->iterations;
    pods.began_at = std::max(pods.began_at, std::optional(began_at));
  }
  return counts;
}

RoundDelays RoundsDriver::Book(const Rounds& rounds, const Workload& workload, const Pods& pods,
                               Moment at) {
  const auto [entry, is_new] = kept_.try_emplace(workload.uid);
  Kept& kept = entry->second;
  kept.pass = pass_;
  if (is_new) {
    if (workload.note) kept.service = ServiceOf(*workload.note);
    kept.booked = workload.note ? workload.note->at : workload.created;
    // With other workers a job has another workload.
    if (!workload.note)
      kept.service = elastic_.TakeCarried(workload.owner.uid).value_or(kept.service);
  }
  if (kept.iteration && (!workload.has_quota || workload.evicted))
    kept.service.left_at = kept.iteration;
  kept.doing = DoingOf(workload, pods.counts, at.wall);
  // One that has its quota waits for its GPU type all the same.
  if (IsHeld(objects_, workload)) kept.doing = Rounds::Doing::kWaited;
  const bool runs = kept.doing == Rounds::Doing::kRan;
  Duration stretch = at.wall - std::max(kept.booked, DoingSince(workload, pods.counts, at.wall));
  // The wall clock may jump.
  if (kept.looked) stretch = std::min(stretch, at.now - *kept.looked);
  const RoundDelays before = kept.service.delays;
  rounds.Book(kept.service, workload.gpus, workload.created, kept.doing, stretch, at.wall);
  if (runs) HearRemaining(kept, workload, pods, at.wall);
  kept.iteration = runs ? pods.iteration : std::nullopt;
  kept.booked = at.wall;
  kept.looked = at.now;
  if (is_new) return {};
  const RoundDelays& after = kept.service.delays;
  return {after.fair_share - before.fair_share, after.fragmentation - before.fragmentation};
}

void RoundsDriver::HearRemaining(Kept& kept, const Workload& workload, const Pods& pods,
                                 WallTime now) const {
  const auto gpus = static_cast<double>(std::max<int64_t>(workload.gpus.count(), 1));
  const Seconds ran(kept.service.served / gpus);
  const auto hear = [&](Seconds told) {
    kept.service.remaining = kept.belief.Hear(told, ran);
    kept.service.refuted = kept.belief.refuted();
  };
  if (pods.remaining) {
    kept.trainer_told.reset();
    return hear(Seconds(*pods.remaining));
  }
  if (workload.owner.kind != "TrainJob" || !objects_.knows_train_jobs) return;
  const auto job =
      objects_.train_jobs.Find(workload.workload_namespace + "/" + workload.owner.name);
  const bool tells = job && job->uid == workload.owner.uid && job->told;
  const WallTime since = std::max(pods.counts.since, workload.quota_since);
  if (const auto at = tells ? ToldAt(*job->told, since, now) : std::nullopt) {
    const Seconds age = now - *at;
    kept.trainer_told = ran - age;
    hear(std::max(*job->told->remaining - age, Seconds(0)));
  } else if (kept.trainer_told && ran - *kept.trainer_told > kLongestSilence) {
    // Else who says "a minute", and then nothing, would go first for ever.
    kept.service.remaining.reset();
    kept.service.refuted = true;
  }
}

void RoundsDriver::TellLoss(const Workload& workload, const Pods& pods) {
  Kept& kept = kept_.at(workload.uid);
  std::optional<int64_t>& left_at = kept.service.left_at;
  if (kept.doing != Rounds::Doing::kRan || !left_at || !pods.began_at) return;
  const double again = std::max(static_cast<double>(*left_at) - *pods.began_at, 0.0);
  events_.Record(
      AboutJob(workload, "SynergyTurnBegan",
               fmt::format("it goes on from iteration {:.0f}; when its last turn ended it "
                           "was at {}: {:.0f} iterations are done again",
                           *pods.began_at, *left_at, again)));
  left_at.reset();
}

// What it still does can be told from the note and the objects, for as long as it does it.
bool RoundsDriver::WantsNote(const Workload& workload) const {
  const Kept& kept = kept_.at(workload.uid);
  const RoundService written = workload.note ? ServiceOf(*workload.note) : RoundService();
  if (kept.service.left_at != written.left_at) return true;
  const RoundDelays& delays = kept.service.delays;
  if (kept.doing != Rounds::Doing::kWaited &&
      delays.fair_share - written.delays.fair_share >= kLeastDelay)
    return true;
  if (kept.doing != Rounds::Doing::kUnplaced &&
      delays.fragmentation - written.delays.fragmentation >= kLeastDelay)
    return true;
  const double unwritten = kept.service.served - written.served;
  if (kept.doing != Rounds::Doing::kRan) return unwritten > 0;
  return unwritten >= kUnwrittenSeconds * static_cast<double>(workload.gpus.count());
}

kube::EventRecord RoundsDriver::TellLostTurn(const RoundQueue& queued,
                                             const RoundDecision& decision, size_t index,
                                             WallTime now) const {
  const Workload& loser = *queued.objects[index];
  std::vector<std::string> takers;
  size_t more = 0;
  for (const size_t other : decision.order) {
    const bool takes = decision.verdicts[other].band == Band::kRuns &&
                       queued.workloads[other].state == RoundState::kWaits;
    if (!takes) continue;
    if (takers.size() < kMostTakers) {
      takers.push_back(NameFor(loser, *queued.objects[other]));
    } else {
      ++more;
    }
  }
  if (takers.empty()) takers.emplace_back("others");
  const auto had = std::chrono::floor<std::chrono::seconds>(now - loser.quota_since);
  std::string message = fmt::format("its turn goes to {}", fmt::join(takers, ", "));
  if (more > 0) message += fmt::format(" and {} more", more);
  message += fmt::format("; it had {} GPUs for {} s", loser.gpus.count(), had.count());
  if (const auto& iteration = kept_.at(loser.uid).iteration)
    message += fmt::format(" and is at iteration {}", *iteration);
  message += ", and goes on from its last checkpoint in its next turn";
  return AboutJob(loser, "SynergyTurnLost", std::move(message));
}

// Kueue 0.19 notes each shape of pods and priority that it could not admit, and looks at no
// workload of that shape and priority until something else of the queue changes. A priority that
// falls, of a workload that runs and has no class, is no such change.
bool RoundsDriver::IsOverlooked(const Workload& workload, bool could_start) {
  std::optional<Instant>& since = kept_.at(workload.uid).overlooked_since;
  if (!could_start) {
    since.reset();
    return false;
  }
  if (!since) since = clock_.Now();
  return clock_.Now() - *since >= kMostOverlooked;
}

void RoundsDriver::DecideQueue(const JudgedPolicy& policy, const std::string& name,
                               RoundQueue& queued, bool begins, WallTime now,
                               RoundPolicyStatus::Queue& status, std::vector<Write>& writes) {
  const Gpus quota = policy.queues.at(name).queue->quota;
  const RoundDecision decision =
      policy.rounds->IsElastic()
          ? elastic_.Decide(policy.rounds->settings(), quota, queued, begins, now)
          : policy.rounds->Decide(quota, queued.workloads, begins, now);
  for (const size_t index : decision.order) {
    const bool waits = queued.workloads[index].state == RoundState::kWaits;
    if (waits && status.up_next.size() < kMostUpNext)
      status.up_next.push_back(queued.workloads[index].name);
  }
  const bool takes_turns = policy.queues.at(name).queue->TakesTurns();
  const bool is_made_room = takes_turns && IsMadeRoom(queued, decision);
  for (size_t index = 0; index < queued.workloads.size(); ++index) {
    const RoundWorkload& described = queued.workloads[index];
    const auto& workload = queued.objects[index];
    const auto& [band, why] = decision.verdicts[index];
    RoundNote note = NoteOf(described.service, now);
    note.own = described.own_priority;
    note.written = workload->priority;
    if (described.left_alone) {
      ++status.left_alone;
      // Else this process would be all that knows what it had until its user stopped it.
      if (workload->note && WantsNote(*workload))
        writes.push_back({Write::Kind::kNote, workload, workload->priority, note, why});
      continue;
    }
    ++(band == Band::kRuns ? status.runs : band == Band::kNext ? status.next : status.waits);
    const bool could_start = is_made_room && !workload->has_quota && band == Band::kRuns &&
                             described.band == Band::kRuns;
    const bool overlooked = IsOverlooked(*workload, could_start);
    if (band != described.band) {
      note.written = PriorityOf(note.own, band);
      const bool runs = described.state == RoundState::kRuns;
      const auto kind = band == Band::kRuns ? (runs ? Write::Kind::kProtect : Write::Kind::kRaise)
                        : described.band != Band::kRuns ? Write::Kind::kSort
                        : runs                          ? Write::Kind::kLower
                                                        : Write::Kind::kWithdraw;
      std::optional<kube::EventRecord> lost_turn;
      if (kind == Write::Kind::kLower && takes_turns) {
        ++note.lost_turns;
        lost_turn = TellLostTurn(queued, decision, index, now);
      }
      writes.push_back({kind, workload, note.written, note, why, name, std::move(lost_turn)});
      continue;
    }
    const std::optional<int64_t> again = RaisedAgain(*workload);
    if (overlooked && again && *again <= policy.policy->most_priority) {
      note.written = *again;
      writes.push_back({Write::Kind::kRaise, workload, *again, note, kOverlooked, name});
    } else if (WantsNote(*workload)) {
      writes.push_back({Write::Kind::kNote, workload, workload->priority, note, why});
    }
  }
}

void RoundsDriver::Step(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  ++pass_;
  std::vector<JudgedPolicy> policies = JudgePolicies(objects_);
  std::map<std::string, const JudgedPolicy*> ordered;  // queues that a policy orders
  for (const JudgedPolicy& policy : policies) {
    for (const auto& [name, queue] : policy.queues) {
      if (policy.rounds && queue.problem.empty()) ordered.emplace(name, &policy);
    }
  }

  std::vector<Write> writes;
  std::map<std::string, RoundQueue> queues;
  std::map<std::string, RoundDelays> delays;  // booked with this step
  std::set<std::string> jobs;                 // of the policy optimus, by UID
  const auto pods = CountPods();
  for (const auto& workload : objects_.workloads.All()) {
    if (workload->finished) continue;
    const auto local =
        objects_.local_queues.Find(workload->workload_namespace + "/" + workload->local_queue);
    const auto policy = local ? ordered.find(local->cluster_queue) : ordered.end();
    if (policy == ordered.end() || workload->gpus <= Gpus(0)) {
      // What nobody orders any more is as it was.
      if (workload->note) {
        const auto kind =
            workload->has_quota ? Write::Kind::kRestoreRunning : Write::Kind::kRestoreWaiting;
        writes.push_back(
            {kind, workload, workload->OwnPriority(), std::nullopt, "no policy orders its queue"});
      }
      continue;
    }
    const auto own_pods = pods.find(workload->Key());
    const Pods its_pods = own_pods == pods.end() ? Pods() : own_pods->second;
    const RoundDelays booked = Book(*policy->second->rounds, *workload, its_pods, at);
    TellLoss(*workload, its_pods);
    RoundDelays& sum = delays[policy->first];
    sum.fair_share += booked.fair_share;
    sum.fragmentation += booked.fragmentation;
    RoundQueue& queued = queues[policy->first];
    queued.objects.push_back(workload);
    RoundWorkload& described = queued.workloads.emplace_back(ToRoundWorkload(
        *policy->second->policy, *workload, kept_.at(workload->uid).service, at.wall));
    described.may_lose_turn = workload->MayLoseTurn(checkpoints_);
    if (policy->second->policy->ChoosesTypes() && IsHeld(objects_, *workload))
      described.state = RoundState::kWaits;
    if (!policy->second->rounds->IsElastic()) continue;
    const Kept& kept = kept_.at(workload->uid);
    const bool runs = kept.doing == Rounds::Doing::kRan;
    elastic_.Add(queued, policy->second->rounds->settings(),
                 runs ? std::optional(its_pods.counts.since) : std::nullopt, its_pods.sight,
                 kept.iteration, at.wall);
    jobs.insert(queued.elastic.back().job);
  }
  elastic_.ForgetOthers(std::move(jobs));
  std::erase_if(kept_, [this](const auto& entry) { return entry.second.pass != pass_; });

  std::map<std::string, RoundPolicyStatus> statuses;
  std::map<std::string, WallTime> rounds;
  std::map<std::string, metrics::RoundCounts> counts;
  std::set<std::string> with_types;
  for (const JudgedPolicy& policy : policies) {
    if (policy.policy->ChoosesTypes()) with_types.insert(policy.policy->uid);
  }
  turns_.Keep(with_types);
  for (JudgedPolicy& policy : policies) {
    const std::string& uid = policy.policy->uid;
    RoundPolicyStatus& status = statuses[uid];
    bool begins = false;
    if (policy.rounds) {
      const WallTime round = policy.rounds->RoundAt(at.wall);
      const auto known = rounds_.find(uid);
      begins = known != rounds_.end() && known->second != round;
      rounds.emplace(uid, round);
    }
    if (policy.rounds && policy.policy->ChoosesTypes())
      ChooseTypes(policy, queues, pods, begins, at);
    for (const auto& [name, judged] : policy.queues) {
      RoundPolicyStatus::Queue& queue = status.queues.emplace_back();
      queue.name = name;
      queue.ready = policy.rounds && judged.problem.empty();
      queue.message = judged.problem.empty() ? judged.hint : judged.problem;
      if (!queue.ready) continue;
      queue.gpus = judged.queue->quota.count();
      DecideQueue(policy, name, queues[name], begins, at.wall, queue, writes);
      counts[name] = {queue.runs, queue.next, queue.waits};
    }
  }
  metrics_.SetWorkloads(counts);
  for (const auto& [queue, booked] : delays) {
    metrics_.CountDelay(queue, "fair_share", booked.fair_share.count());
    metrics_.CountDelay(queue, "fragmentation", booked.fragmentation.count());
  }
  // Those that wait have their new size before they have their place, and Kueue writes that into
  // their workloads: until it has, neither their bands are written nor room is made for them.
  std::set<std::string> sizing;
  std::set<std::string> sizing_queues;
  for (const auto& [name, queued] : queues) {
    std::set<std::string> uids = elastic_.SizeWaiting(name, queued, at.wall, stop);
    if (!uids.empty()) sizing_queues.insert(name);
    sizing.merge(uids);
  }
  std::erase_if(writes, [&](const Write& write) { return sizing.contains(write.workload->uid); });
  const bool all_written = Carry(std::move(writes), stop);
  for (const auto& [name, queued] : queues) {
    if (all_written && !sizing_queues.contains(name))
      elastic_.SizeRunning(name, queued, at.wall, stop);
  }
  // A round that has not begun everywhere goes on beginning, though not for long.
  for (auto& [uid, round] : rounds) {
    const auto known = rounds_.find(uid);
    const bool late = at.wall - round > kLongestBeginning;
    if (known != rounds_.end() && !all_written && !late) round = known->second;
  }
  rounds_ = std::move(rounds);
  WriteStatuses(policies, std::move(statuses), stop);
}

void RoundsDriver::ChooseTypes(JudgedPolicy& policy, std::map<std::string, RoundQueue>& queues,
                               const std::unordered_map<std::string, Pods>& pods, bool begins,
                               Moment at) {
  std::vector<TypedWorkload> workloads;
  std::vector<RoundWorkload*> described;
  std::set<std::string> ours;
  for (const auto& [name, judged] : policy.queues) {
    if (!judged.problem.empty()) continue;
    RoundQueue& queued = queues[name];
    for (size_t index = 0; index < queued.workloads.size(); ++index) {
      const Workload& object = *queued.objects[index];
      TypedWorkload& workload =
          workloads.emplace_back(TypedWorkload{queued.objects[index], queued.workloads[index]});
      described.push_back(&queued.workloads[index]);
      workload.running = kept_.at(object.uid).doing == Rounds::Doing::kRan;
      const auto own = pods.find(object.Key());
      if (own != pods.end()) {
        ours.insert(own->second.uids.begin(), own->second.uids.end());
        workload.rate = own->second.rate;
        if (!own->second.node.empty()) workload.on = facts_.ProductOf(own->second.node);
      }
      const auto check = OurCheck(objects_, object);
      if (workload.on.empty() && check) workload.on = object.checks[*check].product;
    }
  }
  const Result<> decided =
      turns_.Decide(*policy.policy, *policy.rounds, workloads, ours, begins, at);
  if (!decided) {
    for (auto& [name, queue] : policy.queues) {
      if (queue.problem.empty()) queue.problem = "spec." + decided.error().message;
    }
    return;
  }
  for (size_t index = 0; index < workloads.size(); ++index) {
    if (const TypeTurn* const turn = turns_.Of(workloads[index].object->uid))
      described[index]->place = turn->place;
  }
}

bool RoundsDriver::Carry(std::vector<Write> writes, const std::stop_token& stop) {
  std::stable_sort(writes.begin(), writes.end(),
                   [](const Write& a, const Write& b) { return a.kind < b.kind; });
  size_t failed = 0;
  bool all = true;
  std::set<std::string_view> stuck;  // queues of which somebody keeps its turn for now
  for (const Write& write : writes) {
    const Workload& workload = *write.workload;
    // Nothing is written over what we have written, until the watch shows that.
    const auto kept = kept_.find(workload.uid);
    if (kept != kept_.end() && kept->second.written == workload.resource_version) continue;
    const Instant now = clock_.Now();
    const bool is_note = write.kind == Write::Kind::kNote;
    if (write.kind == Write::Kind::kRaise && stuck.contains(write.queue)) continue;
    if (stop.stop_requested() || failed == kMostFailedWrites || rate_.Next() > now)
      return all && is_note;
    rate_.Spend(1, now);
    const Result<> written = is_note
                                 ? api_.WriteNote(workload, *write.note, stop)
                                 : api_.WritePriority(workload, write.priority, write.note, stop);
    const bool gone = IsOutdated(written);
    metrics_.CountWrite(is_note      ? "note"
                        : write.note ? "band"
                                     : "restored",
                        written ? "written"
                        : gone  ? "outdated"
                                : "failed");
    if (written && kept != kept_.end()) {
      kept->second.written = workload.resource_version;
      if (write.note) kept->second.service.lost_turns = write.note->lost_turns;
    }
    if (written && write.lost_turn) {
      metrics_.CountLostTurn(std::string(write.queue));
      events_.Record(*write.lost_turn);
    }
    if (written && !is_note) {
      log_.Info("priority", {{"workload", workload.Key()},
                             {"from", workload.priority},
                             {"to", write.priority},
                             {"because", write.why}});
    }
    all &= written || is_note;
    if (!written && write.kind == Write::Kind::kLower) stuck.insert(write.queue);
    // It comes again by the watch, as it is by then.
    if (written || gone) continue;
    ++failed;
    log_.Warn("a workload's priority cannot be written",
              {{"workload", workload.Key()}, {"error", written.error().message}});
  }
  return all;
}

void RoundsDriver::WriteStatuses(const std::vector<JudgedPolicy>& policies,
                                 std::map<std::string, RoundPolicyStatus> statuses,
                                 const std::stop_token& stop) {
  for (const JudgedPolicy& judged : policies) {
    const RoundPolicy& policy = *judged.policy;
    RoundPolicyStatus& status = statuses.at(policy.uid);
    status.observed_generation = policy.generation;
    std::set<std::string> refused;
    for (const auto& queue : status.queues) {
      if (!queue.ready) refused.insert(queue.name);
    }
    status.ready = judged.rounds && refused.empty();
    status.reason = !judged.rounds ? "Invalid" : refused.empty() ? "Ordered" : "QueueRefused";
    status.message = judged.problem;
    if (judged.rounds && !refused.empty()) {
      const std::string& first = *refused.begin();
      const std::string& why = judged.queues.at(first).problem;
      status.message = fmt::format("cluster queue {}: {}", first, why);
    }
    status.since = policy.status.since;
    if (status == policy.status) continue;
    const Instant now = clock_.Now();
    const auto [last, is_first] = status_written_.try_emplace(policy.uid, now);
    const bool soon = status.ready != policy.status.ready ||
                      status.observed_generation != policy.status.observed_generation;
    const bool recently = !is_first && now - last->second < kStatusInterval;
    if (recently && !(soon && now - last->second >= std::chrono::seconds(1))) continue;
    last->second = now;
    if (status.ready != policy.status.ready || status.since.empty())
      status.since = ToTimeText(clock_.WallNow());
    const Result<> written = api_.WriteStatus(policy, status, stop);
    metrics_.CountWrite("status", written               ? "written"
                                  : IsOutdated(written) ? "outdated"
                                                        : "failed");
    if (!written && !IsOutdated(written)) {
      log_.Warn("a round policy's status cannot be written",
                {{"policy", policy.name}, {"error", written.error().message}});
    }
  }
}

}  // namespace synergy::controller
