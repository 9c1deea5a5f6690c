#pragma once

// Every metric of synergy-controller. Names, labels and units are in controller_metrics.cc and
// nowhere else; docs/metrics.md lists them for people.
//
// Threading: from any thread. Recording is a few atomic operations.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/resources.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

// What is read at the moment of a scrape rather than counted as it happens.
struct PodGauge {
  std::string pod_namespace;
  std::string pod;
  std::string node;
  ResourceVector allocated;
  ResourceVector demand;
  ResourceVector fair_share;
  std::optional<double> speed_up;  // throughput in units of that with the fair share, by a profile
};

// Why GPU pods wait.
inline constexpr std::string_view kWaitingReasons[] = {"gpus", "cpu", "memory", "other",
                                                       "not_tried"};

struct ControllerGauges {
  std::vector<PodGauge> pods;  // those that are managed
  // Managed pods that run, by node and by whether a resize costs them their devices ("safe", ...).
  std::map<std::pair<std::string, std::string>, uint64_t> devices;
  std::map<std::string, uint64_t, std::less<>> waiting_pods;  // by reason
  std::vector<CacheGauge> caches;
  uint64_t valid_profiles = 0;
  uint64_t invalid_profiles = 0;
  std::optional<WallTime> certificate_expiry;
  size_t progress_pods = 0;  // whose progress is known
  Duration oldest_progress{};
  bool ready = false;
};

class ControllerMetrics {
 public:
  // `gpu_resource` is what the managed resource is called in labels.
  explicit ControllerMetrics(std::string gpu_resource = "nvidia.com/gpu");
  ~ControllerMetrics();

  // One review answered after `duration`. `outcome` is one of few fixed words.
  void CountPodReview(std::string_view outcome, Duration duration);
  // "valid", "invalid" or "unreadable".
  void CountProfileReview(std::string_view outcome);
  // What could not be read as it should be: "json", "version", "object", "content_type",
  // "too_large" ...
  void CountBadInput(std::string_view kind);
  // "written", "failed".
  void CountStatusWrite(std::string_view outcome);

  // Of objects that say how large a gang is: "read", "missing", "failed".
  void CountGangRead(std::string_view outcome);
  // How it ended that others were to be evicted for a gang: "bound", "in_vain", "refused",
  // "gang_gone", "yielded".
  void CountGangPreemption(std::string_view outcome);
  void CountEvictedForGang();

  // "ok"; "unreachable", "timeout", "refused", "unreadable".
  void CountProgressPull(std::string_view outcome);
  // Of what a node agent told: "not_here", "not_managed".
  void CountProgressDropped(std::string_view reason, size_t pods);

  // Called at each scrape; set before the first.
  void SetGauges(std::function<ControllerGauges()> read);

  // The text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
