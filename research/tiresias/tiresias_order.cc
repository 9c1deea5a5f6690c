#include "research/tiresias/tiresias_order.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "research/tiresias/tiresias_gittins.h"

namespace synergy {
namespace {

using Index = TiresiasOrder::Index;

// One list of jobs, for fifo, shortest, shortest-gpu and sjf.
class OneList final : public TiresiasOrder {
 public:
  explicit OneList(TiresiasSchedule::Kind kind) : kind_(kind) {}

  void Add(Index index) override { jobs_.push_back(index); }
  void Remove(Index index) override { std::erase(jobs_, index); }
  void Charge(std::span<TiresiasState> /*states*/, int64_t /*stretch*/) override {}

  std::span<const Index> Sorted(std::span<const TiresiasState> states) override {
    if (kind_ == TiresiasSchedule::Kind::kFifo) return jobs_;
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [&](Index a, Index b) { return Rank(states[a]) < Rank(states[b]); });
    return jobs_;
  }

  std::optional<int64_t> Settle(std::span<const TiresiasState> /*states*/) override {
    return std::nullopt;
  }

 private:
  double Rank(const TiresiasState& state) const {
    const auto left = static_cast<double>(state.left);
    const auto gpus = static_cast<double>(state.job->gpus);
    if (kind_ == TiresiasSchedule::Kind::kSjf) return gpus;
    return kind_ == TiresiasSchedule::Kind::kShortestGpu ? left * gpus : left;
  }

  TiresiasSchedule::Kind kind_;
  std::vector<Index> jobs_;
};

// Several queues, for dlas-gpu and dlas-gpu-gittins.
class Queues final : public TiresiasOrder {
 public:
  explicit Queues(const TiresiasOptions& options)
      : rules_{.limits = options.queue_limits, .promote = options.schedule.promote},
        queues_(options.queue_limits.size() + 1) {
    if (options.schedule.kind == TiresiasSchedule::Kind::kDlasGpuGittins) {
      gittins_.emplace(options.sizes);
    }
  }

  void Add(Index index) override {
    arrived_.push_back(index);
    queues_[0].push_back(index);
  }

  void Remove(Index index) override {
    std::erase(arrived_, index);
    for (std::vector<Index>& queue : queues_) std::erase(queue, index);
  }

  void Charge(std::span<TiresiasState> states, int64_t stretch) override {
    for (const Index index : arrived_) {
      TiresiasState& state = states[index];
      const uint32_t before = state.place.queue;
      if (state.runs) {
        state.place.served += Seconds(static_cast<double>(stretch));
        const auto left = UntilDemotion(state.place, Gpus(state.job->gpus), rules_);
        if (left && *left <= Seconds(0)) Demote(state.place, {});
      } else {
        if (state.place.served > Seconds(0)) {
          state.place.waited += Seconds(static_cast<double>(stretch));
        }
        const auto wait = WholeWait(state);
        if (wait && *wait <= 0) Promote(state.place, {});
      }
      if (state.place.queue == before) continue;
      std::erase(queues_[before], index);
      queues_[state.place.queue].push_back(index);
    }
  }

  std::span<const Index> Sorted(std::span<const TiresiasState> states) override {
    sorted_.clear();
    for (std::vector<Index>& queue : queues_) {
      if (gittins_) SortByIndex(queue, states);
      sorted_.insert(sorted_.end(), queue.begin(), queue.end());
    }
    return sorted_;
  }

  std::optional<int64_t> Settle(std::span<const TiresiasState> states) override {
    for (std::vector<Index>& queue : queues_) {
      std::stable_partition(queue.begin(), queue.end(),
                            [&](Index index) { return states[index].runs; });
    }
    std::optional<int64_t> next;
    for (const Index index : arrived_) {
      const TiresiasState& state = states[index];
      std::optional<int64_t> move;
      if (state.runs) {
        const auto left = UntilDemotion(state.place, Gpus(state.job->gpus), rules_);
        if (left) move = std::max(static_cast<int64_t>(std::ceil(left->count())), int64_t{0});
      } else if (const auto wait = WholeWait(state); wait && *wait > 0) {
        move = wait;
      }
      if (move && (!next || *move < *next)) next = move;
    }
    return next;
  }

 private:
  // Returns the seconds until promotion, rounded down.
  std::optional<int64_t> WholeWait(const TiresiasState& state) const {
    const auto left = UntilPromotion(state.place, rules_);
    if (!left) return std::nullopt;
    return static_cast<int64_t>(std::floor(left->count()));
  }

  void SortByIndex(std::vector<Index>& queue, std::span<const TiresiasState> states) const {
    const auto rank = [&](Index index) {
      const TiresiasState& state = states[index];
      const double served = ServedGpuTime(state.place, Gpus(state.job->gpus));
      return std::tuple(-gittins_->Rank(static_cast<int64_t>(served)), state.job->submitted);
    };
    std::stable_sort(queue.begin(), queue.end(),
                     [&](Index a, Index b) { return rank(a) < rank(b); });
  }

  ServiceQueues rules_;
  std::optional<TiresiasGittins> gittins_;
  std::vector<Index> arrived_;
  std::vector<std::vector<Index>> queues_;
  std::vector<Index> sorted_;
};

}  // namespace

std::unique_ptr<TiresiasOrder> MakeTiresiasOrder(const TiresiasOptions& options) {
  if (options.schedule.HasQueues()) return std::make_unique<Queues>(options);
  return std::make_unique<OneList>(options.schedule.kind);
}

}  // namespace synergy
