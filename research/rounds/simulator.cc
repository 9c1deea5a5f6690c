#include "research/rounds/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "research/baseline/round.h"
#include "research/rounds/share_changes.h"

namespace synergy {
namespace {

constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

// Time from the first arrival to the first round, so that this round includes jobs that were
// submitted together.
constexpr Seconds kGather{1};

// Tolerance for the rounding of sums of fractions.
constexpr Seconds kSlack{1e-6};

// The progress of a running job.
struct Pace {
  double speed = 0;  // fair-share seconds of work per second
  Seconds from{};    // when it runs again after a start; progress has been charged up to this time
};

class Simulation {
 public:
  Simulation(std::span<const Server> servers, std::span<const Job> jobs, RoundPlanner& planner,
             const SimulatorOptions& options, const Progress& progress)
      : trace_(jobs),
        planner_(planner),
        options_(options),
        progress_(progress),
        arrivals_(jobs.size()) {
    for (const Server& server : servers) total_ += server.capacity;
    std::iota(arrivals_.begin(), arrivals_.end(), size_t{0});
    std::sort(arrivals_.begin(), arrivals_.end(), [&](size_t a, size_t b) {
      return std::pair(trace_[a].arrival, trace_[a].id) <
             std::pair(trace_[b].arrival, trace_[b].id);
    });
    for (const Job& job : jobs) run_.jobs.push_back({.id = job.id, .arrival = job.arrival});
  }

  Result<SimulationRun> Run() {
    for (const Job& job : trace_) {
      if (job.gpus <= total_.gpus && job.gpus > Gpus(0)) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("job {} asks for {} GPUs, but the cluster has {}", job.id,
                              job.gpus.count(), total_.gpus.count()));
    }
    if (trace_.empty()) return std::move(run_);
    run_.begin = trace_[arrivals_.front()].arrival;
    now_ = first_round_ = run_.begin + kGather;
    while (next_arrival_ < arrivals_.size() || !active_.empty()) {
      if (now_ - run_.begin > options_.limit) return Stuck();
      Admit();
      if (decide_ || (begins_ && DecidesAgain())) {
        const auto decided = Decide();
        if (!decided) return Fail(decided.error());
      }
      Advance(NextMoment());
    }
    run_.end = last_finish_;
    // Between two rounds, changes are in the order of jobs, not of the times at which they end.
    std::stable_sort(run_.changes.begin(), run_.changes.end(),
                     [](const PlaceChange& a, const PlaceChange& b) { return a.at < b.at; });
    const double whole = std::max((run_.end - run_.begin).count(), 1e-9);
    run_.gpu_utilisation /= whole;
    run_.cpu_utilisation /= whole;
    run_.memory_utilisation /= whole;
    return std::move(run_);
  }

 private:
  tl::unexpected<Error> Stuck() const {
    return Fail(
        ErrorCode::kInvalid,
        fmt::format("{} jobs are not finished after {:.0f} simulated days; job {} is the first",
                    active_.size(), options_.limit.count() / 86400, active_.front().id));
  }

  void Admit() {
    while (next_arrival_ < arrivals_.size() && trace_[arrivals_[next_arrival_]].arrival <= now_) {
      const size_t index = arrivals_[next_arrival_++];
      active_.push_back(trace_[index]);
      active_.back().remaining = active_.back().ideal;
      places_.push_back(index);
      paces_.push_back({});
      ++waiting_;
      decide_ = true;
    }
  }

