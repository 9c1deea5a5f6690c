#pragma once

// Every metric of synergy-controller. controller_metrics.cc alone defines names, labels and units;
// docs/metrics.md lists them for users.
//
// Threading: any thread. Recording takes a few atomic operations.

#include <cstddef>
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
#include "core/gpu_amount.h"
#include "core/resources.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

// Read at each scrape, not counted over time.
struct PodGauge {
  std::string pod_namespace;
  std::string pod;
  std::string node;
  ResourceVector allocated;
  ResourceVector demand;
  ResourceVector fair_share;
  Slices slices = {};                   // of GPUs, in addition to each of these amounts
  std::optional<double> speed_up = {};  // from a profile: multiple of its fair throughput
  bool in_turns = false;                // `slices` are turns
};

// Why GPU pods wait.
inline constexpr std::string_view kWaitingReasons[] = {"gpus", "cpu", "memory", "other",
                                                       "not_tried"};

struct ControllerGauges {
  std::vector<PodGauge> pods;  // managed pods
  // Running managed pods, by node and by whether a resize costs them their devices ("safe", ...).
  std::map<std::pair<std::string, std::string>, uint64_t> devices;
  // Idle GPUs of managed pods, by namespace. Omits a namespace if it is unknown for all its pods
  // whether they are busy or idle.
  std::map<std::string, Gpus> idle_gpus;
  std::map<std::string, uint64_t, std::less<>> waiting_pods;  // by reason (kWaitingReasons)
  std::vector<CacheGauge> caches;
  uint64_t valid_profiles = 0;
  uint64_t invalid_profiles = 0;
  std::optional<WallTime> certificate_expiry;
  size_t progress_pods = 0;  // pods with known progress
  Duration oldest_progress{};
  bool ready = false;
};

class ControllerMetrics {
 public:
  // `gpu_resource`: the managed resource's name in labels.
  explicit ControllerMetrics(std::string gpu_resource = "nvidia.com/gpu");
  ~ControllerMetrics();

  // Counts a review answered after `duration`. `outcome` is one of a few fixed words.
  void CountPodReview(std::string_view outcome, Duration duration);
  // `outcome`: "sized", "left" or "unreadable".
  void CountJobReview(std::string_view outcome);
  // `outcome`: "valid", "invalid" or "unreadable".
  void CountProfileReview(std::string_view outcome);
  // Counts malformed input: "json", "version", "object", "content_type", "too_large" ...
  void CountBadInput(std::string_view kind);
  // `outcome`: "written", "failed".
  void CountStatusWrite(std::string_view outcome);

  // Counts reads of objects that determine a gang's size: "read", "missing", "failed".
  void CountGangRead(std::string_view outcome);
  // Counts the outcome of a preemption for a gang: "bound", "in_vain", "refused", "gang_gone",
  // "yielded".
  void CountGangPreemption(std::string_view outcome);
  void CountEvictedForGang();
  // Counts moves of jobs to other GPUs: "moved", "in_vain", "refused", "waiter_gone".
  void CountMove(std::string_view outcome);

  // `outcome`: "ok", "unreachable", "timeout", "refused", "unreadable".
  void CountProgressPull(std::string_view outcome);
  // Counts pods dropped from a node agent's report: "not_here", "not_managed".
  void CountProgressDropped(std::string_view reason, size_t pods);

  // Counts a failed pod by its category (failure/category.h), with the GPU seconds of its run.
  void CountFailure(std::string_view category, double gpu_seconds);
  // Counts failed pods that are not reported because too many failures of their namespace wait.
  void CountFailureDropped();
  // Counts the results of decisions to suspend a job: "suspended"; "by_others" if it was already
  // suspended; "gone" if it was deleted or has ended; "given_up" if it could not be suspended.
  // "withdrawn" means that the job has failed otherwise, or its user no longer requests the
  // suspension.
  void CountSuspension(std::string_view outcome);
  // Counts the outcomes of trials: "begun"; "ended" if the job started or is over; "stopped" if the
  // trial's failure kept the job from starting; "refused" if the API server did not accept the
  // trial.
  void CountPrerun(std::string_view outcome);

  // Counts the outcomes (MemoryOutcome) for jobs that were killed for lack of memory, and whose
  // owner requested more memory for the next attempt.
  void CountMemoryRaise(std::string_view outcome);

  // Sets how many nodes are under suspicion.
  void SetSuspectNodes(size_t nodes);
  void SetAvoidedNodes(size_t entries);

  // Each scrape calls `read`; set it before the first.
  void SetGauges(std::function<ControllerGauges()> read);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
