#include "metrics/profiling_metrics.h"

#include "metrics/families.h"

namespace synergy::metrics {

class ProfilingMetrics::Impl {
 public:
  prometheus::Registry registry;
  Counters& probes = MakeCounters(registry, "synergy_profiling_probes_total",
                                  "Short CPU quotas on running pods, by action.");
  Counters& published = MakeCounters(registry, "synergy_profiling_published_total",
                                     "Writes of measured profiles, by outcome.");
  Gauges& measurements =
      MakeGauges(registry, "synergy_profiling_measurements", "Measured profiles, by certainty.");
};

ProfilingMetrics::ProfilingMetrics() : impl_(std::make_unique<Impl>()) {
  StartAtZero(impl_->probes, "outcome", {"begun", "ended", "failed"});
  StartAtZero(impl_->published, "outcome", {"published", "failed"});
  SetMeasurements(0, 0, 0);
}
ProfilingMetrics::~ProfilingMetrics() = default;

void ProfilingMetrics::CountProbe(std::string_view outcome) {
  Count(impl_->probes, "outcome", outcome);
}

void ProfilingMetrics::CountPublished(std::string_view outcome) {
  Count(impl_->published, "outcome", outcome);
}

void ProfilingMetrics::SetMeasurements(size_t confirmed, size_t estimated, size_t drifted) {
  const auto set = [this](const char* state, size_t count) {
    impl_->measurements.Add({{"state", state}}).Set(static_cast<double>(count));
  };
  set("confirmed", confirmed);
  set("estimated", estimated);
  set("drifted", drifted);
}

std::string ProfilingMetrics::Render() const { return RenderText(impl_->registry); }

}  // namespace synergy::metrics
