#include "queues/rounds.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::string_view kTurn = "it has its turn";
constexpr std::string_view kToItsEnd = "it is never suspended";
constexpr std::string_view kRound = "its round has not ended";
constexpr std::string_view kLeastRun = "it has run for less than the minimum";
constexpr std::string_view kNearlyDone = "it needs no longer than a restart would cost";
constexpr std::string_view kNotKnown = "its remaining time is unknown";
constexpr std::string_view kNoPreemption = "the policy never takes turns away";
constexpr std::string_view kTooLarge = "it needs more GPUs than the queue has";
constexpr std::string_view kLosesTurn = "other jobs come first";
constexpr std::string_view kNextWhenFree = "it is next when GPUs become free";
constexpr std::string_view kBehind = "other jobs are next";
constexpr std::string_view kInTime = "it ends before the job ahead of it can start";
constexpr std::string_view kSpare = "it uses GPUs that the job ahead of it does not need";
constexpr std::string_view kDivided = "workers were divided at the beginning of the round";

// A reported remaining time may be wrong by this factor.
constexpr double kUncertainty = 2;

// When a workload that waits for GPUs can start, according to the ends of the running workloads.
struct Start {
  Seconds earliest{};  // time from now
  Gpus spare;          // GPUs that it does not need at its likely start
};

// The end of a running workload, as times from now.
struct End {
  Seconds likely{};
  Seconds earliest{};
  Gpus gpus;
};

// Returns the end of a running workload; nullopt if it is unknown.
std::optional<End> EndOf(const RoundWorkload& workload, WallTime now) {
  std::optional<End> end;
  const std::optional<Seconds>& remaining = workload.service.remaining;
  if (remaining && !workload.service.refuted)
    end = End{*remaining, *remaining / kUncertainty, workload.gpus};
  if (!workload.longest) return end;
  const Seconds left =
      std::max<Seconds>(workload.started + *workload.longest - now, Duration::zero());
  // It may end long before its limit.
  if (!end) return End{left, Seconds(0), workload.gpus};
  return End{std::min(end->likely, left), std::min(end->earliest, left), workload.gpus};
}

// Returns the longest running time of a waiting workload; nullopt if it is unknown.
std::optional<Seconds> LongestOf(const RoundWorkload& workload, Duration restart_cost) {
  std::optional<Seconds> longest = workload.longest;
  const std::optional<Seconds>& remaining = workload.service.remaining;
  if (!remaining || workload.service.refuted) return longest;
  const Seconds measured = *remaining * kUncertainty + restart_cost;
  return std::min(longest.value_or(measured), measured);
}

// Returns when a workload of `gpus` can start. `free`: GPUs that are free now. Returns nullopt if
// the workloads with known ends free too few GPUs.
std::optional<Start> StartOf(Gpus gpus, Gpus free, std::vector<End> ends) {
  Start start;
  std::sort(ends.begin(), ends.end(),
            [](const End& a, const End& b) { return a.likely < b.likely; });
  Gpus sum = free;
  for (auto end = ends.begin(); sum < gpus && end != ends.end(); ++end) sum += end->gpus;
  if (sum < gpus) return std::nullopt;
  start.spare = sum - gpus;
  std::sort(ends.begin(), ends.end(),
            [](const End& a, const End& b) { return a.earliest < b.earliest; });
  sum = free;
  for (auto end = ends.begin(); sum < gpus && end != ends.end(); ++end) {
    sum += end->gpus;
    start.earliest = end->earliest;
  }
  return start;
}

Seconds SinceEpoch(WallTime time) { return time.time_since_epoch(); }

Result<std::unique_ptr<const Policy>> MakeOrder(const RoundSettings& settings) {
  // In an elastic queue, jobs are ordered by arrival. The gains decide only their workers.
  if (settings.elastic) return std::make_unique<const Fifo>();
  // With GPU types, the caller passes the order. Like Las, that order preempts and keeps no queues.
  if (settings.gpu_types != GpuTypes::kNone) return std::make_unique<const Las>();
  auto policy = MakePolicy(settings.policy, {settings.queues, SizeHistory(settings.sizes)});
  if (!policy) return Fail(ErrorCode::kInvalid, "policy: " + policy.error().message);
  return policy;
}

}  // namespace

std::string_view ToString(Band band) {
  switch (band) {
    case Band::kWaits:
      return "waits";
    case Band::kNext:
      return "next";
    case Band::kRuns:
      return "runs";
  }
  return "?";
}

