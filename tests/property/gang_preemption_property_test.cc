// Tests GangPreemption with an API server that refuses and loses calls, victims that take their
// time to end, and gangs that are bound, or are not, or lose a member.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_state.h"
#include "core/random.h"
#include "engine/gangs/gang_preemption.h"
#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

using namespace std::chrono_literals;

constexpr int kSteps = 60;
constexpr int kPlansPerStep = 100;

class Scene {
 public:
  explicit Scene(uint64_t seed) : random_(seed) {
    const uint64_t nodes = 1 + random_.Below(3);
    for (uint64_t node = 0; node < nodes; ++node) {
      const std::string name = "n" + std::to_string(node);
      state.UpsertNode(NodeOfFour(name));
      for (uint64_t free = 4; free > 0;) {
        const uint64_t size = 1 + random_.Below(std::min<uint64_t>(free, 3));
        AddGang(name, size, static_cast<int32_t>(random_.Below(4)));
        free -= size;
      }
    }
    for (uint64_t gangs = 1 + random_.Below(4); gangs > 0; --gangs)
      AddGang("", 1 + random_.Below(5), static_cast<int32_t>(1 + random_.Below(5)));
  }

  // Advances the time: victims end, and members are bound if their gangs have room.
  void Pass(Duration time, bool all_goes_well) {
    now += time;
    wall += std::chrono::duration_cast<WallTime::duration>(time);
    state.DropStaleExpectations(now, wall);
    for (auto leaving = leaving_.begin(); leaving != leaving_.end();) {
      if (now < leaving->second && !all_goes_well) {
        ++leaving;
        continue;
      }
      state.RemovePod(leaving->first);
      leaving = leaving_.erase(leaving);
    }
    for (const auto& pod : state.WaitingPods()) {
      const bool has_place = !pod->waiting->kept_node.empty();
      if (has_place && leaving_.empty() && (all_goes_well || Chance(3))) {
        Pod bound = *pod;
        bound.node = pod->waiting->kept_node;
        bound.waiting = nullptr;
        state.UpsertPod(std::move(bound));
      } else if (!all_goes_well && Chance(200)) {
        state.RemovePod(pod->uid);
      }
    }
  }

  PreemptionResult Do(const WaitingGang& gang, const preemption_action::KeepPlaces& action,
                      bool all_goes_well) {
    RC_ASSERT(action.places.size() == gang.members.size());
    for (const auto& [pod, node] : action.places) {
      if (!all_goes_well && Chance(20)) return {.done = false};
      Write(*pod, node, action.until);
    }
    attempts_[gang.name].has_places = true;
    return {};
  }
  PreemptionResult Do(const WaitingGang&, const preemption_action::EndPlaces& action, bool) {
    for (const auto& pod : action.pods) Write(*pod, {}, {});
    return {};
  }
  PreemptionResult Do(const WaitingGang& gang, const preemption_action::TryEvictions& action,
                      bool all_goes_well) {
    RC_ASSERT(attempts_[gang.name].has_places);
    RC_ASSERT(!action.pods.empty());
    if (!all_goes_well && Chance(5)) return {.done = false, .why = "a budget"};
    attempts_[gang.name].may_evict = true;
    return {};
  }
  PreemptionResult Do(const WaitingGang& gang, const preemption_action::Begin& action, bool) {
    RC_ASSERT(attempts_[gang.name].may_evict);
    RC_ASSERT(action.victims > 0u);
    attempts_[gang.name].has_begun = true;
    return {};
  }
  PreemptionResult Do(const WaitingGang& gang, const preemption_action::Evict& action,
                      bool all_goes_well) {
    RC_ASSERT(attempts_[gang.name].may_evict);
    PreemptionResult result;
    std::set<std::string> uids;
    for (const auto& pod : action.pods) uids.insert(pod->uid);
    for (const auto& pod : action.pods) {
      RC_ASSERT(pod->priority < gang.priority);
      // No gang is evicted in part.
      for (const auto& other : state.Snapshot()->MembersOnNodes(pod->gang->name)) {
        if (other->waiting == nullptr && !leaving_.contains(other->uid))
          RC_ASSERT(uids.contains(other->uid));
      }
      if (!all_goes_well && Chance(10)) {
        result.refused.push_back(pod);
      } else if (state.FindPod(pod->uid) != nullptr) {
        leaving_.emplace(pod->uid, now + std::chrono::seconds(random_.Below(100)));
      }
    }
    return result;
  }
  PreemptionResult Do(const WaitingGang& gang, const preemption_action::End& action, bool) {
    RC_ASSERT((action.end == PreemptionEnd::kBound) == action.why.empty());
    if (action.end == PreemptionEnd::kRefused) RC_ASSERT(!attempts_[gang.name].has_begun);
    if (action.end == PreemptionEnd::kInVain) RC_ASSERT(attempts_[gang.name].has_begun);
    for (const auto& pod : gang.members) {
      const auto seen = state.FindPod(pod->uid);
      if (seen != nullptr && seen->waiting != nullptr) RC_ASSERT(seen->waiting->kept_node.empty());
    }
    attempts_.erase(gang.name);
    return {};
  }

