#pragma once

// Every metric of synergy-extender. Names, labels and units are only in extender_metrics.cc;
// docs/metrics.md lists them for users.
//
// Threading: from any thread. Recording is a few atomic operations.

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/gpu_amount.h"
#include "core/resources.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

enum class Verb { kFilter, kPrioritize, kBind, kPreempt };
inline constexpr Verb kVerbs[] = {Verb::kFilter, Verb::kPrioritize, Verb::kBind, Verb::kPreempt};
std::string_view ToString(Verb verb);

// Read at each scrape, not counted as it happens.
struct ClusterGauges {
  struct NodeGauge {
    std::string node;
    ResourceVector allocatable;
    ResourceVector requested;
    Gpus stranded;
    Slices slices = {};  // on offer; not counted in `allocatable`
    Slices slices_taken = {};
    bool in_turns = false;  // these are turns
  };

  std::vector<NodeGauge> nodes;  // nodes with GPUs, whole or in slices
  std::vector<CacheGauge> caches;
  uint64_t assumed_pods = 0;
  Duration oldest_assumed{};  // age
  uint64_t kept_places = 0;
  Duration oldest_kept{};
  uint64_t waiting_connections = 0;
  uint64_t waiting_gpu_pods = 0;
  uint64_t gangs_held = 0;
  uint64_t gangs_waiting = 0;
  Duration oldest_held_gang{};
  uint64_t waiting_binds = 0;
  uint64_t gangs_waiting_for_locality = 0;
  std::array<uint64_t, 3> gangs_placed{};  // in total: within a node, within a rack, anywhere
  uint64_t vacant_places = 0;
  uint64_t gpu_reservations = 0;
  bool ready = false;
};

class ExtenderMetrics {
 public:
  // `gpu_resource`: name of the managed resource in labels.
  explicit ExtenderMetrics(const std::string& gpu_resource);
  ~ExtenderMetrics();

  // Counts a call answered after `duration`, whatever the answer.
  void CountCall(Verb verb, Duration duration);
  // Counts a call answered with an error. `reason` is one of few fixed words.
  void CountError(Verb verb, std::string_view reason);
  // Counts the outcome of a bind: "bound", "conflict", "no_fit" ...
  void CountBind(std::string_view outcome);
  // Counts what a fungible pod got at its bind: "demand", "part" of it, "unchanged" (its request),
  // "refused" by a quota or a limit, "failed".
  void CountAllocation(std::string_view outcome);
  // Counts assumed places that were given back: "bind_failed", "not_bound", "pod_gone".
  void CountForgotten(std::string_view reason);

  // Counts filters that waited and retried before they refused every node: "found_room", "in_vain".
  void CountSecondLook(std::string_view outcome);

  // Counts calls that refused a pod nodes because of GPU reservations.
  void CountReservedRefusal(Verb verb);

  // Counts places that members of a running gang have left: "held" for a replacement, or
  // "succeeded" if the pod has and needs none; and how a held place ended: "filled", "expired",
  // "gang_ended", or "yielded" to a pod of higher priority.
  void CountVacantPlace(std::string_view outcome);

  // Counts, for GPU pods that another scheduler has bound, whether Synergy agrees: "yes", "as_good"
  // (another node that is worth as much), "no", "nowhere" (it fits on no node), "unjudged" (not
  // seen before it was bound).
  void CountShadowChoice(std::string_view agrees);
  // Counts GPUs that the choice of "synergy" or of the "scheduler" would make, or makes, unusable.
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
