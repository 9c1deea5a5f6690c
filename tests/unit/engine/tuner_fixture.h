#pragma once

// A tuner whose decisions the tests examine.

#include <string>
#include <utility>
#include <vector>

#include "engine/tuner/tuner.h"
#include "unit/engine/engine_fixture.h"

namespace synergy::testing {

// Only decisions: they are not carried out unless the test does so.
class TunerDecisionTest : public EngineTest {
 protected:
  TunerDecisionTest() {
    memory = Tuner::StartOver(at);
    state.KeepNews();
    Decide();  // the first round finds nothing
  }

  // Returns "keep_place new", "resize idle".
  std::vector<std::string> Decide() {
    const ClusterNews news = state.TakeNews();
    for (const PodNews& pod : news.pods) tuner.Hear(memory, pod, at);
    decision = tuner.Decide(*news.snapshot, memory, at);
    std::vector<std::string> told;
    for (const TunerAction& action : decision.actions) {
      told.push_back(std::string(ToString(action.kind)) + " " + action.pod->name);
    }
    return told;
  }
  void After(Duration duration) {
    at.now += duration;
    at.wall += duration;
  }
  void LearnAll(bool done) {
    for (const TunerAction& action : decision.actions) tuner.Learn(memory, action, done, at);
  }
  void Reports(Pod pod) {
    pod.resource_version = ++version_;
    state.UpsertPod(std::move(pod));
  }
  // Sets the API server's answer to our PATCH; the watch may lag.
  void Answers(Pod pod) {
    pod.resource_version = ++version_;
    state.RefreshPod(std::move(pod));
  }

  Tuner tuner{{}, profiles};
  TunerMemory memory;
  TunerDecision decision;

 private:
  uint64_t version_ = 0;
};

}  // namespace synergy::testing
