// Tests packs of pods on a GPU (engine/sharing/pack_planner.h) with generated speeds, while pods
// come, go, restart and opt out, reports fail, and leaders change.

#include <algorithm>
#include <chrono>
#include <map>
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
    for (const PackNews& news : gpu.Step()) {
      if (news.outcome == PackOutcome::kKept)
        RC_ASSERT(IsGood(news.pods[0]->name, news.pods[1]->name));
    }
    for (const TurnPod& pod : gpu.pods.at("n1")) Check(pod);
    std::erase_if(bad_since, [&](const auto& pod) { return !gpu.Has(pod.first); });
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

}  // namespace
}  // namespace synergy::testing
