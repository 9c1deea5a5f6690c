// Tests the turns of a cluster's pods (engine/sharing/turn_planner.h) while generated pods come and
// go, start to train, idle and refuse, and while leaders change; also with gangs and silent agents.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
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

// Single pods and gangs on six GPUs of three nodes.
class ClusterOfGangs {
 public:
  // Something happens to a pod, a gang or an agent.
  void Change() {
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
      case 1:
        return AddPod(TurnPodOn("", "", NextName()));
      case 2:
      case 3:
        return AddGang();
      case 4:
        return RemoveOne();
      case 5:
        if (TurnPod* pod = AnyPod()) ToggleIdle(*pod);
        return;
      case 6:
        if (TurnPod* pod = AnyPod()) ToggleRefusal(*pod);
        return;
      default:
        ToggleAgent();
    }
  }
  void SetAges() {
    for (auto& [node, here] : pods) {
      for (TurnPod& pod : here)
        pod.report->age =
            silent.contains(node) ? TurnPlanner::kOldReport + std::chrono::seconds(1) : Duration{};
    }
  }
  static std::string GpuOf(const TurnPod& pod) { return pod.report->pod.turn->gpus.front(); }
  static std::string NameOf(const TurnPod& pod) {
    return pod.pod->gang ? pod.pod->gang->name : pod.pod->uid;
  }
  std::vector<const TurnPod*> All() const {
    std::vector<const TurnPod*> all;
    for (const auto& [node, here] : pods) {
      for (const TurnPod& pod : here) all.push_back(&pod);
    }
    return all;
  }
  std::map<std::string, std::vector<const TurnPod*>> Units() const {
    std::map<std::string, std::vector<const TurnPod*>> units;
    for (const TurnPod* pod : All()) units[NameOf(*pod)].push_back(pod);
    return units;
  }
  // Returns whether the unit takes turns if it shares a GPU.
  bool TakesPart(const std::vector<const TurnPod*>& unit) const {
    std::set<std::string> gpus;
    bool idle = true;
    bool trains = false;
    for (const TurnPod* pod : unit) {
      gpus.insert(GpuOf(*pod));
      idle &= pod->report->pod.idle.has_value();
      trains |= pod->report->pod.iterations > 0;
      if (!pod->report->pod.turn->refusal.empty() || silent.contains(pod->pod->node)) return false;
    }
    const Pod& first = *unit.front()->pod;
    return trains && !idle && gpus.size() == unit.size() &&
           (!first.gang || std::ssize(unit) == first.gang->size);
  }
  // Returns the units that take turns, and whatever their turns depend on, by GPU: all those of the
  // component.
  std::map<std::string, std::set<std::string>> Components() const {
    std::map<std::string, std::set<std::string>> components;
    std::map<std::string, std::vector<const TurnPod*>> units = Units();
    std::erase_if(units, [&](const auto& unit) { return !TakesPart(unit.second); });
    for (const auto& [name, unit] : units) {
      std::set<std::string> merged;
      for (const TurnPod* pod : unit) merged.insert(name + " " + pod->pod->uid + " " + GpuOf(*pod));
      std::vector<std::string> gpus;
      for (const TurnPod* pod : unit) {
        const auto found = components.find(GpuOf(*pod));
        gpus.push_back(GpuOf(*pod));
        if (found == components.end()) continue;
        for (const auto& [gpu, members] : components) {
          if (members == found->second && gpu != GpuOf(*pod)) gpus.push_back(gpu);
        }
        merged.insert(found->second.begin(), found->second.end());
      }
      for (const std::string& gpu : gpus) components[gpu] = merged;
    }
    return components;
  }

  PodsByNode pods;
  std::set<std::string> silent;  // nodes

 private:
  std::string NextName() { return "p" + std::to_string(number_++); }
  static std::string AnyNode() { return *rc::gen::element<std::string>("l", "m", "n"); }
  void AddPod(TurnPod pod) {
    const std::string node = AnyNode();
    const std::string gpu = node + *rc::gen::element<std::string>("-0", "-1");
    Pod placed = *pod.pod;
    placed.node = node;
    pod.pod = std::make_shared<const Pod>(std::move(placed));
    pod.report->node = node;
    pod.report->pod.turn->gpus = {gpu};
    pod.report->pod.iterations = *rc::gen::weightedElement<double>({{1, 0}, {1, 1}, {3, 1000}});
    std::vector<TurnPod>& here = pods[node];
    const auto on_gpu = std::count_if(here.begin(), here.end(),
                                      [&](const TurnPod& other) { return GpuOf(other) == gpu; });
    if (on_gpu < 4) here.push_back(std::move(pod));
  }
  void AddGang() {
    const std::string gang = "g" + std::to_string(number_);
    const int size = *rc::gen::inRange(2, 4);
    for (int member = 0; member < size; ++member) AddPod(MemberOn("", "", NextName(), gang, size));
  }
  TurnPod* AnyPod() {
    std::vector<TurnPod*> all;
    for (auto& [node, here] : pods) {
      for (TurnPod& pod : here) all.push_back(&pod);
    }
    return all.empty() ? nullptr : *rc::gen::elementOf(all);
  }
  // A member of a gang may be replaced by another.
  void RemoveOne() {
    const TurnPod* const gone = AnyPod();
    if (gone == nullptr) return;
    const std::shared_ptr<const Pod> pod = gone->pod;
    const double iterations = gone->report->pod.iterations;
    std::erase_if(pods.at(pod->node),
                  [&](const TurnPod& other) { return other.pod->uid == pod->uid; });
    for (auto& [node, here] : pods) {
      for (TurnPod& other : here) {  // the gang has still begun to train
        if (pod->gang && NameOf(other) == pod->gang->name)
          other.report->pod.iterations = std::max(other.report->pod.iterations, iterations);
      }
    }
    if (pod->gang && *rc::gen::arbitrary<bool>()) {
      TurnPod next = MemberOn("", "", NextName(), "", pod->gang->size);
      Pod member = *next.pod;
      member.gang = pod->gang;
      next.pod = std::make_shared<const Pod>(std::move(member));
      AddPod(std::move(next));
    }
  }
  static void ToggleIdle(TurnPod& pod) {
    std::optional<IdleReading>& idle = pod.report->pod.idle;
    idle = idle ? std::nullopt : std::optional(IdleReading{kIdleToShow, {}});
  }
  static void ToggleRefusal(TurnPod& pod) {
    std::string& refusal = pod.report->pod.turn->refusal;
    refusal = refusal.empty() ? "it has a probe" : "";
  }
  void ToggleAgent() {
    const std::string node = AnyNode();
    if (silent.erase(node) == 0) silent.insert(node);
  }

  int number_ = 0;
};

