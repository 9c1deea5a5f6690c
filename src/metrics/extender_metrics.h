#pragma once

// Every metric of synergy-extender. extender_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread. Recording takes a few atomic operations.

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

// Read at each scrape, not counted over time.
struct ClusterGauges {
  struct NodeGauge {
    std::string node;
    ResourceVector allocatable;
    ResourceVector requested;
    Gpus stranded;
    Slices slices = {};  // offered in addition to `allocatable`
    Slices slices_taken = {};
    bool in_turns = false;  // `slices` are turns
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
  uint64_t nodes_with_storage = 0;
  bool ready = false;
};

class ExtenderMetrics {
 public:
  // `gpu_resource`: the managed resource's name in labels.
  explicit ExtenderMetrics(const std::string& gpu_resource);
  ~ExtenderMetrics();

  // Counts a call answered after `duration`, whatever the answer.
  void CountCall(Verb verb, Duration duration);
  // Counts a call answered with an error. `reason` is one of a few fixed words.
  void CountError(Verb verb, std::string_view reason);
  // Counts the outcome of a bind: "bound", "conflict", "no_fit" ...
  void CountBind(std::string_view outcome);
  // Counts the amounts that a fungible pod got at its bind: its "demand", "part" of its demand,
  // "unchanged" (its request), "refused" by a quota or a limit, "failed".
  void CountAllocation(std::string_view outcome);
  // Counts assumed places that were given back: "bind_failed", "not_bound", "pod_gone".
  void CountForgotten(std::string_view reason);

  // Counts filters that waited and retried before they refused every node ("found_room",
  // "in_vain"), and filters that made kube-scheduler retry because the watches were late
  // ("asked_again").
  void CountSecondLook(std::string_view outcome);

  // Counts calls that refused nodes to a pod because of GPU reservations.
  void CountReservedRefusal(Verb verb);

  // Counts places that members of a running gang left, and the ends of held places. A place is
  // "held" for a replacement, or "succeeded" if the pod succeeded and needs none. A held place ends
  // as "filled", "expired", "gang_ended", or "yielded" to a pod of higher priority.
  void CountVacantPlace(std::string_view outcome);

  // Counts GPU pods that another scheduler bound, by whether Synergy agrees: "yes", "no", or
  // "as_good" if another node is worth as much. "nowhere" means that the pod fits on no node, and
  // "unjudged" that it was not seen before its bind.
  void CountShadowChoice(std::string_view agrees);
  // Counts GPUs that the choice of "synergy" or of the "scheduler" makes unusable.
  void CountShadowStranded(std::string_view by, Gpus gpus);

  // Each scrape calls `read`; set it before the first.
  void SetClusterGauges(std::function<ClusterGauges()> read);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
