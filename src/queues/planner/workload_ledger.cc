#include "queues/planner/workload_ledger.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

// A workload's service is written into its note after this running time.
constexpr double kUnwrittenSeconds = 300;
// The shortest finished wait that is recorded. Observations are a second apart, so they cannot
// measure a shorter one.
constexpr Seconds kLeastDelay{1};
// A job's service is forgotten once the job has had no Workload for this time.
constexpr Duration kLongestGap = std::chrono::hours(1);

int64_t GpusOf(const Workload& workload) { return std::max<int64_t>(workload.gpus.count(), 1); }

}  // namespace

std::unordered_map<std::string, ObservedPods> ObservePods(const QueueObjects& objects,
                                                          const ProgressOf& progress) {
  std::unordered_map<std::string, ObservedPods> all;
  for (const auto& [uid, pod] : objects.pods) {
    if (!pod->has_gpus || pod->workload.empty()) continue;
    ObservedPods& pods = all[pod->WorkloadKey()];
    pods.counts.Add(*pod);
    pods.uids.push_back(uid);
    if (pod->has_node) {
      pods.node = pod->node;
      pods.placed += pod->gpus;
    }
    if (!pod->running) continue;
    const auto reported = progress(uid);
    if (!reported) continue;
    // nullopt compares less than any value.
    pods.remaining = std::max(pods.remaining, reported->remaining);
    pods.rate = std::max(pods.rate, reported->rate);
    // A log that counts by epochs does not report the iteration of the whole run.
    if (!reported->iteration || reported->epoch) continue;
    ElasticSight& sight = pods.sight;
    sight.rate = std::max(sight.rate, reported->rate);
    // Often only one pod reports the progress of all.
    if (!pods.iteration || *reported->iteration > *pods.iteration) {
      sight.iteration = static_cast<double>(*reported->iteration);
      if (reported->total) sight.total = static_cast<double>(*reported->total);
      if (reported->loss) sight.loss = reported->loss;
    }
    pods.iteration = std::max(pods.iteration, reported->iteration);
    const double began_at = static_cast<double>(*reported->iteration) - reported->iterations;
    pods.began_at = std::max(pods.began_at, std::optional(began_at));
  }
  return all;
}

void WorkloadLedger::Begin(const QueueObjects& objects, Instant now) {
  ++pass_;
  std::unordered_set<std::string_view> present;
  for (const auto& [key, workload] : objects.workloads) {
    if (!workload->finished) present.insert(workload->uid);
  }
  std::erase_if(left_, [&](const auto& each) { return now - each.second.at > kLongestGap; });
  std::erase_if(entries_, [&](const auto& each) {
    const auto& [uid, entry] = each;
    if (present.contains(uid)) return false;
    if (!entry.job.empty() && !entry.account.follows) {
      Left& left = left_[entry.job] = {entry.account.service, entry.charged_until, now};
      if (entry.account.iteration) left.service.left_at = entry.account.iteration;
    }
    return true;
  });
}

void WorkloadLedger::Inherit(Entry& entry, WallTime created) {
  const auto left = left_.find(entry.job);
  if (left == left_.end()) return;
  entry.account.service = left->second.service;
  entry.charged_until = std::max(left->second.charged_until, created);
  left_.erase(left);
}