// The sort key: earlier members weigh more, and the lower key goes first.
struct Rounds::Entry {
  bool may_lose_turn = true;  // false only for a running workload
  int64_t class_behind = 0;
  bool gives_way = true;
  bool turn_unused = false;  // has a turn but does not run: it goes behind those that run
  bool unknown = false;
  PolicyRank rank;
  WallTime created;
  const std::string* name = nullptr;
  size_t index = 0;
  std::string_view kept;  // why it keeps its turn; empty if it does not

  bool operator<(const Entry& other) const {
    return std::tie(may_lose_turn, class_behind, gives_way, turn_unused, unknown, rank, created,
                    *name, index) < std::tie(other.may_lose_turn, other.class_behind,
                                             other.gives_way, other.turn_unused, other.unknown,
                                             other.rank, other.created, *other.name, other.index);
  }
};

// Chooses which workloads run, in the order of the calls of Consider().
class Rounds::Choice {
 public:
  // `left`: the part of the quotas that these workloads may use.
  Choice(const Rounds& rounds, const RoundQuotas& quotas, QuotaLeft left, WallTime now)
      : rounds_(rounds),
        quotas_(quotas),
        left_(std::move(left)),
        now_(now),
        queues_(quotas.queues.size()) {}

  // Returns why the next workload runs; empty if it does not.
  std::string_view Consider(const Entry& entry, const RoundWorkload& workload) {
    const bool runs = workload.state == RoundState::kRuns;
    std::string_view why = entry.kept.empty() ? kTurn : entry.kept;
    Queue& queue = queues_[workload.queue];
    if (entry.may_lose_turn && (workload.gpus > FreeFor(workload) || (queue.stopped && !runs))) {
      why = Stop(entry, workload);
      if (why.empty()) return why;
    }
    left_.Take(workload.queue, workload.gpus);
    if (!runs) return why;
    if (const std::optional<End> end = EndOf(workload, now_)) queue.ends.push_back(*end);
    return why;
  }

 private:
  struct Queue {
    std::vector<End> ends;  // of the chosen workloads that run
    bool stopped = false;
    std::optional<Start> start;  // of the workload that stopped those behind it, with backfill
  };

  Gpus FreeFor(const RoundWorkload& workload) const { return left_.Of(workload.queue); }

  // Handles a workload that does not fit or is held back. Under fifo, a waiting workload that does
  // not fit holds back those behind it. Returns why a held-back workload may run nevertheless;
  // empty if it may not.
  std::string_view Stop(const Entry& entry, const RoundWorkload& workload) {
    const bool runs = workload.state == RoundState::kRuns;
    const bool stops = !rounds_.policy_->Preempts() && !runs && entry.gives_way &&
                       workload.gpus <= quotas_.MostOf(workload.queue);
    Queue& queue = queues_[workload.queue];
    if (stops && !queue.stopped && rounds_.settings_.backfill)
      queue.start = StartOf(workload.gpus, FreeFor(workload), queue.ends);
    const std::string_view passing =
        queue.stopped && !runs ? Pass(queue, workload) : std::string_view();
    queue.stopped |= stops;
    return passing;
  }

  std::string_view Pass(Queue& queue, const RoundWorkload& workload) const {
    if (!queue.start || workload.gpus > FreeFor(workload)) return {};
    const std::optional<Seconds> longest = LongestOf(workload, rounds_.settings_.restart_cost);
    if (longest && *longest <= queue.start->earliest) return kInTime;
    if (workload.gpus > queue.start->spare) return {};
    queue.start->spare -= workload.gpus;
    return kSpare;
  }

  const Rounds& rounds_;
  const RoundQuotas& quotas_;
  QuotaLeft left_;
  const WallTime now_;
  std::vector<Queue> queues_;
};

Rounds::Rounds(RoundSettings settings, std::unique_ptr<const Policy> policy)
    : settings_(std::move(settings)),
      policy_(std::move(policy)),
      by_remaining_(settings_.gpu_types == GpuTypes::kNone && !settings_.elastic &&
                    FindPolicy(settings_.policy)->by_remaining) {}

