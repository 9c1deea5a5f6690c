// Tests packs of pods on a GPU (engine/sharing/pack_planner.h) with generated speeds, while pods
// come, go, restart and opt out, reports fail, and leaders change.

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/shared_gpu_model.h"

namespace synergy::testing {
namespace {

// Speeds together, in hundredths; no sum or part is near a limit of the rules.
double GenSpeed() {
  return static_cast<double>(*rc::gen::element(5, 20, 40, 55, 70, 80, 95)) / 100;
}

const std::vector<std::string> kPackNames = {"a", "b", "c", "d"};

bool MeetsBoth(double speed, double other, double slice) {
  return speed + other > Packing::kKept && std::min(speed, other) >= Packing::kOfSlice * slice &&
         std::min(speed, other) >= Packing::kAborted;
}

struct PackRun {
  SharedGpuModel gpu;
  std::map<std::string, bool> opted_in;
  std::map<std::string, Instant> bad_since;  // of pods that are packed
  std::map<std::string, Instant> rests;      // of pairs that are refused, until then
  std::set<std::string> good;                // pairs that were kept last

  size_t Count() const { return gpu.pods.at("n1").size(); }
  double Slice() const { return 1 / static_cast<double>(Count()); }

  // Returns whether these should run at the same time, among the present pods.
  bool IsGood(const std::string& one, const std::string& other) const {
    return MeetsBoth(gpu.SpeedOf(one, other), gpu.SpeedOf(other, one), Slice());
  }

  void Add(const std::string& name) {
    gpu.Add(name, *rc::gen::element(2, 10, 33));
    opted_in[name] = *rc::gen::inRange(0, 4) > 0;
    gpu.Change(name, [&](Pod&, ManagedContainer& fungible) { fungible.may_pack = opted_in[name]; });
  }

  void ChangeSomething() {
    const std::string name = *rc::gen::elementOf(kPackNames);
    if (!gpu.Has(name)) {
      if (Count() < 3) Add(name);
      return;
    }
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        if (Count() > 2) gpu.Remove(name);
        break;
      case 1:
        gpu.RestartTraining(name);
        break;
      case 2:
        gpu.reports = !gpu.reports;
        break;
      case 3:
        gpu.Restart();
        break;
      case 4:
        gpu.suspends = !gpu.suspends;
        break;
      default:
        opted_in[name] = !opted_in[name];
        gpu.Change(name,
                   [&](Pod&, ManagedContainer& fungible) { fungible.may_pack = opted_in[name]; });
    }
  }

  void Step() {
    for (const PackNews& news : gpu.Step()) CheckNews(news);
    for (const TurnPod& pod : gpu.pods.at("n1")) Check(pod);
    std::erase_if(bad_since, [&](const auto& pod) { return !gpu.Has(pod.first); });
  }

  // Other leaders, too, keep to the results.
  void CheckNews(const PackNews& news) {
    const std::string pair = news.pods[0]->name + news.pods[1]->name;
    switch (news.outcome) {
      case PackOutcome::kTried:
        // Times in records are whole seconds.
        RC_ASSERT(!rests.contains(pair) || gpu.at.now > rests[pair] - std::chrono::seconds(2));
        break;
      case PackOutcome::kReused:
        RC_ASSERT(good.contains(pair));
        break;
      case PackOutcome::kKept:
        RC_ASSERT(IsGood(news.pods[0]->name, news.pods[1]->name));
        good.insert(pair);
        break;
      case PackOutcome::kRefused:
      case PackOutcome::kUndone:
        good.erase(pair);
        rests[pair] = gpu.at.now + news.rest;
        break;
      case PackOutcome::kGivenUp:
        break;
    }
  }

