#include "controller/tuner/action_executor.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>

#include "controller/cluster/patch_rate.h"
#include "core/overloaded.h"

namespace synergy::controller {
namespace {

size_t PatchesOf(const TunerAction& action) {
  return std::visit(
      Overloaded{[](const tuner_action::Notify&) { return 0U; },
                 [](const tuner_action::EndPlace& place) {
                   return place.end == PlaceEnd::kPodGone ? 0U : 1U;
                 },
                 [](const tuner_action::PutBack&) { return 2U; }, [](const auto&) { return 1U; }},
      action.what);
}

ActionOutcome CarryOut(TunerCalls& calls, const std::function<bool()>& may_act, const Clock& clock,
                       uint64_t number, const TunerAction& action) {
  ActionOutcome outcome{.number = number, .at = {}};
  outcome.kept_from = !may_act();
  if (!outcome.kept_from) {
    outcome.done = calls.Do(action);
    // Set if the right to act was lost between two calls of the action.
    outcome.kept_from = !outcome.done && !may_act();
  }
  outcome.at = clock.Present();
  return outcome;
}

class SerialExecutor final : public ActionExecutor {
 public:
  SerialExecutor(TunerCalls& calls, std::function<bool()> may_act, const Clock& clock)
      : calls_(calls), may_act_(std::move(may_act)), clock_(clock) {}

  void Submit(uint64_t number, const TunerAction& action) override {
    outcomes_.push_back(CarryOut(calls_, may_act_, clock_, number, action));
  }
  std::vector<ActionOutcome> TakeOutcomes() override { return std::exchange(outcomes_, {}); }
  void Abandon() override { outcomes_.clear(); }

 private:
  TunerCalls& calls_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  std::vector<ActionOutcome> outcomes_;
};

class ThreadedExecutor final : public ActionExecutor {
 public:
  ThreadedExecutor(TunerCalls& calls, std::function<bool()> may_act,
                   std::function<void()> on_outcome, const Clock& clock, ExecutorSettings settings)
      : calls_(calls),
        may_act_(std::move(may_act)),
        on_outcome_(std::move(on_outcome)),
        clock_(clock),
        rate_(settings.patches_per_second, settings.at_once) {
    for (size_t i = 0; i < std::max<size_t>(settings.at_once, 1); ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
    }
  }

  ~ThreadedExecutor() override {
    for (std::jthread& thread : threads_) thread.request_stop();
  }

  void Submit(uint64_t number, const TunerAction& action) override {
    {
      const std::lock_guard lock(mutex_);
      const std::string& uid = action.pod->uid;
      Line& line = lines_[uid];
      if (!line.waiting.empty() && !line.at_work) ready_.erase(RankOf(uid, line));
      line.waiting.push_back({number, action});
      if (!line.at_work) ready_.insert(RankOf(uid, line));
    }
    changed_.notify_one();
  }

  std::vector<ActionOutcome> TakeOutcomes() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcomes_, {});
  }

  void Abandon() override {
    const std::lock_guard lock(mutex_);
    ++generation_;
    ready_.clear();
    outcomes_.clear();
    std::erase_if(lines_, [](const auto& entry) { return !entry.second.at_work; });
    for (auto& [uid, line] : lines_) line.waiting.clear();
  }

 private:
  struct Asked {
    uint64_t number = 0;
    TunerAction action;
  };
  // The queue of one pod's actions.
  struct Line {
    std::deque<Asked> waiting;
    bool at_work = false;  // one of them is in progress
  };
  // Sorts urgent lines first, then by order of arrival. A pod's line is urgent if any action in it
  // is.
  using Rank = std::tuple<bool, uint64_t, std::string>;

  static Rank RankOf(const std::string& uid, const Line& line) {
    const bool urgent = std::any_of(line.waiting.begin(), line.waiting.end(),
                                    [](const Asked& asked) { return IsUrgent(asked.action); });
    return {!urgent, line.waiting.front().number, uid};
  }

  void Run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, stop, [this] { return !ready_.empty(); });
      if (stop.stop_requested()) return;
      const std::string uid = std::get<std::string>(*ready_.begin());
      Line& line = lines_.at(uid);
      const size_t patches = PatchesOf(line.waiting.front().action);
      if (patches > 0 && rate_.Next() > clock_.Now()) {
        // A more urgent action may arrive meanwhile.
        changed_.wait_for(lock, stop, rate_.Next() - clock_.Now(), [] { return false; });
        continue;
      }
      if (patches > 0) rate_.Spend(patches, clock_.Now());
      ready_.erase(ready_.begin());
      const Asked asked = std::move(line.waiting.front());
      line.waiting.pop_front();
      line.at_work = true;
      const uint64_t generation = generation_;
      lock.unlock();
      const ActionOutcome outcome = CarryOut(calls_, may_act_, clock_, asked.number, asked.action);
      lock.lock();
      Finish(uid, outcome, generation);
      lock.unlock();
      changed_.notify_one();
      on_outcome_();
      lock.lock();
    }
  }

  void Finish(const std::string& uid, const ActionOutcome& outcome, uint64_t generation) {
    if (generation == generation_) outcomes_.push_back(outcome);
    Line& line = lines_.at(uid);
    line.at_work = false;
    if (line.waiting.empty()) {
      lines_.erase(uid);
    } else {
      ready_.insert(RankOf(uid, line));
    }
  }

  TunerCalls& calls_;
  const std::function<bool()> may_act_;
  const std::function<void()> on_outcome_;
  const Clock& clock_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  PatchRate rate_;
  std::map<std::string, Line> lines_;  // by the pod's uid; only lines with actions
  std::set<Rank> ready_;               // the lines without an action in progress
  std::vector<ActionOutcome> outcomes_;
  uint64_t generation_ = 0;  // grows with each Abandon
  std::vector<std::jthread> threads_;
};

}  // namespace

std::unique_ptr<ActionExecutor> MakeActionExecutor(TunerCalls& calls, std::function<bool()> may_act,
                                                   std::function<void()> on_outcome,
                                                   const Clock& clock, ExecutorSettings settings) {
  return std::make_unique<ThreadedExecutor>(calls, std::move(may_act), std::move(on_outcome), clock,
                                            settings);
}

std::unique_ptr<ActionExecutor> MakeSerialExecutor(TunerCalls& calls, std::function<bool()> may_act,
                                                   const Clock& clock) {
  return std::make_unique<SerialExecutor>(calls, std::move(may_act), clock);
}

}  // namespace synergy::controller