Result<Rounds> Rounds::Make(RoundSettings settings) {
  const std::vector<double>& limits = settings.queues.limits;
  if (!std::is_sorted(limits.begin(), limits.end()) || (!limits.empty() && limits.front() <= 0))
    return Fail(ErrorCode::kInvalid, "queueLimits: must be above zero and ascending");
  if (settings.queues.promote < 0)
    return Fail(ErrorCode::kInvalid, "promote: must not be negative");
  if (settings.round < std::chrono::seconds(1))
    return Fail(ErrorCode::kInvalid, "round: must be at least one second");
  if (settings.least_run < Duration(0) || settings.restart_cost < Duration(0))
    return Fail(ErrorCode::kInvalid, "leastRun, restartCost: must not be negative");
  auto policy = MakeOrder(settings);
  if (!policy) return Fail(policy.error());
  if (settings.backfill && ((*policy)->Preempts() || settings.elastic))
    return Fail(ErrorCode::kInvalid, std::string(kBackfillNeedsFifo));
  return Rounds(std::move(settings), *std::move(policy));
}

WallTime Rounds::RoundAt(WallTime now) const {
  return now - now.time_since_epoch() % settings_.round;
}

void Rounds::Charge(RoundService& service, Gpus gpus, WallTime created, Doing doing,
                    Duration stretch, WallTime now) const {
  if (doing == Doing::kNeither || stretch <= Duration(0)) return;
  if (doing == Doing::kUnplaced) {
    service.delays.fragmentation += stretch;
    return;
  }
  if (doing == Doing::kRan) {
    service.served += Seconds(stretch).count() * static_cast<double>(gpus.count());
  } else {
    service.delays.fair_share += stretch;
  }
  ChargePlace(service, gpus, created, doing == Doing::kRan, stretch, now);
}

void Rounds::ChargeHeld(RoundService& service, Gpus gpus, WallTime created, double held,
                        WallTime now) const {
  if (held <= 0) return;
  const Seconds time(held / static_cast<double>(std::max<int64_t>(gpus.count(), 1)));
  service.served += held;
  ChargePlace(service, gpus, created, true, time, now);
}

void Rounds::ChargePlace(RoundService& service, Gpus gpus, WallTime created, bool ran, Seconds time,
                         WallTime now) const {
  Job job;
  job.gpus = gpus;
  job.arrival = SinceEpoch(created);
  job.place = service.place;
  if (ran) job.holds.emplace_back();
  policy_->Charge(job, time, SinceEpoch(now));
  service.place = job.place;
}

std::string_view Rounds::Keeps(const RoundWorkload& workload, bool begins, WallTime now) const {
  const bool has_turn = workload.band == Band::kRuns && !begins;
  if (workload.state != RoundState::kRuns)
    return has_turn && !settings_.backfill ? kRound : std::string_view();
  if (!workload.may_lose_turn) return kToItsEnd;
  if (!policy_->Preempts()) return kNoPreemption;
  if (has_turn) return kRound;
  if (workload.started + settings_.least_run > now) return kLeastRun;
  const auto& remaining = workload.service.remaining;
  if (remaining && *remaining <= Seconds(settings_.restart_cost)) return kNearlyDone;
  if (!remaining && by_remaining_ && !workload.service.refuted) return kNotKnown;
  return {};
}

// Describes the workload for the policy. The cost of a restart puts a running workload ahead.
Job Rounds::ToJob(const RoundWorkload& workload) const {
  const RoundService& service = workload.service;
  const Seconds cost = settings_.restart_cost;
  const double gpus = std::max<double>(static_cast<double>(workload.gpus.count()), 1);
  const bool runs = workload.state == RoundState::kRuns;
  Job job;
  job.gpus = workload.gpus;
  job.arrival = SinceEpoch(workload.created);
  job.attained = Seconds(std::max(service.served - (runs ? cost.count() * gpus : 0), 0.0));
  job.place = service.place;
  if (runs) job.holds.emplace_back();
  if (service.remaining) {
    const bool restarts = !runs && service.served > 0;
    job.remaining = *service.remaining + (restarts ? cost : Seconds(0));
    job.ideal = Seconds(service.served / gpus) + *service.remaining;
  }
  return job;
}

Rounds::Entry Rounds::Rank(const RoundWorkload& workload, size_t index, bool begins,
                           WallTime now) const {
  Entry entry;
  entry.kept = Keeps(workload, begins, now);
  entry.may_lose_turn = workload.state != RoundState::kRuns || workload.may_lose_turn;
  entry.class_behind = -workload.own_priority;
  entry.gives_way = entry.kept.empty();
  entry.turn_unused = !entry.gives_way && workload.state != RoundState::kRuns;
  entry.unknown = by_remaining_ && !workload.service.remaining;
  if (settings_.gpu_types != GpuTypes::kNone) {
    entry.rank.first = workload.place.value_or(std::numeric_limits<double>::infinity());
  } else if (!entry.unknown) {
    entry.rank = policy_->Rank(ToJob(workload), SinceEpoch(now));
  }
  entry.created = workload.created;
  entry.name = &workload.name;
  entry.index = index;
  return entry;
}

