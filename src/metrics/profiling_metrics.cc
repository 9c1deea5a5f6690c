#include "metrics/profiling_metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace synergy::metrics {

class ProfilingMetrics::Impl {
 public:
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& probes =
      prometheus::BuildCounter()
          .Name("synergy_profiling_probes_total")
          .Help("Short CPU quotas on running pods, by action.")
          .Register(registry);
  prometheus::Family<prometheus::Counter>& published =
      prometheus::BuildCounter()
          .Name("synergy_profiling_published_total")
          .Help("Writes of measured profiles, by outcome.")
          .Register(registry);
  prometheus::Family<prometheus::Gauge>& measurements =
      prometheus::BuildGauge()
          .Name("synergy_profiling_measurements")
          .Help("Measured profiles, by certainty.")
          .Register(registry);
};

// Starts all counters at 0: one that appears with its first count would show no increase.
ProfilingMetrics::ProfilingMetrics() : impl_(std::make_unique<Impl>()) {
  for (const char* outcome : {"begun", "ended", "failed"})
    impl_->probes.Add({{"outcome", outcome}});
  for (const char* outcome : {"published", "failed"}) impl_->published.Add({{"outcome", outcome}});
  SetMeasurements(0, 0, 0);
}
ProfilingMetrics::~ProfilingMetrics() = default;

void ProfilingMetrics::CountProbe(std::string_view outcome) {
  impl_->probes.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ProfilingMetrics::CountPublished(std::string_view outcome) {
  impl_->published.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ProfilingMetrics::SetMeasurements(size_t confirmed, size_t estimated, size_t drifted) {
  const auto set = [this](const char* state, size_t count) {
    impl_->measurements.Add({{"state", state}}).Set(static_cast<double>(count));
  };
  set("confirmed", confirmed);
  set("estimated", estimated);
  set("drifted", drifted);
}

std::string ProfilingMetrics::Render() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace synergy::metrics
