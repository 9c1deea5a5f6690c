#pragma once

// Metric families that are made anew at each scrape. Private to this folder: prometheus-cpp shows.
//
// Threading: one owner at a time.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include "core/clock.h"
#include "metrics/cache_gauge.h"

namespace synergy::metrics {

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

double ToSeconds(Duration duration);

class FamilyBuilder {
 public:
  FamilyBuilder(std::string name, std::string help, prometheus::MetricType type);

  void Add(const LabelPairs& labels, double value);
  prometheus::MetricFamily Build() { return std::move(family_); }

 private:
  prometheus::MetricFamily family_;
};

// synergy_cache_*
void AddCacheFamilies(const std::vector<CacheGauge>& caches,
                      std::vector<prometheus::MetricFamily>& families);
// A single value without labels.
void AddGauge(std::string name, std::string help, double value,
              std::vector<prometheus::MetricFamily>& families);
// synergy_build_info
void RegisterBuildInfo(std::string_view program, prometheus::Registry& registry);

}  // namespace synergy::metrics