RoundDelays WorkloadLedger::Observe(const QueueObjects& objects, const Rounds& rounds,
                                    const Workload& workload, const ObservedPods& pods,
                                    const Workload* replaced, bool held, Moment at) {
  const auto [found, is_new] = entries_.try_emplace(workload.uid);
  Entry& entry = found->second;
  Account& account = entry.account;
  RoundService& service = account.service;
  entry.pass = pass_;
  if (is_new) {
    entry.job = workload.owner.uid;
    if (workload.note) service = ServiceOf(*workload.note);
    entry.charged_until = workload.note ? workload.note->at : workload.created;
  }
  if (replaced != nullptr) {
    const Entry& other = entries_.at(replaced->uid);
    service = other.account.service;
    entry.charged_until = other.charged_until;
    entry.observed = other.observed;
    account.doing = Rounds::Doing::kWaited;
    account.follows = true;
    return {};
  }
  const bool inherits = std::exchange(account.follows, false) || (is_new && !workload.note);
  if (inherits) Inherit(entry, workload.created);
  if (is_new || inherits)
    entry.ran = Seconds(service.served / static_cast<double>(GpusOf(workload)));
  if (account.iteration && (!workload.has_quota || workload.evicted))
    service.left_at = account.iteration;
  account.doing = held ? Rounds::Doing::kWaited : DoingOf(workload, pods.counts, at.wall);
  const bool runs = account.doing == Rounds::Doing::kRan;
  WallTime from = entry.charged_until;
  // The wall clock may jump.
  if (entry.observed) from = std::max(from, at.wall - (at.now - *entry.observed));
  const RoundService before = service;
  ChargeUntil(rounds, service, workload, pods.counts, account.doing, from, at.wall);
  const double served = service.served - before.served;
  account.accrues = runs || served > 0;
  if (runs) entry.ran += Seconds(served / static_cast<double>(GpusOf(workload)));
  if (runs) ObserveRemaining(objects, entry, workload, pods, at.wall);
  account.iteration = runs ? pods.iteration : std::nullopt;
  entry.charged_until = at.wall;
  entry.observed = at.now;
  if (is_new) return {};
  return {service.delays.fair_share - before.delays.fair_share,
          service.delays.fragmentation - before.delays.fragmentation};
}

void WorkloadLedger::ObserveRemaining(const QueueObjects& objects, Entry& entry,
                                      const Workload& workload, const ObservedPods& pods,
                                      WallTime now) {
  RoundService& service = entry.account.service;
  const Seconds ran = entry.ran;
  const auto observe = [&](Seconds remaining) {
    service.remaining = entry.remaining_check.Check(remaining, ran);
    service.refuted = entry.remaining_check.refuted();
  };
  if (pods.remaining) {
    entry.trainer_reported.reset();
    return observe(Seconds(*pods.remaining));
  }
  if (workload.owner.kind != "TrainJob" || !objects.watches_train_jobs) return;
  const auto job = objects.train_jobs.Find(workload.workload_namespace + "/" + workload.owner.name);
  const bool reports = job && job->uid == workload.owner.uid && job->trainer_status;
  const WallTime since = std::max(pods.counts.since, workload.quota_since);
  if (const auto reported = reports ? ReportedAt(*job->trainer_status, since, now) : std::nullopt) {
    const Seconds age = now - *reported;
    entry.trainer_reported = ran - age;
    observe(std::max(*job->trainer_status->remaining - age, Seconds(0)));
  } else if (entry.trainer_reported && ran - *entry.trainer_reported > kLongestSilence) {
    // Otherwise a job that reports a remaining minute and then nothing would go first forever.
    service.remaining.reset();
    service.refuted = true;
  }
}

std::string WorkloadLedger::TakeLoss(const Workload& workload, const ObservedPods& pods) {
  Account& account = Of(workload);
  std::optional<int64_t>& left_at = account.service.left_at;
  if (account.doing != Rounds::Doing::kRan || !left_at || !pods.began_at) return {};
  const double again = std::max(static_cast<double>(*left_at) - *pods.began_at, 0.0);
  std::string message = fmt::format(
      "it continues from iteration {:.0f}; its last turn ended at {}: {:.0f} iterations are "
      "repeated",
      *pods.began_at, *left_at, again);
  left_at.reset();
  return message;
}

bool WorkloadLedger::WantsNote(const Workload& workload) const {
  const Account& account = Of(workload);
  if (account.follows) return false;
  const RoundService& service = account.service;
  const RoundService written = workload.note ? ServiceOf(*workload.note) : RoundService();
  if (service.left_at != written.left_at) return true;
  // Write the first report at once, so that it survives a stop of the job and a restart of this
  // process.
  if (service.remaining && !written.remaining) return true;
  const RoundDelays& delays = service.delays;
  if (account.doing != Rounds::Doing::kWaited &&
      delays.fair_share - written.delays.fair_share >= kLeastDelay)
    return true;
  if (account.doing != Rounds::Doing::kUnplaced &&
      delays.fragmentation - written.delays.fragmentation >= kLeastDelay)
    return true;
  const double unwritten = service.served - written.served;
  if (!account.accrues) return unwritten > 0;
  return unwritten >= kUnwrittenSeconds * static_cast<double>(workload.gpus.count());
}

void WorkloadLedger::Forget() {
  std::erase_if(entries_, [this](const auto& entry) { return entry.second.pass != pass_; });
}

}  // namespace synergy
