#pragma once

// A model of trainings that take turns on one GPU, and of their node agent. The agent follows the
// turns on the pods exactly, and reports every two seconds. Two pods that run at the same time have
// the speeds that SetPair() sets.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/sharing/pack_records.h"
#include "engine/sharing/turn_planner.h"
#include "support/turn_pods.h"

namespace synergy::testing {

class SharedGpuModel {
 public:
  static constexpr Duration kStep = std::chrono::seconds(2);

  explicit SharedGpuModel(bool packs = true) : packs_(packs) { Restart(); }

  // Adds a pod that opted in to packing. `alone`: its iterations per second without other pods.
  TurnPod& Add(const std::string& name, double alone = 10) {
    TurnPod pod = TurnPodOn("n1", "GPU-0", name);
    pod.gpu_product = "v100";
    pod.report->pod.iterations = 1;
    pod.report->pod.last = at.wall;
    trainings_[name] = {.alone = alone, .done = 1};
    pods["n1"].push_back(std::move(pod));
    Change(name, [&](Pod& made, ManagedContainer& fungible) {
      made.resource_version = 1;
      fungible.may_pack = true;
      fungible.workload = "of-" + name;
    });
    return Of(name);
  }
  void Remove(const std::string& name) {
    std::erase_if(pods["n1"], [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  // Sets the speeds of two pods that run at the same time, relative to their speeds alone.
  void SetPair(const std::string& a, const std::string& b, double speed, double other) {
    pairs_[{a, b}] = speed;
    pairs_[{b, a}] = other;
  }
  double SpeedOf(const std::string& name, const std::string& beside) const {
    return pairs_.at({name, beside});
  }
  template <typename F>
  void Change(const std::string& name, const F& f) {
    Pod pod = *Of(name).pod;
    ManagedContainer fungible = *pod.fungible;
    f(pod, fungible);
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    Of(name).pod = std::make_shared<const Pod>(std::move(pod));
  }
  TurnPod& Of(const std::string& name) {
    return *std::find_if(pods["n1"].begin(), pods["n1"].end(),
                         [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  bool Has(const std::string& name) {
    return std::any_of(pods["n1"].begin(), pods["n1"].end(),
                       [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  // Returns the pod with which this pod is packed; empty: none.
  std::string Beside(const std::string& name) {
    const auto& turn = Of(name).pod->fungible->turn;
    return turn ? turn->beside : std::string();
  }
  // Restarts the training in the same pod.
  void RestartTraining(const std::string& name) { trainings_.at(name).done = 0; }
  // Replaces the planner, as a new leader does, and passes the records of packs to the new one.
  void Restart() {
    planner = TurnPlanner(std::chrono::seconds(60), packs_);
    const RecordedPacks recorded = ResultsOf(records, at);
    planner.SetPackResults(recorded.results);
    verdicts_ = {};
    verdicts_.Observe(recorded.results);
  }

  // Lets time pass for one step, then plans. Returns the news about packs.
  std::vector<PackNews> Step() {
    Run(kStep);
    if (reports) {
      reported_at_ = at.now;
      for (TurnPod& pod : pods["n1"]) Report(pod);
    }
    for (TurnPod& pod : pods["n1"]) pod.report->age = at.now - reported_at_;
    TurnPlan plan = planner.Plan(pods, at);
    WriteTurns(plan, pods);
    for (const PackedWorkload& workload : verdicts_.Observe(planner.pack_results()))
      if (records_are_kept) records[workload] = RecordsOf(workload, planner.pack_results(), at);
    return std::move(plan.news);
  }
  // Lets `time` pass. Returns the outcomes of the news in that time, separated by spaces.
  std::string OutcomesIn(Duration time) {
    std::string outcomes;
    for (Duration passed{}; passed < time; passed += kStep) {
      for (const PackNews& one : Step()) {
        outcomes += (outcomes.empty() ? "" : " ") + std::string(ToString(one.outcome));
        news.push_back(one);
      }
    }
    return outcomes;
  }
  // Lets time pass until there are news, for an hour at most.
  PackNews Await() {
    for (Duration passed{}; passed < std::chrono::hours(1); passed += kStep) {
      std::vector<PackNews> all = Step();
      if (!all.empty()) return all.front();
    }
    return {};
  }

  Moment at{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(500000))};
  std::map<std::string, std::vector<TurnPod>> pods;
  TurnPlanner planner{std::chrono::seconds(60)};
  std::vector<PackNews> news;
  PackRecords records;            // of packs, as profiles have them
  bool records_are_kept = false;  // whether results are written to `records`
  bool reports = true;            // the agent sends reports
  bool suspends = true;           // the agent follows turns
  // The turns that the agent follows instead of the present ones, by pod.
  std::map<std::string, GpuTurn> outdated;

 private:
  struct Training {
    double alone = 0;
    double done = 0;
    WallTime last{};
    Duration suspended{};
  };

  std::optional<GpuTurn> FollowedBy(const TurnPod& pod) const {
    const auto found = outdated.find(pod.pod->name);
    return found == outdated.end() ? pod.pod->fungible->turn : found->second;
  }
  bool Runs(const TurnPod& pod) {
    const std::optional<GpuTurn> turn = FollowedBy(pod);
    if (!suspends || !turn || turn->RunsAt(at.wall)) return true;
    return std::none_of(turn->with.begin(), turn->with.end(),
                        [&](const std::string& other) { return Has(other); });
  }
  void Run(Duration time) {
    const WallTime end = at.wall + time;
    while (at.wall < end) {
      WallTime next = end;
      for (const TurnPod& pod : pods["n1"]) {
        const std::optional<GpuTurn> turn = FollowedBy(pod);
        if (const auto change = turn ? turn->NextSwitch(at.wall) : std::nullopt)
          next = std::min(next, *change);
      }
      RunUntil(next);
    }
  }
  void RunUntil(WallTime next) {
    const Duration passed = next - at.wall;
    std::vector<std::string> running;
    for (const TurnPod& pod : pods["n1"]) {
      if (Runs(pod)) {
        running.push_back(pod.pod->name);
      } else {
        trainings_.at(pod.pod->name).suspended += passed;
      }
    }
    for (const std::string& name : running) {
      Training& training = trainings_.at(name);
      double rate = training.alone;
      for (const std::string& other : running) {
        if (other != name) rate *= SpeedOf(name, other);
      }
      const double before = std::floor(training.done);
      training.done += rate * Seconds(passed).count();
      const double done = std::floor(training.done);
      if (done <= before) continue;
      training.last = next - std::chrono::round<Duration>(Seconds((training.done - done) / rate));
    }
    at = {at.now + passed, next};
  }
  void Report(TurnPod& pod) {
    const Training& training = trainings_.at(pod.pod->name);
    PodProgress& progress = pod.report->pod;
    progress.iterations = std::floor(training.done);
    progress.last = training.last;
    progress.turn->suspended = !Runs(pod);
    progress.turn->time_suspended = training.suspended;
  }

  bool packs_;
  PackVerdicts verdicts_;
  Instant reported_at_ = at.now;
  std::map<std::string, Training> trainings_;
  std::map<std::pair<std::string, std::string>, double> pairs_;
};

}  // namespace synergy::testing
