#pragma once

// Helpers for metric families that are rebuilt at each scrape. Private to this folder, because they
// expose prometheus-cpp.
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
// Adds a single value without labels.
void AddGauge(std::string name, std::string help, double value,
              std::vector<prometheus::MetricFamily>& families);
// synergy_build_info
void RegisterBuildInfo(std::string_view program, prometheus::Registry& registry);

}  // namespace synergy::metrics
