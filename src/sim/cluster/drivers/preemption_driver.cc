#include "sim/cluster/drivers/preemption_driver.h"

#include <string>
#include <variant>

namespace synergy {
namespace {

// The same interval as in the controller.
constexpr Duration kPreempting = std::chrono::seconds(1);

}  // namespace

void PreemptionDriver::Look(Instant now) {
  if (wake_ == Instant::max() && state_.Snapshot()->waiting_gpu_pods() > 0)
    wake_ = now + kPreempting;
}

void PreemptionDriver::Run(Moment at) {
  wake_ = Instant::max();
  Look(at.now);
  while (true) {
    const std::vector<PreemptionAction> actions = preemption_.Plan(state_, at);
    if (actions.empty()) return;
    for (const PreemptionAction& action : actions) {
      preemption_.OnResult(action,
                           std::visit([this](const auto& what) { return Do(what); }, action.what));
    }
  }
}

PreemptionResult PreemptionDriver::Do(const preemption_action::KeepPlaces& action) {
  for (const auto& [pod, node] : action.places) {
    if (faults_.CallFails() || !KeepPlace(*pod, node, action.until)) return {.done = false};
  }
  return {};
}

PreemptionResult PreemptionDriver::Do(const preemption_action::EndPlaces& action) {
  for (const auto& pod : action.pods) KeepPlace(*pod, {}, {});
  return {};
}

PreemptionResult PreemptionDriver::Do(const preemption_action::TryEvictions&) {
  if (faults_.CallFails()) return {.done = false, .why = "the API server fails"};
  return {};
}

PreemptionResult PreemptionDriver::Do(const preemption_action::Evict& action) {
  PreemptionResult result;
  std::vector<std::shared_ptr<const Pod>> evicted;
  for (const auto& pod : action.pods)
    (faults_.CallFails() ? result.refused : evicted).push_back(pod);
  evict_(evicted);
  return result;
}

bool PreemptionDriver::KeepPlace(const Pod& pod, const std::string& node, WallTime until) {
  return pods_.Write(pod.uid, [&](SimulatedPod& waiting) {
    waiting.waiting.kept_node = node;
    waiting.waiting.kept_until = until;
  });
}

}  // namespace synergy