  Result<> Decide() {
    // A decision within a round is made again when the next round begins.
    again_ = !begins_;
    decide_ = false;
    ++run_.decided;
    auto decision = planner_.Decide(active_, places_, now_, begins_);
    if (!decision) return Fail(decision.error());
    Plan& plan = decision->plan;
    run_.fell_back += plan.fell_back;
    run_.worst_gap = std::max(run_.worst_gap, plan.gap.value_or(0));
    const std::vector<Action> actions = Difference(active_, plan);
    for (const Action& action : actions) Note(action);
    if (options_.keep_changes) AppendShareChanges(active_, plan, actions, now_, run_.changes);
    waiting_ = 0;
    UtilisationPoint point{.at = now_};
    for (JobIndex job = 0; job < active_.size(); ++job) {
      active_[job].holds = std::move(plan.shares[job]);
      paces_[job].speed =
          decision->speeds[job] * (active_[job].holds.size() > 1 ? options_.spread_factor : 1);
      if (!active_[job].Runs()) ++waiting_;
      Seconds& lease_end = active_[job].lease_end;
      if (!active_[job].Runs()) lease_end = {};
      if (lease_end <= now_ + kSlack) lease_end = now_ + options_.lease;
      for (const Share& share : active_[job].holds) {
        point.gpus += static_cast<double>(share.amount.gpus.count());
        point.cpu += static_cast<double>(share.amount.cpu.count());
        point.memory += static_cast<double>(share.amount.memory.count());
      }
    }
    point.gpus /= static_cast<double>(total_.gpus.count());
    point.cpu /= std::max(static_cast<double>(total_.cpu.count()), 1.0);
    point.memory /= std::max(static_cast<double>(total_.memory.count()), 1.0);
    point.waiting = static_cast<uint32_t>(waiting_);
    point.running = static_cast<uint32_t>(active_.size() - waiting_);
    run_.timeline.push_back(point);
    return {};
  }

  void Note(const Action& action) {
    JobRun& job = run_.jobs[places_[action.job]];
    switch (action.kind) {
      case ActionKind::kStop:
        break;
      case ActionKind::kResize:
        ++job.resizes;
        break;
      case ActionKind::kMove:
      case ActionKind::kStart:
        if (job.start < Seconds(0)) {
          job.start = now_;
        } else {
          ++job.restarts;
        }
        paces_[action.job].from = now_ + options_.restart_cost;
        break;
    }
  }

  bool DecidesAgain() const {
    return !active_.empty() && (again_ || planner_.DecidesAgain(waiting_));
  }

  Seconds FinishOf(JobIndex job) const {
    if (!active_[job].Runs() || paces_[job].speed <= 0) return kNever;
    return std::max(paces_[job].from, now_) + active_[job].remaining / paces_[job].speed;
  }

  // Returns the number of rounds, with fractions, from the first one to this moment.
  double RoundsUntil(Seconds moment) const { return (moment - first_round_) / options_.round; }
  // Returns the number of rounds that have begun after the first one.
  double RoundsBegun(Seconds moment) const { return std::floor(RoundsUntil(moment) + 1e-9); }

  struct NextMomentToDecide {
    Seconds at{};
    bool begins = true;  // the decision is at the beginning of a round
  };
  // Returns the next moment at which a decision may be due.
  NextMomentToDecide NextMoment() const {
    Seconds event = kNever;
    if (next_arrival_ < arrivals_.size()) event = trace_[arrivals_[next_arrival_]].arrival;
    for (JobIndex job = 0; job < active_.size(); ++job) event = std::min(event, FinishOf(job));
    const bool is_next = DecidesAgain() || event == kNever;
    const double from = is_next ? 0 : std::ceil(RoundsUntil(event) - 1e-9);
    const Seconds round = first_round_ + options_.round * std::max(from, RoundsBegun(now_) + 1);
    if (planner_.DecidesWithin() && event < round - kSlack) return {event, false};
    return {round, true};
  }

  void Advance(NextMomentToDecide next) {
    const Seconds until = next.at;
    run_.rounds += static_cast<uint64_t>(RoundsBegun(until) - RoundsBegun(now_));
    size_t kept = 0;
    for (JobIndex job = 0; job < active_.size(); ++job) {
      const Seconds finish = FinishOf(job);
      Charge(job, std::min(finish, until));
      if (finish <= until) {
        run_.jobs[places_[job]].finish = finish;
        planner_.Gone(places_[job]);
        if (options_.keep_changes) AppendEnd(active_[job], finish, run_.changes);
        last_finish_ = std::max(last_finish_, finish);
        ++finished_;
        decide_ = true;
        continue;
      }
      if (kept != job) {
        active_[kept] = std::move(active_[job]);
        paces_[kept] = paces_[job];
        places_[kept] = places_[job];
      }
      ++kept;
    }
    active_.resize(kept);
    paces_.resize(kept);
    places_.resize(kept);
    now_ = until;
    begins_ = next.begins;
    if (progress_) progress_(finished_);
  }

