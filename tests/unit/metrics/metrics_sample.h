#pragma once

// Metrics with a value for each.

#include <chrono>

#include "metrics/controller_metrics.h"
#include "metrics/extender_metrics.h"

namespace synergy::testing {

inline metrics::ClusterGauges SampleGauges() {
  metrics::ClusterGauges gauges;
  gauges.nodes.push_back(
      {"n1", {Gpus(8), Cores(24), GiB(500)}, {Gpus(6), MilliCpu(22500), GiB(100)}, Gpus(1)});
  gauges.nodes.push_back(
      {"n2", {Gpus(4), Cores(12), GiB(250)}, {Gpus(5), Cores(13), GiB(300)}, Gpus(0)});
  gauges.nodes.push_back({"shared",
                          {Gpus(0), Cores(12), GiB(250)},
                          {Gpus(0), Cores(1), GiB(1)},
                          Gpus(0),
                          Slices(16),
                          Slices(3)});
  metrics::CacheGauge pods;
  pods.resource = "pods";
  pods.synced = true;
  pods.staleness = std::chrono::milliseconds(1500);
  pods.objects = 7;
  pods.lists = 2;
  pods.watch_restarts = 3;
  pods.errors = 4;
  pods.events = 5;
  pods.problems = 6;
  pods.unread = 12;
  gauges.caches.push_back(pods);
  gauges.assumed_pods = 8;
  gauges.oldest_assumed = std::chrono::seconds(10);
  gauges.kept_places = 11;
  gauges.oldest_kept = std::chrono::seconds(12);
  gauges.waiting_connections = 13;
  gauges.waiting_gpu_pods = 9;
  gauges.ready = true;
  return gauges;
}

inline void RecordSamples(metrics::ExtenderMetrics& metrics) {
  for (const metrics::Verb verb : metrics::kVerbs)
    metrics.CountCall(verb, std::chrono::microseconds(300));
  metrics.CountError(metrics::Verb::kFilter, "invalid");
  metrics.CountBind("bound");
  metrics.CountAllocation("demand");
  metrics.CountForgotten("bind_failed");
  metrics.CountSecondLook("in_vain");
  metrics.CountReservedRefusal(metrics::Verb::kPreempt);
  metrics.CountVacantPlace("held");
  metrics.CountShadowChoice("no");
  metrics.CountShadowStranded("scheduler", Gpus(3));
  metrics.SetClusterGauges(SampleGauges);
}

inline void RecordSamples(metrics::ControllerMetrics& metrics) {
  metrics.CountFailure("import", 30);
  metrics.CountPodReview("managed", std::chrono::microseconds(300));
  metrics.CountJobReview("sized");
  metrics.CountProfileReview("invalid");
  metrics.CountBadInput("json");
  metrics.CountStatusWrite("written");
  metrics.CountGangRead("read");
  metrics.CountProgressPull("ok");
  metrics.CountProgressDropped("not_here", 2);
  metrics.CountProgressDropped("not_managed", 0);
  metrics.SetGauges([] {
    metrics::ControllerGauges gauges;
    gauges.progress_pods = 7;
    gauges.oldest_progress = std::chrono::milliseconds(1500);
    gauges.caches = SampleGauges().caches;
    gauges.pods.push_back({"team",
                           "train",
                           "n1",
                           {Gpus(1), Cores(9), GiB(2)},
                           {Gpus(1), Cores(9), GiB(1)},
                           {Gpus(1), Cores(3), GiB(4)},
                           Slices(0),
                           2.5});
    gauges.pods.push_back({"team", "plain", "n1", {Gpus(2), Cores(6), GiB(8)}, {}, {}, Slices(3)});
    gauges.idle_gpus["team"] = Gpus(2);
    gauges.waiting_pods["cpu"] = 4;
    gauges.valid_profiles = 3;
    gauges.invalid_profiles = 1;
    gauges.certificate_expiry = WallTime(std::chrono::seconds(1'800'000'000));
    gauges.ready = true;
    return gauges;
  });
}

}  // namespace synergy::testing
