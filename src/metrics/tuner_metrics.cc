#include "metrics/tuner_metrics.h"

#include <chrono>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace synergy::metrics {
namespace {

const prometheus::Histogram::BucketBoundaries kDelayBuckets = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5,
                                                               1,    2,    5,    10,  30,  60};

using Counters = prometheus::Family<prometheus::Counter>;

Counters& MakeCounters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

prometheus::Gauge& MakeGauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

}  // namespace

class TunerMetrics::Impl {
 public:
  prometheus::Registry registry;
  Counters& changes = MakeCounters(registry, "synergy_tuner_changes_total",
                                   "Changes of running pods' CPU and memory, by kind.");
  Counters& failures = MakeCounters(registry, "synergy_tuner_failed_changes_total",
                                    "Changes that failed or were reverted, by reason.");
  Counters& kept_places =
      MakeCounters(registry, "synergy_tuner_holds_total",
                   "Places reserved for waiting pods, by how the reservation ended.");
  Counters& respected =
      MakeCounters(registry, "synergy_tuner_respected_pods_total",
                   "Pods whose amounts or profile another client has changed, by reason.");
  Counters& memory_kills = MakeCounters(registry, "synergy_tuner_memory_kills_total",
                                        "Pods with an OOM-killed container, or evicted for memory, "
                                        "soon after their memory was changed, by reason.");
  prometheus::Counter& rounds = MakeCounters(registry, "synergy_tuner_rounds_total",
                                             "Number of times that every node was divided again.")
                                    .Add({});
  prometheus::Gauge& leader =
      MakeGauge(registry, "synergy_tuner_leader", "Whether this replica changes pods.");
  prometheus::Gauge& changes_under_way = MakeGauge(registry, "synergy_tuner_changes_under_way",
                                                   "Changes that the kubelet has not made yet.");
  prometheus::Gauge& kept_places_now =
      MakeGauge(registry, "synergy_tuner_held_places", "Places reserved for waiting pods now.");
  prometheus::Histogram& delay =
      prometheus::BuildHistogram()
          .Name("synergy_tuner_reclaim_delay_seconds")
          .Help("Duration from a pod's condition Unschedulable to the first patch that makes room.")
          .Register(registry)
          .Add({}, kDelayBuckets);
};

// Starts all counters at 0: one that appears with its first count would show no increase.
TunerMetrics::TunerMetrics() : impl_(std::make_unique<Impl>()) {
  for (const char* kind : {"Reclaimed", "Grown", "Divided", "Undone"})
    impl_->changes.Add({{"kind", kind}});
  for (const char* reason : {"refused", "no_room", "deferred", "infeasible", "timeout"})
    impl_->failures.Add({{"reason", reason}});
  for (const char* outcome : {"bound", "given_up", "pod_gone"})
    impl_->kept_places.Add({{"outcome", outcome}});
  for (const char* reason : {"oom_killed", "evicted"})
    impl_->memory_kills.Add({{"reason", reason}});
}
TunerMetrics::~TunerMetrics() = default;

void TunerMetrics::CountChange(std::string_view kind) {
  impl_->changes.Add({{"kind", std::string(kind)}}).Increment();
}
void TunerMetrics::CountFailure(std::string_view reason) {
  impl_->failures.Add({{"reason", std::string(reason)}}).Increment();
}
void TunerMetrics::CountKeptPlace(std::string_view outcome) {
  impl_->kept_places.Add({{"outcome", std::string(outcome)}}).Increment();
}
void TunerMetrics::ObserveReclaimDelay(Duration delay) {
  impl_->delay.Observe(std::chrono::duration<double>(delay).count());
}
void TunerMetrics::CountRespected(std::string_view reason) {
  impl_->respected.Add({{"reason", std::string(reason)}}).Increment();
}
void TunerMetrics::CountMemoryKill(std::string_view reason) {
  impl_->memory_kills.Add({{"reason", std::string(reason)}}).Increment();
}
void TunerMetrics::CountRound() { impl_->rounds.Increment(); }
void TunerMetrics::SetLeader(bool leader) { impl_->leader.Set(leader ? 1 : 0); }
void TunerMetrics::SetUnderWay(size_t changes, size_t kept_places) {
  impl_->changes_under_way.Set(static_cast<double>(changes));
  impl_->kept_places_now.Set(static_cast<double>(kept_places));
}

std::string TunerMetrics::Render() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace synergy::metrics