  // Charges a job's progress and allocation from now until `until`.
  void Charge(JobIndex index, Seconds until) {
    Job& job = active_[index];
    const Seconds held = until - now_;
    planner_.Charge(job, places_[index], held, until);
    if (!job.Runs()) return;
    const Seconds from = std::max(paces_[index].from, now_);
    if (until > from) {
      job.remaining -= (until - from) * paces_[index].speed;
      NoteFirstPart(job, run_.jobs[places_[index]], until, paces_[index].speed);
    }
    job.attained += held * static_cast<double>(job.gpus.count());
    for (const Share& share : job.holds) {
      const auto part = [&](auto amount, auto whole) {
        return held.count() * static_cast<double>(amount.count()) /
               std::max(static_cast<double>(whole.count()), 1.0);
      };
      run_.gpu_utilisation += part(share.amount.gpus, total_.gpus);
      run_.cpu_utilisation += part(share.amount.cpu, total_.cpu);
      run_.memory_utilisation += part(share.amount.memory, total_.memory);
    }
  }

  // REQUIRES: the job ran at this speed until `until`, and that is charged.
  static void NoteFirstPart(const Job& job, JobRun& run, Seconds until, double speed) {
    if (job.first_part <= Seconds(0) || run.first_part >= Seconds(0) || speed <= 0) return;
    const Seconds beyond = job.ideal - job.remaining - job.first_part;
    if (beyond >= -kSlack) run.first_part = until - beyond / speed;
  }

  std::span<const Job> trace_;
  RoundPlanner& planner_;
  const SimulatorOptions& options_;
  const Progress& progress_;

  ResourceVector total_;
  std::vector<size_t> arrivals_;  // positions of the trace's jobs, by arrival
  size_t next_arrival_ = 0;
  // Waiting and running jobs, by arrival. The next two members have their positions in the trace
  // and their paces, in the same order.
  std::vector<Job> active_;
  std::vector<size_t> places_;
  std::vector<Pace> paces_;
  Seconds first_round_{};
  Seconds now_{};
  Seconds last_finish_{};
  size_t waiting_ = 0;
  size_t finished_ = 0;
  bool decide_ = false;
  bool again_ = false;  // decide again when the next round begins, whatever happens until then
  bool begins_ = true;  // the decision is at the beginning of a round
  SimulationRun run_;
};

// Plans rounds by a policy's order and a mechanism's allocation.
class OrderedRounds final : public RoundPlanner {
 public:
  OrderedRounds(std::span<const Server> servers, const Policy& policy, Mechanism& mechanism)
      : servers_(servers), policy_(policy), mechanism_(mechanism) {}

  Result<PlannedRound> Decide(std::span<const Job> jobs, std::span<const size_t> /*places*/,
                              Seconds now, bool /*begins*/) override {
    Plan plan = RunRound(servers_, jobs, policy_, *mechanism_.allocator, now);
    std::vector<double> speeds = Speeds(servers_, jobs, plan, mechanism_.enforcement);
    return PlannedRound{std::move(plan), std::move(speeds)};
  }
  bool DecidesAgain(size_t waiting) const override { return policy_.Preempts() && waiting > 0; }
  void Charge(Job& job, size_t /*place*/, Seconds stretch, Seconds now) override {
    policy_.Charge(job, stretch, now);
  }

 private:
  std::span<const Server> servers_;
  const Policy& policy_;
  Mechanism& mechanism_;
};

}  // namespace

Result<SimulationRun> SimulateRounds(std::span<const Server> servers, std::span<const Job> jobs,
                                     RoundPlanner& planner, const SimulatorOptions& options,
                                     const Progress& progress) {
  return Simulation(servers, jobs, planner, options, progress).Run();
}

Result<SimulationRun> Simulate(std::span<const Server> servers, std::span<const Job> jobs,
                               const Policy& policy, Mechanism& mechanism,
                               const SimulatorOptions& options, const Progress& progress) {
  OrderedRounds planner(servers, policy, mechanism);
  return SimulateRounds(servers, jobs, planner, options, progress);
}

}  // namespace synergy