RoundDecision Rounds::AsTheyAre(std::span<const RoundWorkload> workloads, WallTime now) const {
  RoundDecision decision;
  std::vector<Entry> entries;
  for (size_t index = 0; index < workloads.size(); ++index) {
    const RoundWorkload& workload = workloads[index];
    decision.verdicts.push_back({workload.band, workload.left_alone ? kLeftAlone : kDivided});
    if (!workload.left_alone) entries.push_back(Rank(workload, index, false, now));
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    const Band one = workloads[a.index].band;
    const Band other = workloads[b.index].band;
    return one != other ? one > other : a < b;
  });
  for (const Entry& entry : entries) decision.order.push_back(entry.index);
  return decision;
}

RoundDecision Rounds::Decide(const RoundQuotas& quotas, std::span<const RoundWorkload> workloads,
                             bool begins, WallTime now) const {
  if (IsElastic()) return AsTheyAre(workloads, now);
  RoundDecision decision;
  decision.verdicts.resize(workloads.size());
  std::vector<Entry> entries;
  std::vector<Entry> resting;
  entries.reserve(workloads.size());
  QuotaLeft left(quotas);
  for (size_t index = 0; index < workloads.size(); ++index) {
    const RoundWorkload& workload = workloads[index];
    if (!workload.left_alone) {
      const bool rests = workload.Rests();
      if (rests) decision.verdicts[index] = {Band::kWaits, kRests};
      (rests ? resting : entries).push_back(Rank(workload, index, begins, now));
      continue;
    }
    decision.verdicts[index] = {workload.band, kLeftAlone};
    if (workload.state == RoundState::kRuns) left.Take(workload.queue, workload.gpus);
  }

  // A workload that had its turn but no longer fits is ranked by the policy again, as in the next
  // decision. Its new rank may change which other workloads fit.
  auto rest = entries.begin();
  for (bool again = true; again;) {
    std::sort(entries.begin(), entries.end());
    again = false;
    Choice choice(*this, quotas, left, now);
    rest = std::stable_partition(entries.begin(), entries.end(), [&](const Entry& entry) {
      const std::string_view why = choice.Consider(entry, workloads[entry.index]);
      if (!why.empty()) decision.verdicts[entry.index] = {Band::kRuns, why};
      return !why.empty();
    });
    for (auto entry = rest; entry != entries.end(); ++entry) {
      if (entry->kept != kRound) continue;
      *entry = Rank(workloads[entry->index], entry->index, true, now);
      again = true;
    }
  }
  JudgeOthers(quotas, workloads, {rest, entries.end()}, decision);
  std::sort(resting.begin(), resting.end());
  decision.order.reserve(entries.size() + resting.size());
  for (const Entry& entry : entries) decision.order.push_back(entry.index);
  for (const Entry& entry : resting) decision.order.push_back(entry.index);
  return decision;
}

void Rounds::JudgeOthers(const RoundQuotas& quotas, std::span<const RoundWorkload> workloads,
                         std::span<Entry> others, RoundDecision& decision) const {
  // For the band kNext, the reason why a workload kept its turn does not matter.
  for (Entry& entry : others) {
    entry.gives_way = true;
    entry.turn_unused = false;
  }
  std::sort(others.begin(), others.end());
  QuotaLeft left(quotas);
  std::vector<bool> held_back(quotas.queues.size());  // by a waiting workload that goes first
  for (const Entry& entry : others) {
    const RoundWorkload& workload = workloads[entry.index];
    RoundVerdict& verdict = decision.verdicts[entry.index];
    if (workload.state == RoundState::kRuns) {
      verdict = {Band::kNext, kLosesTurn};
    } else if (workload.gpus > quotas.MostOf(workload.queue)) {
      verdict = {Band::kWaits, kTooLarge};
    } else if (workload.gpus <= left.Of(workload.queue) && !held_back[workload.queue]) {
      left.Take(workload.queue, workload.gpus);
      verdict = {Band::kNext, kNextWhenFree};
    } else {
      held_back[workload.queue] = held_back[workload.queue] || !policy_->Preempts();
      verdict = {Band::kWaits, kBehind};
    }
  }
}

}  // namespace synergy
