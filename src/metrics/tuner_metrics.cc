#include "metrics/tuner_metrics.h"

#include "metrics/families.h"

namespace synergy::metrics {
namespace {

const prometheus::Histogram::BucketBoundaries kDelayBuckets = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5,
                                                               1,    2,    5,    10,  30,  60};

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
      MakeGauges(registry, "synergy_tuner_leader", "Whether this replica changes pods.").Add({});
  prometheus::Gauge& changes_under_way = MakeGauges(registry, "synergy_tuner_changes_under_way",
                                                    "Changes that the kubelet has not made yet.")
                                             .Add({});
  prometheus::Gauge& kept_places_now =
      MakeGauges(registry, "synergy_tuner_held_places", "Places reserved for waiting pods now.")
          .Add({});
  prometheus::Histogram& delay =
      MakeHistograms(
          registry, "synergy_tuner_reclaim_delay_seconds",
          "Duration from a pod's condition Unschedulable to the first patch that makes room.")
          .Add({}, kDelayBuckets);
};

TunerMetrics::TunerMetrics() : impl_(std::make_unique<Impl>()) {
  StartAtZero(impl_->changes, "kind", {"Reclaimed", "Grown", "Divided", "Undone"});
  StartAtZero(impl_->failures, "reason",
              {"refused", "no_room", "deferred", "infeasible", "timeout"});
  StartAtZero(impl_->kept_places, "outcome", {"bound", "given_up", "pod_gone"});
  StartAtZero(impl_->memory_kills, "reason", {"oom_killed", "evicted"});
}
TunerMetrics::~TunerMetrics() = default;

void TunerMetrics::CountChange(std::string_view kind) { Count(impl_->changes, "kind", kind); }
void TunerMetrics::CountFailure(std::string_view reason) {
  Count(impl_->failures, "reason", reason);
}
void TunerMetrics::CountKeptPlace(std::string_view outcome) {
  Count(impl_->kept_places, "outcome", outcome);
}
void TunerMetrics::ObserveReclaimDelay(Duration delay) { impl_->delay.Observe(ToSeconds(delay)); }
void TunerMetrics::CountRespected(std::string_view reason) {
  Count(impl_->respected, "reason", reason);
}
void TunerMetrics::CountMemoryKill(std::string_view reason) {
  Count(impl_->memory_kills, "reason", reason);
}
void TunerMetrics::CountRound() { impl_->rounds.Increment(); }
void TunerMetrics::SetLeader(bool leader) { impl_->leader.Set(leader ? 1 : 0); }
void TunerMetrics::SetUnderWay(size_t changes, size_t kept_places) {
  impl_->changes_under_way.Set(static_cast<double>(changes));
  impl_->kept_places_now.Set(static_cast<double>(kept_places));
}

std::string TunerMetrics::Render() const { return RenderText(impl_->registry); }

}  // namespace synergy::metrics
