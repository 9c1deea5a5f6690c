#include "research/tiresias/tiresias_simulator.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "research/tiresias/tiresias_gpus.h"
#include "research/tiresias/tiresias_order.h"

namespace synergy {
namespace {

constexpr int64_t kNoInstant = std::numeric_limits<int64_t>::max();

Seconds ToSimulated(int64_t instant) { return Seconds(static_cast<double>(instant)); }

class TiresiasRun {
 public:
  TiresiasRun(std::span<const TiresiasJob> jobs, const TiresiasOptions& options)
      : jobs_(jobs),
        fifo_(options.schedule.kind == TiresiasSchedule::Kind::kFifo),
        gpus_(options.cluster,
              options.schedule.HasQueues() ? TiresiasScheme::kCount : options.scheme),
        order_(MakeTiresiasOrder(options)),
        arrivals_(jobs.size()),
        states_(jobs.size()),
        held_(jobs.size()) {
    std::iota(arrivals_.begin(), arrivals_.end(), TiresiasOrder::Index{0});
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [&](auto a, auto b) { return jobs_[a].submitted < jobs_[b].submitted; });
    for (const TiresiasJob& job : jobs) {
      times_.push_back({.id = job.id, .submitted = ToSimulated(job.submitted)});
    }
  }

  Result<std::vector<JobTimes>> Run() {
    for (const TiresiasJob& job : jobs_) {
      if (gpus_.CouldHold(job.gpus)) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("job {} asks for {} GPUs, more than the cluster can offer: remove "
                              "the job, or use a larger --cluster",
                              job.id, job.gpus));
    }
    while (next_arrival_ < arrivals_.size() || !active_.empty()) {
      const int64_t instant = NextInstant();
      const int64_t stretch = instant - now_;
      now_ = instant;
      Work(stretch);
      Arrive();
      order_->Charge(states_, stretch);
      fifo_ ? StartInOrder() : PlaceAnew();
      next_move_ = order_->Settle(states_);
    }
    return std::move(times_);
  }

 private:
  using Index = TiresiasOrder::Index;

  int64_t NextInstant() {
    const int64_t arrival = NextArrival();
    int64_t end = kNoInstant;
    for (const Index index : active_) {
      if (states_[index].runs) end = std::min(end, now_ + states_[index].left);
    }
    const int64_t move = next_move_ ? now_ + *next_move_ : kNoInstant;
    if (end == arrival && move < arrival) Foresee(end);
    return std::min({arrival, end, move});
  }

  int64_t NextArrival() const {
    return next_arrival_ < arrivals_.size() ? jobs_[arrivals_[next_arrival_]].submitted
                                            : kNoInstant;
  }

  void Foresee(int64_t end) {
    foreseen_.clear();
    for (const Index index : active_) {
      if (states_[index].runs && now_ + states_[index].left == end) foreseen_.push_back(index);
    }
  }

  // Advances to now, and ends the jobs without remaining work.
  void Work(int64_t stretch) {
    const size_t before = active_.size();
    std::erase_if(active_, [&](Index index) {
      TiresiasState& state = states_[index];
      if (!state.runs) return false;
      state.left -= stretch;
      if (state.left > 0) return false;
      End(index);
      return true;
    });
    if (NextArrival() != now_) return;
    if (active_.size() == before) {
      for (const Index index : foreseen_) {
        std::erase(active_, index);
        End(index);
      }
    }
    foreseen_.clear();
  }

  void End(Index index) {
    times_[index].finished = ToSimulated(now_);
    gpus_.GiveBack(std::exchange(held_[index], {}));
    order_->Remove(index);
  }

  void Arrive() {
    for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
      const Index index = arrivals_[next_arrival_];
      const TiresiasJob& job = jobs_[index];
      if (job.submitted > now_) return;
      states_[index] = {.job = &job, .left = job.duration};
      active_.push_back(index);
      order_->Add(index);
    }
  }

  void StartInOrder() {
    for (const Index index : order_->Sorted(states_)) {
      if (!states_[index].runs && !Start(index)) return;
    }
  }

  void PlaceAnew() {
    gpus_.FreeAll();
    for (const Index index : order_->Sorted(states_)) {
      held_[index].clear();
      states_[index].runs = Start(index);
    }
  }

  bool Start(Index index) {
    TiresiasState& state = states_[index];
    held_[index] = gpus_.Take(state.job->gpus);
    if (held_[index].empty()) return false;
    if (!times_[index].started) times_[index].started = ToSimulated(now_);
    state.runs = true;
    return true;
  }

  std::span<const TiresiasJob> jobs_;
  bool fifo_;
  TiresiasGpus gpus_;
  std::unique_ptr<TiresiasOrder> order_;
  std::vector<Index> arrivals_;
  size_t next_arrival_ = 0;
  std::vector<TiresiasState> states_;  // by job, like the next member
  std::vector<TiresiasGpus::Taken> held_;
  std::vector<Index> active_;  // by arrival
  int64_t now_ = 0;
  std::optional<int64_t> next_move_;
  // were expected to end at the next arrival, before a move between queues came
  std::vector<Index> foreseen_;
  std::vector<JobTimes> times_;
};

}  // namespace

Result<std::vector<JobTimes>> SimulateTiresias(std::span<const TiresiasJob> jobs,
                                               const TiresiasOptions& options) {
  return TiresiasRun(jobs, options).Run();
}

}  // namespace synergy