  void Check(const TurnPod& pod) {
    const std::string& name = pod.pod->name;
    const std::string beside = gpu.Beside(name);
    const auto& turn = pod.pod->fungible->turn;
    RC_ASSERT(!turn || turn->IsValid());
    if (beside.empty()) {
      bad_since.erase(name);
      return;
    }
    // No plan is made while the agent is silent.
    if (pod.report->age > TurnPlanner::kOldReport) {
      bad_since.erase(name);
      return;
    }
    RC_ASSERT(opted_in.at(name));
    RC_ASSERT(gpu.Has(beside));
    RC_ASSERT(gpu.Beside(beside) == name);
    RC_ASSERT(gpu.Of(beside).pod->fungible->turn->runs == turn->runs);
    if (IsGood(name, beside)) {
      bad_since.erase(name);
      return;
    }
    const Instant since = bad_since.try_emplace(name, gpu.at.now).first->second;
    // Three windows of a trial, or two of a kept pack, with the longest patience for slow pods.
    RC_ASSERT(gpu.at.now - since < std::chrono::minutes(20));
  }
};

RC_GTEST_PROP(PackPlannerProperty, KeepsWhatIsGoodAndUndoesWhatIsBad, ()) {
  PackRun run;
  for (const std::string& one : kPackNames) {
    for (const std::string& other : kPackNames) {
      if (one < other) run.gpu.SetPair(one, other, GenSpeed(), GenSpeed());
    }
  }
  run.gpu.records_are_kept = true;
  run.gpu.pods["n1"];
  run.Add("a");
  run.Add("b");
  for (int change = *rc::gen::inRange(0, 12); change > 0; --change) {
    run.ChangeSomething();
    for (int steps = *rc::gen::inRange(1, 120); steps > 0; --steps) run.Step();
  }
  // At last nothing disturbs the pods, for longer than two rests.
  run.gpu.reports = run.gpu.suspends = true;
  for (int steps = 0; steps < 1200; ++steps) run.Step();
  for (const TurnPod& pod : run.gpu.pods.at("n1")) {
    const std::string& name = pod.pod->name;
    const auto bad = run.bad_since.find(name);
    RC_ASSERT(bad == run.bad_since.end() || bad->second > run.gpu.at.now - std::chrono::minutes(4));
  }
  if (run.Count() > 2) return;
  const std::string& one = run.gpu.pods.at("n1")[0].pod->name;
  const std::string& other = run.gpu.pods.at("n1")[1].pod->name;
  const bool good = run.opted_in[one] && run.opted_in[other] && run.IsGood(one, other);
  RC_ASSERT(!good || run.gpu.Beside(one) == other);
}

// Returns results of pairs of three workloads in two namespaces, one of them unknown.
PackResults GenPackResults(Moment at) {
  PackResults results;
  const auto gen_name = [] {
    return *rc::gen::element<std::string>("team/a", "team/b", "team/c", "other/a", "/uid");
  };
  for (int count = *rc::gen::inRange(0, 20); count > 0; --count) {
    PackResult result{.speeds = {GenSpeed(), GenSpeed()}};
    result.measured_at = at.now - std::chrono::seconds(*rc::gen::inRange(0, 100000));
    result.good =
        result.speeds[0] + result.speeds[1] > Packing::kKept && *rc::gen::arbitrary<bool>();
    if (!result.good) {
      result.refusals = static_cast<uint32_t>(*rc::gen::inRange(0, 9));
      result.refused_until = result.measured_at + std::chrono::seconds(*rc::gen::inRange(0, 14400));
    }
    results[PairOf(gen_name(), gen_name(), *rc::gen::element<std::string>("v100", "k80"))] = result;
  }
  return results;
}

RC_GTEST_PROP(PackRecordsProperty, ResultsAreReadBackOnAnotherMachine, ()) {
  const Moment at{Instant(std::chrono::hours(*rc::gen::inRange(1, 1000))),
                  WallTime(std::chrono::hours(500000))};
  const PackResults results = GenPackResults(at);
  PackRecords records;
  for (const PackedWorkload& workload : PackVerdicts().Observe(results)) {
    // Either record of a pair is sufficient.
    if (*rc::gen::inRange(0, 3) > 0) records[workload] = RecordsOf(workload, results, at);
  }
  const Duration later = std::chrono::seconds(*rc::gen::inRange(0, 20000));
  const Moment then{Instant(std::chrono::hours(*rc::gen::inRange(1, 1000))), at.wall + later};
  const RecordedPacks read = ResultsOf(records, then);
  RC_ASSERT(read.ignored == 0U);
  for (const auto& [pair, result] : results) {
    const std::set<PackedWorkload> workloads = WorkloadsOf(pair);
    const bool is_recorded =
        (result.good || result.refusals > 0) &&
        std::any_of(workloads.begin(), workloads.end(),
                    [&](const PackedWorkload& each) { return records.contains(each); });
    RC_ASSERT(read.results.contains(pair) == is_recorded);
    if (!is_recorded) continue;
    const PackResult& now = read.results.at(pair);
    RC_ASSERT(now.good == result.good);
    RC_ASSERT(now.speeds == result.speeds);
    RC_ASSERT(now.refusals == result.refusals);
    if (result.good) continue;
    const Duration left = std::max(result.refused_until - (at.now + later), Duration::zero());
    const Duration left_now = std::max(now.refused_until - then.now, Duration::zero());
    RC_ASSERT(std::chrono::abs(left - left_now) <= std::chrono::seconds(2));
  }
  RC_ASSERT(PackVerdicts().Observe(read.results).size() <= PackVerdicts().Observe(results).size());
}

}  // namespace
}  // namespace synergy::testing
