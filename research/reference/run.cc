#include "research/reference/run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "research/reference/queue_order.h"

namespace synergy::reference {
namespace {

// A job that has not run for this many seconds goes first.
constexpr double kLongWait = 1000 * 3600;

double WaitOf(const Job& job, double now) {
  return now - (job.last_run == -1 ? job.arrival : job.last_run);
}

// Returns whether all sums of amounts are exact. They are if all amounts are multiples of 1/1024
// that are not large: then neither their parts per GPU nor the sums of these are rounded.
bool SumsAreExact(const Cluster& cluster, const std::vector<Job>& jobs) {
  const auto is_exact = [](const Amounts& amounts) {
    return std::all_of(amounts.begin(), amounts.end(), [](double amount) {
      return amount * 1024 == std::floor(amount * 1024) && amount < 1e6;
    });
  };
  return is_exact(cluster.server()) && is_exact(cluster.fair()) &&
         std::all_of(jobs.begin(), jobs.end(),
                     [&](const Job& job) { return is_exact(job.demand); });
}

}  // namespace

Run::Run(std::vector<Job> jobs, const Amounts& server, const ReferenceOptions& options,
         ReferenceArrivals arrivals)
    : options_(options),
      arrivals_(arrivals),
      round_(options.round.count()),
      jobs_(std::move(jobs)),
      cluster_(static_cast<uint32_t>(options.servers), server),
      placement_(cluster_, options.consolidate),
      mechanism_(MakeMechanism(options.mechanism, {cluster_, placement_, round_})),
      sums_are_exact_(SumsAreExact(cluster_, jobs_)) {
  to_finish_ = jobs_.size();
  if (options.window) {
    to_finish_ =
        static_cast<uint64_t>(options.window->end) - static_cast<uint64_t>(options.window->first);
  }
  for (const Job& job : jobs_)
    result_.jobs.push_back({.id = job.id, .submitted = Seconds(job.arrival)});
}

Result<ReferenceRun> Run::Execute() {
  Begin();
  while (!events_.empty()) {
    const Event event = events_.Pop();
    bool goes_on = true;
    switch (event.kind) {
      case EventKind::kArrival:
        Arrive(event.job);
        break;
      case EventKind::kLeaseEnd:
        goes_on = !EndLease(event.time, jobs_[event.job]);
        break;
      case EventKind::kSchedule: {
        const Result<bool> scheduled = Schedule(event.time);
        if (!scheduled) return Fail(scheduled.error());
        goes_on = *scheduled;
        break;
      }
    }
    if (!goes_on) break;
  }
  if (result_.rounds > 0) {
    const double whole = static_cast<double>(result_.rounds);
    result_.mean_gpus /= whole;
    result_.mean_cpu /= whole;
    result_.mean_memory /= whole;
  }
  for (const Job& job : jobs_) result_.attained.push_back(Seconds(job.attained));
  return std::move(result_);
}

void Run::Begin() {
  double first_round = 0;
  if (arrivals_ == ReferenceArrivals::kGenerated) {
    events_.Push({jobs_[0].arrival, EventKind::kArrival, 0});
    next_arrival_ = 1;
  } else {
    for (const Job& job : jobs_) events_.Push({job.arrival, EventKind::kArrival, job.index});
    next_arrival_ = jobs_.size();
    first_round =
        arrivals_ == ReferenceArrivals::kStatic ? 1 : std::ceil(jobs_[0].arrival / round_) * round_;
  }
  events_.Push({first_round, EventKind::kSchedule, 0});
}

void Run::Arrive(uint32_t index) {
  runnable_.push_back(&jobs_[index]);
  ++arrived_;
  if (next_arrival_ == jobs_.size()) return;
  const Job& next = jobs_[next_arrival_++];
  events_.Push({next.arrival, EventKind::kArrival, next.index});
}

bool Run::EndLease(double now, Job& job) {
  job.last_run = now;
  if (!sums_are_exact_) cluster_.Release(job);
  if (!job.Finished()) return false;
  result_.jobs[job.index].finished = Seconds(now);
  if (options_.window && !options_.window->Contains(job.id)) return false;
  return --to_finish_ == 0;
}

Result<bool> Run::Schedule(double now) {
  std::erase_if(runnable_, [](const Job* job) { return job->Finished(); });
  PutInOrder(now);
  if (RepeatsLastRound()) {
    for (Job* const job : running_) job->ChargeRoundAgain(round_);
  } else if (auto allocated = Allocate(); !allocated) {
    return Fail(allocated.error());
  }
  for (const Job* const job : running_) {
    events_.Push({now + round_, EventKind::kLeaseEnd, job->index});
    auto& started = result_.jobs[job->index].started;
    if (!started) started = Seconds(now);
  }
  CountRound();

  const bool waits_for_more = arrivals_ == ReferenceArrivals::kGenerated && arrived_ < jobs_.size();
  if (runnable_.empty() && !waits_for_more) return false;
  events_.Push({now + round_, EventKind::kSchedule, 0});
  return true;
}

void Run::PutInOrder(double now) {
  Order(runnable_, {.policy = options_.policy,
                    .fair_speed = options_.mechanism == ReferenceMechanism::kFair,
                    .total = cluster_.Total(),
                    .now = now});
  for (Job* const job : runnable_) {
    if (WaitOf(*job, now) > kLongWait) job->has_waited = true;
  }
  const bool is_las = options_.policy == ReferencePolicy::kLas;
  if (!is_las && !mechanism_->ChoosesTogether()) {
    ordered_ = runnable_;
    return;
  }
  ordered_.clear();
  int64_t free = int64_t{cluster_.servers()} * static_cast<int64_t>(cluster_.server()[kGpu]);
  for (Job* const job : runnable_) {
    if (job->gpus > free) continue;
    free -= job->gpus;
    ordered_.push_back(job);
  }
  if (is_las && options_.mechanism == ReferenceMechanism::kTune) {
    std::stable_sort(ordered_.begin(), ordered_.end(),
                     [](const Job* a, const Job* b) { return a->gpus > b->gpus; });
  }
}

bool Run::RepeatsLastRound() const {
  return has_decided_ && sums_are_exact_ && ordered_.size() >= decisive_.size() &&
         (took_all_ || ordered_.size() == decisive_.size()) &&
         std::equal(decisive_.begin(), decisive_.end(), ordered_.begin());
}

Result<> Run::Allocate() {
  if (sums_are_exact_) {
    for (Job* const job : running_) cluster_.Release(*job);
  }
  running_.clear();
  cluster_.BeginRound();
  for (Job* const job : runnable_) job->cut = false;
  if (auto allocated = mechanism_->Allocate(ordered_, running_); !allocated) return allocated;

  has_decided_ = true;
  took_all_ = cluster_.free_gpus() == 0;
  auto end = ordered_.end();
  if (took_all_) end = std::find(ordered_.begin(), ordered_.end(), running_.back()) + 1;
  decisive_.assign(ordered_.begin(), end);
  used_ = {};
  for (uint32_t server = 0; server < cluster_.servers(); ++server)
    used_ = used_ + cluster_.Used(server);
  return {};
}

void Run::CountRound() {
  ++result_.rounds;
  const Amounts total = cluster_.Total();
  result_.mean_gpus += used_[kGpu] / total[kGpu];
  result_.mean_cpu += used_[kCpu] / total[kCpu];
  result_.mean_memory += used_[kMemory] / total[kMemory];
}

}  // namespace synergy::reference