  size_t attempts() const { return attempts_.size(); }

  ClusterState state;
  Instant now{};
  WallTime wall = WallTime{} + 1h;

 private:
  // An attempt, as its actions show it.
  struct Attempt {
    bool has_places = false;
    bool may_evict = false;
    bool has_begun = false;
  };

  bool Chance(uint64_t one_of) { return random_.Below(one_of) == 0; }

  void AddGang(const std::string& node, uint64_t size, int32_t priority) {
    const std::string gang = "g" + std::to_string(next_++);
    for (uint64_t i = 0; i < size; ++i) {
      Pod pod = ManagedPod(gang + "-" + std::to_string(i), node, 3);
      pod.priority = priority;
      pod.gang = std::make_shared<const Gang>(
          Gang{.name = gang, .size = static_cast<int32_t>(size), .problem = {}, .spread = {}});
      state.UpsertPod(std::move(pod));
    }
  }
  void Write(const Pod& pod, const std::string& node, WallTime until) {
    const auto seen = state.FindPod(pod.uid);
    if (seen == nullptr || seen->waiting == nullptr) return;
    Pod written = *seen;
    Waiting waiting = *seen->waiting;
    waiting.kept_node = node;
    waiting.kept_until = until;
    written.waiting = std::make_shared<const Waiting>(std::move(waiting));
    state.RefreshPod(written);
  }

  Random random_;
  int next_ = 0;
  std::map<std::string, Instant> leaving_;  // uid of an evicted pod -> when it ends
  std::map<std::string, Attempt> attempts_;
};

// Carries out everything that is due now.
void Step(Scene& scene, GangPreemption& preemption, bool all_goes_well) {
  for (int plans = 0;; ++plans) {
    RC_ASSERT(plans < kPlansPerStep);
    const auto actions = preemption.Plan(scene.state, {scene.now, scene.wall});
    if (actions.empty()) return;
    for (const PreemptionAction& action : actions) {
      const PreemptionResult result =
          std::visit([&](const auto& what) { return scene.Do(*action.gang, what, all_goes_well); },
                     action.what);
      preemption.OnResult(action, result);
    }
  }
}

RC_GTEST_PROP(GangPreemption, EvictsGangsWholeAfterATrialAndEndsEveryAttempt, (uint64_t seed)) {
  Scene scene(seed);
  GangPreemption preemption{{}};
  Random times(seed + 1);
  for (int step = 0; step < kSteps; ++step) {
    scene.Pass(std::chrono::seconds(1 + times.Below(40)), false);
    Step(scene, preemption, false);
  }
  // Without faults no gang waits for ever: its attempt ends, and so do all that begin meanwhile.
  for (int step = 0; step < kSteps && (step < 3 || scene.attempts() > 0); ++step) {
    scene.Pass(2min, true);
    Step(scene, preemption, true);
  }
  RC_ASSERT(scene.attempts() == 0u);
}

}  // namespace
}  // namespace synergy::testing
