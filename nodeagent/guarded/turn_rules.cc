#include "nodeagent/guarded/turn_rules.h"

#include <algorithm>

#include "nodeagent/cgroups/node_pods.h"

namespace synergy::nodeagent {

std::optional<TurnRefusal> WhyNotSuspended(const wire::ResizeStatus& pod, bool probed) {
  if (pod.deleting) return TurnRefusal{"deleting", "it is being deleted"};
  if (pod.disrupted) return TurnRefusal{"disrupted", "it is about to be evicted"};
  if ((pod.gpus_in_turns > 1 || pod.in_gang) && !pod.allows_suspension) {
    return TurnRefusal{"several_gpus",
                       "it has several GPUs or is in a gang, and has no annotation "
                       "synergy.io/suspend: \"true\""};
  }
  const wire::ResizeStatus::Container* const container = TrainingContainer(pod);
  if (container != nullptr && container->probe_patience &&
      *container->probe_patience <= kLeastProbePatience) {
    return TurnRefusal{"probes",
                       "a probe of its container would fail; use one whose periodSeconds x "
                       "(failureThreshold - 1) + timeoutSeconds is above 140"};
  }
  if (probed) return TurnRefusal{"cpu_probe", "its CPU is being probed"};
  return std::nullopt;
}

std::map<std::string, WallTime> PodsToSuspend(const std::map<std::string, TurnPod>& pods,
                                              Moment now) {
  const auto runs = [&](const std::string& uid) {
    const auto pod = pods.find(uid);
    return pod != pods.end() && pod->second.runs;
  };
  std::map<std::string, WallTime> suspended;
  for (const auto& [uid, pod] : pods) {
    if (pod.turn == nullptr || !pod.runs || pod.refused || pod.turn->RunsAt(now.wall)) continue;
    if (pod.resumed_at && now.now - *pod.resumed_at < kLeastTimeBetween) continue;
    const std::vector<std::string>& with = pod.turn->with;
    const bool is_needed_by_another =
        std::any_of(with.begin(), with.end(),
                    [&, me = uid](const auto& other) { return other != me && runs(other); });
    const std::optional<WallTime> end = pod.turn->NextSwitch(now.wall);
    if (is_needed_by_another && end) suspended.emplace(uid, *end);
  }
  return suspended;
}

}  // namespace synergy::nodeagent