bool AreSameTimes(GpuTurn a, GpuTurn b) {
  a.with = b.with = {};
  return IsSameTurn(a, b);
}

// No two pods of a GPU run at the same time, and the members of a gang only at the same times.
void CheckTimes(const ClusterOfGangs& cluster, WallTime now) {
  for (const auto& [name, unit] : cluster.Units()) {
    const GpuTurn* first = nullptr;
    for (const TurnPod* pod : unit) {
      const auto& turn = pod->pod->fungible->turn;
      if (!turn) continue;
      RC_ASSERT(turn->IsValid());
      if (first == nullptr) first = &*turn;
      RC_ASSERT(AreSameTimes(*first, *turn));
    }
  }
  for (Duration later{}; later < std::chrono::minutes(3); later += std::chrono::seconds(2)) {
    std::map<std::string, int> running;  // by GPU
    for (const TurnPod* pod : cluster.All()) {
      const auto& turn = pod->pod->fungible->turn;
      if (turn && turn->RunsAt(now + later)) ++running[ClusterOfGangs::GpuOf(*pod)];
    }
    for (const auto& [gpu, count] : running) RC_ASSERT(count <= 1);
  }
}

// Exactly the units that share a GPU take turns, unless they need too many slots.
void CheckTurns(const ClusterOfGangs& cluster) {
  const auto components = cluster.Components();
  std::map<std::string, std::set<std::string>> takers;  // uids on each GPU
  for (const auto& [name, unit] : cluster.Units()) {
    if (!cluster.TakesPart(unit)) continue;
    for (const TurnPod* pod : unit) takers[ClusterOfGangs::GpuOf(*pod)].insert(pod->pod->uid);
  }
  for (const auto& [name, unit] : cluster.Units()) {
    bool shares = false;
    size_t with_turn = 0;
    size_t in_component = 0;
    for (const TurnPod* pod : unit) {
      const std::string gpu = ClusterOfGangs::GpuOf(*pod);
      const auto& turn = pod->pod->fungible->turn;
      with_turn += turn ? 1 : 0;
      if (!cluster.TakesPart(unit)) continue;
      shares |= takers[gpu].size() > 1;
      in_component = components.at(gpu).size();
      if (turn) RC_ASSERT(turn->with.size() + 1 == takers[gpu].size());
    }
    if (cluster.TakesPart(unit) && shares) {
      RC_ASSERT(with_turn == unit.size() || (with_turn == 0 && in_component > 4));
    } else {
      RC_ASSERT(with_turn == 0U);
    }
  }
}

RC_GTEST_PROP(TurnPlannerProperty, GangsRunOnAllTheirGpusAtOnceOrNotAtAll, ()) {
  TurnPlanner planner(kPlanQuantum);
  ClusterOfGangs cluster;
  Moment at{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(500000))};
  bool all_report = true;
  auto components = cluster.Components();
  for (int step = *rc::gen::inRange(1, 40); step > 0; --step) {
    if (*rc::gen::inRange(0, 4) == 0) planner = TurnPlanner(kPlanQuantum);
    if (*rc::gen::inRange(0, 4) > 0) cluster.Change();
    cluster.SetAges();
    // All of these together are less than the three minutes after which a pod counts as having
    // begun.
    const auto passed = std::chrono::milliseconds(*rc::gen::inRange(0, 4000));
    at = {at.now + passed, at.wall + passed};
    const TurnPlan plan = planner.Plan(cluster.pods, at);
    const bool reported = std::exchange(all_report, cluster.silent.empty());
    const auto before = std::exchange(components, cluster.Components());
    for (const TurnChange& change : plan.changes) {
      RC_ASSERT(!cluster.silent.contains(change.pod->node));
      if (!all_report || !reported) continue;
      // A change leaves other rotations as they are.
      for (const TurnPod& pod : cluster.pods.at(change.pod->node)) {
        if (pod.pod->uid != change.pod->uid) continue;
        const std::string gpu = ClusterOfGangs::GpuOf(pod);
        if (before.contains(gpu) && components.contains(gpu))
          RC_ASSERT(before.at(gpu) != components.at(gpu));
      }
    }
    WriteTurns(plan, cluster.pods);
    CheckTimes(cluster, at.wall);
    if (all_report) CheckTurns(cluster);
    RC_ASSERT(planner.Plan(cluster.pods, at).changes.empty());
  }
}

}  // namespace
}  // namespace synergy::testing
