#pragma once

// Every metric of synergy-extender. Names, labels and units are in extender_metrics.cc and nowhere
// else; docs/metrics.md lists them for people.
//
// Threading: from any thread. Recording is a few atomic operations.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/resources.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

enum class Verb { kFilter, kPrioritize, kBind, kPreempt };
inline constexpr Verb kVerbs[] = {Verb::kFilter, Verb::kPrioritize, Verb::kBind, Verb::kPreempt};
std::string_view ToString(Verb verb);

// What is read at the moment of a scrape rather than counted as it happens.
struct ClusterGauges {
  struct NodeGauge {
    std::string node;
    ResourceVector allocatable;
    ResourceVector requested;
    Gpus stranded;
  };

  std::vector<NodeGauge> nodes;  // those with GPUs
  std::vector<CacheGauge> caches;
  uint64_t assumed_pods = 0;
  Duration oldest_assumed{};  // how long ago it was assumed
  uint64_t kept_places = 0;
  Duration oldest_kept{};
  uint64_t waiting_connections = 0;
  uint64_t waiting_gpu_pods = 0;
  uint64_t gangs_held = 0;
  uint64_t gangs_waiting = 0;
  Duration oldest_held_gang{};
  uint64_t waiting_binds = 0;
  uint64_t gangs_waiting_for_locality = 0;
  std::array<uint64_t, 3> gangs_placed{};  // so far: within a node, a rack, anywhere
  uint64_t vacant_places = 0;
  bool ready = false;
};

class ExtenderMetrics {
 public:
  // `gpu_resource` is what the managed resource is called in labels.
  explicit ExtenderMetrics(const std::string& gpu_resource);
  ~ExtenderMetrics();

  // One call answered after `duration`, whatever the answer.
  void CountCall(Verb verb, Duration duration);
  // A call answered with an error. `reason` is one of few fixed words.
  void CountError(Verb verb, std::string_view reason);
  // How a bind ended: "bound", "conflict", "no_fit" ...
  void CountBind(std::string_view outcome);
  // What a fungible pod was given at its bind: "demand", "part" of it, "unchanged" (what it asked
  // for), "refused" by a quota or a limit, "failed".
  void CountAllocation(std::string_view outcome);
  // An assumed place given back: "bind_failed", "not_bound", "pod_gone".
  void CountForgotten(std::string_view reason);

  // A filter that waited and looked again before it refused every node: "found_room", "in_vain".
  void CountSecondLook(std::string_view outcome);

  // Of a place that a running gang's member has left: "held" for its replacement, or not because
  // the pod has "succeeded"; one that was held: "filled", "expired", "gang_ended", or "yielded" to
  // a pod of higher priority.
  void CountVacantPlace(std::string_view outcome);

  // Of a GPU pod that somebody else has bound: "yes", "as_good" (another node that is worth as
  // much), "no", "nowhere" (it fits on no node), "unjudged" (not seen before it was bound).
  void CountShadowChoice(std::string_view agrees);
  // GPUs that a choice by "synergy" or by the "scheduler" would leave, or leaves, unusable.
  void CountShadowStranded(std::string_view by, Gpus gpus);

  // Called at each scrape; set before the first.
  void SetClusterGauges(std::function<ClusterGauges()> read);

  // The text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
