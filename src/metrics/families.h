#pragma once

// Helpers for two kinds of families of metrics: those counted over time, and those rebuilt at each
// scrape. Private to this folder, because they expose prometheus-cpp.
//
// Threading: any thread may count; a ScrapedFamily has one owner.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include "core/clock.h"
#include "core/gpu_amount.h"
#include "core/resources.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

double ToSeconds(Duration duration);

using Counters = prometheus::Family<prometheus::Counter>;
using Gauges = prometheus::Family<prometheus::Gauge>;
using Histograms = prometheus::Family<prometheus::Histogram>;

Counters& MakeCounters(prometheus::Registry& registry, const char* name, const char* help);
Gauges& MakeGauges(prometheus::Registry& registry, const char* name, const char* help);
Histograms& MakeHistograms(prometheus::Registry& registry, const char* name, const char* help);

// Adds to the counter with this label.
void Count(Counters& counters, const char* label, std::string_view value, double more = 1);
// Creates counters with 0, because Prometheus sees no increase in a counter that first appears with
// another value.
void StartAtZero(Counters& counters, const char* label, std::initializer_list<const char*> values);
// Registers synergy_build_info.
void RegisterBuildInfo(std::string_view program, prometheus::Registry& registry);

using LabelPairs = std::vector<std::pair<std::string, std::string>>;
using Families = std::vector<prometheus::MetricFamily>;

// A family that is added to `out` when this object is destroyed.
class ScrapedFamily {
 public:
  ScrapedFamily(Families& out, std::string name, std::string help,
                prometheus::MetricType type = prometheus::MetricType::Gauge);
  ~ScrapedFamily() { out_.push_back(std::move(family_)); }
  ScrapedFamily(const ScrapedFamily&) = delete;
  ScrapedFamily& operator=(const ScrapedFamily&) = delete;

  // A value is a number, a truth value (1 or 0), a Duration (in seconds), or an optional of these;
  // an empty optional adds nothing.
  template <class Value>
  void Add(const LabelPairs& labels, Value value) {
    AddNumber(labels, static_cast<double>(value));
  }
  void Add(const LabelPairs& labels, Duration value) { AddNumber(labels, ToSeconds(value)); }
  template <class Value>
  void Add(const LabelPairs& labels, const std::optional<Value>& value) {
    if (value) Add(labels, *value);
  }

 private:
  void AddNumber(const LabelPairs& labels, double value);

  Families& out_;
  prometheus::MetricFamily family_;
};

// A family of a single value.
template <class Value>
void AddGauge(Families& out, const char* name, const char* help, Value value,
              const LabelPairs& labels = {}) {
  ScrapedFamily(out, name, help).Add(labels, value);
}
template <class Value>
void AddCounter(Families& out, const char* name, const char* help, Value value,
                const LabelPairs& labels = {}) {
  ScrapedFamily(out, name, help, prometheus::MetricType::Counter).Add(labels, value);
}
// Adds GPUs under the name `gpu_resource`, cores and bytes.
void AddAmounts(ScrapedFamily& family, const LabelPairs& labels, const std::string& gpu_resource,
                const ResourceVector& amounts, Slices slices = {}, bool in_turns = false);
// Adds synergy_cache_*.
void AddCacheFamilies(Families& out, const std::vector<CacheGauge>& caches);

// Returns the text exposition format (version 0.0.4) of the counted and the scraped families.
std::string RenderText(const prometheus::Registry& registry, Families scraped = {});

}  // namespace synergy::metrics
