// Tests SelectGangVictims against all sets of victims, on small clusters.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/gangs/gang_victims.h"
#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr int32_t kPriority = 3;

int64_t Upto(int64_t most) { return *rc::gen::inRange<int64_t>(0, most + 1); }

// Pods that are evicted together, and what prevents it.
struct Group {
  std::vector<std::string> pods;
  int32_t priority = 0;
};

struct Scene {
  ClusterState state;
  std::map<std::string, Group> groups;  // name -> group of lower priority
  std::vector<std::shared_ptr<const Pod>> members;

  Scene() {
    const int64_t nodes = 1 + Upto(2);
    for (int64_t node = 0; node < nodes; ++node) {
      state.UpsertNode(MakeNode(NameOf(node), {Gpus(4), Cores(64), GiB(64)}));
      int64_t free = 4;
      for (int64_t pod = 0; pod < 3 && free > 0; ++pod) {
        const int64_t gpus = std::min(free, 1 + Upto(2));
        free -= gpus;
        if (Upto(5) != 0) AddPod(NameOf(node), gpus);
      }
    }
    const int64_t count = 1 + Upto(3);
    const int64_t gpus = 1 + Upto(1);
    for (int64_t i = 0; i < count; ++i) {
      Pod member = WithPriority(MakeGpuPod("m" + std::to_string(i), gpus), kPriority);
      members.push_back(std::make_shared<const Pod>(std::move(member)));
    }
  }

  static std::string NameOf(int64_t node) { return "n" + std::to_string(node); }

  void AddPod(const std::string& node, int64_t gpus) {
    const std::string name = "p" + std::to_string(next_++);
    const int64_t gang = Upto(4);
    Pod pod = OnNode(MakeGpuPod(name, gpus), node);
    std::string group = name;
    if (gang < 2) {
      group = "g" + std::to_string(gang);
      pod.gang =
          std::make_shared<const Gang>(Gang{.name = group, .size = 2, .problem = {}, .spread = {}});
      const auto [known, added] =
          gang_priority_.try_emplace(gang, static_cast<int32_t>(Upto(kPriority)));
      pod.priority = known->second;
    } else {
      pod.priority = static_cast<int32_t>(Upto(kPriority));
    }
    if (pod.priority < kPriority) {
      groups[group].pods.push_back(name);
      groups[group].priority = pod.priority;
    }
    state.UpsertPod(std::move(pod));
  }

  bool FitsWithout(const std::set<std::string>& gone) const {
    const auto snapshot = state.Snapshot();
    return !PlanGang(
                *snapshot, members, {}, [](size_t, NodeIndex) { return true; }, gone)
                .places.empty();
  }

  std::optional<GangVictims> Select() const {
    return SelectGangVictims(
        *state.Snapshot(), members, {}, [](size_t, NodeIndex) { return true; },
        [](const Pod&) { return true; }, WallTime{});
  }

 private:
  int64_t next_ = 0;
  std::map<int64_t, int32_t> gang_priority_;
};

RC_GTEST_PROP(GangVictimsProperty, AreWholeNeededAndOfTheLowestPossiblePriority, ()) {
  const Scene scene;
  const auto chosen = scene.Select();

  std::vector<Group> groups;
  for (const auto& [name, group] : scene.groups) groups.push_back(group);
  std::optional<int32_t> lowest;  // highest priority among the victims
  for (uint32_t set = 0; set < (1U << groups.size()); ++set) {
    std::set<std::string> gone;
    int32_t highest = -1;
    for (size_t i = 0; i < groups.size(); ++i) {
      if ((set >> i & 1U) == 0) continue;
      gone.insert(groups[i].pods.begin(), groups[i].pods.end());
      highest = std::max(highest, groups[i].priority);
    }
    if (scene.FitsWithout(gone)) lowest = std::min(lowest.value_or(kPriority), highest);
  }
  RC_CLASSIFY(lowest && *lowest >= 0, "some pods are victims");
  RC_ASSERT(chosen.has_value() == lowest.has_value());
  if (!chosen) return;

  std::set<std::string> gone;
  int32_t highest = -1;
  for (const auto& pod : chosen->pods) {
    gone.insert(pod->uid);
    highest = std::max(highest, pod->priority);
  }
  RC_ASSERT(gone.size() == chosen->pods.size());
  RC_ASSERT(highest == *lowest);
  RC_ASSERT(scene.FitsWithout(gone));
  RC_ASSERT(chosen->places.size() == scene.members.size());
  size_t of_groups = 0;
  for (const Group& group : groups) {
    std::set<std::string> others = gone;
    size_t leaving = 0;
    for (const std::string& pod : group.pods) leaving += others.erase(pod);
    of_groups += leaving;
    RC_ASSERT(leaving == 0 || leaving == group.pods.size());
    if (leaving > 0) RC_ASSERT(!scene.FitsWithout(others));
  }
  RC_ASSERT(of_groups == gone.size());
}

}  // namespace
}  // namespace synergy::testing
