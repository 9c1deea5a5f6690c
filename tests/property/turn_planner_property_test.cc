// Tests the turns of a cluster's pods (engine/sharing/turn_planner.h) while generated pods come and
// go, start to train, idle and refuse, and while leaders change.

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/sharing/turn_planner.h"
#include "support/turn_pods.h"

namespace synergy::testing {
namespace {

using PodsByNode = std::map<std::string, std::vector<TurnPod>>;

constexpr Duration kPlanQuantum = std::chrono::seconds(60);

bool Trains(const TurnPod& pod) {
  const PodProgress& progress = pod.report->pod;
  return progress.iterations > 0 && !progress.idle && progress.turn->refusal.empty();
}

// Returns the pods that train on each GPU, with what their turns depend on.
std::map<std::string, std::set<std::pair<std::string, int32_t>>> MembersOf(const PodsByNode& pods) {
  std::map<std::string, std::set<std::pair<std::string, int32_t>>> members;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) {
      auto& of_gpu = members[pod.report->pod.turn->gpus.front()];
      if (Trains(pod)) of_gpu.emplace(pod.pod->uid, pod.pod->priority);
    }
  }
  return members;
}

void ChangeOnePod(PodsByNode& pods, int number) {
  const std::string node = *rc::gen::element<std::string>("m", "n");
  const std::string gpu = node + *rc::gen::element<std::string>("-0", "-1");
  std::vector<TurnPod>& here = pods[node];
  const auto of_gpu = std::count_if(here.begin(), here.end(), [&](const TurnPod& pod) {
    return pod.report->pod.turn->gpus.front() == gpu;
  });
  if (here.empty() || (of_gpu < 4 && *rc::gen::inRange(0, 2) == 0)) {
    TurnPod pod = TurnPodOn(node, gpu, "p" + std::to_string(number));
    pod.report->pod.iterations = *rc::gen::element(0, 1, 1000);
    Pod made = *pod.pod;
    made.priority = *rc::gen::weightedElement<int32_t>({{4, 0}, {1, 1}});
    pod.pod = std::make_shared<const Pod>(std::move(made));
    here.push_back(std::move(pod));
    return;
  }
  const auto at = here.begin() + *rc::gen::inRange<int>(0, static_cast<int>(here.size()));
  PodProgress& progress = at->report->pod;
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      here.erase(at);
      break;
    case 1:
      progress.iterations = 1;
      break;
    case 2:
      progress.turn->refusal = progress.turn->refusal.empty() ? "it has a probe" : "";
      break;
    default:
      if (std::exchange(progress.idle, std::nullopt) == std::nullopt)
        progress.idle = IdleReading{kIdleToShow, {}};
  }
}

RC_GTEST_PROP(TurnPlannerProperty, OneOfTheTrainingPodsOfAGpuRunsAtATime, ()) {
  TurnPlanner planner(kPlanQuantum);
  PodsByNode pods;
  Moment at{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(500000))};
  auto members = MembersOf(pods);
  for (int change = *rc::gen::inRange(1, 25); change > 0; --change) {
    const bool new_leader = *rc::gen::inRange(0, 4) == 0;
    if (new_leader) planner = TurnPlanner(kPlanQuantum);
    if (*rc::gen::inRange(0, 5) > 0) ChangeOnePod(pods, change);
    // All of these together are less than the ten minutes after which a pod counts as having begun.
    const auto passed = std::chrono::milliseconds(*rc::gen::inRange(0, 20000));
    at = {at.now + passed, at.wall + passed};
    const TurnPlan plan = planner.Plan(pods, at);
    const auto before = std::exchange(members, MembersOf(pods));
    for (const TurnChange& written : plan.changes) {
      const auto pod =
          std::find_if(pods.at(written.pod->node).begin(), pods.at(written.pod->node).end(),
                       [&](const TurnPod& other) { return other.pod->uid == written.pod->uid; });
      const std::string& gpu = pod->report->pod.turn->gpus.front();
      const auto was = before.find(gpu);
      RC_ASSERT(was == before.end() || was->second != members.at(gpu));
    }
    WriteTurns(plan, pods);
    for (const auto& [node, here] : pods) {
      for (const TurnPod& pod : here) {
        const auto& turn = pod.pod->fungible->turn;
        const auto& sharers = members.at(pod.report->pod.turn->gpus.front());
        RC_ASSERT(turn.has_value() == (Trains(pod) && sharers.size() > 1));
        if (turn) RC_ASSERT(turn->IsValid() && turn->with.size() + 1 == sharers.size());
      }
      for (Duration later{}; later < std::chrono::minutes(5); later += std::chrono::seconds(1)) {
        std::map<std::string, int> running;
        for (const TurnPod& pod : here) {
          const auto& turn = pod.pod->fungible->turn;
          if (turn) running[pod.report->pod.turn->gpus.front()] += turn->RunsAt(at.wall + later);
        }
        for (const auto& [gpu, count] : running) RC_ASSERT(count == 1);
      }
    }
  }
}

}  // namespace
}  // namespace synergy::testing
