#pragma once

// A tuner whose decisions the tests examine.

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/tuner/tuner.h"
#include "unit/engine/engine_fixture.h"

namespace synergy::testing {

// Tests only decisions: they are not carried out unless the test does so.
class TunerPlanTest : public EngineTest {
 protected:
  explicit TunerPlanTest(TunerSettings settings = {}) : tuner(std::move(settings), profiles) {
    memory = Tuner::StartOver(at);
    state.KeepNews();
    Plan();  // the first round finds nothing
  }

  // Returns "keep_place new", "resize idle".
  std::vector<std::string> Plan() {
    const ClusterNews news = state.TakeNews();
    for (const PodNews& pod : news.pods) tuner.Observe(memory, pod, at);
    plan = tuner.Plan(*news.snapshot, memory, at);
    std::vector<std::string> names;
    for (const TunerAction& action : plan.actions) {
      names.push_back(std::string(kNames.at(action.what.index())) + " " + action.pod->name);
    }
    return names;
  }
  // REQUIRES: the action begins or ends a change.
  static const ChangeRecord& ChangeOf(const TunerAction& action) {
    return std::visit(
        [](const auto& what) -> const ChangeRecord& {
          if constexpr (requires { what.change; }) return what.change;
          std::abort();
        },
        action.what);
  }
  void After(Duration duration) {
    at.now += duration;
    at.wall += duration;
  }
  void ResultOfAll(bool done) {
    for (const TunerAction& action : plan.actions) tuner.OnResult(memory, action, done, at);
  }
  void Reports(Pod pod) {
    pod.resource_version = ++version_;
    state.UpsertPod(std::move(pod));
  }
  // Applies the API server's answer to our PATCH, before the watch reports it.
  void Answers(Pod pod) {
    pod.resource_version = ++version_;
    state.RefreshPod(std::move(pod));
  }

  Tuner tuner;
  TunerMemory memory;
  TunerPlan plan;

 private:
  static constexpr std::array<std::string_view, std::variant_size_v<TunerAction::What>> kNames{
      "keep_place", "end_place", "remind",   "announce", "resize",
      "record",     "withdraw",  "put_back", "notify"};

  uint64_t version_ = 0;
};

}  // namespace synergy::testing
