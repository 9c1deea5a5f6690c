#include "metrics/families.h"

#include <chrono>

#include <prometheus/client_metric.h>
#include <prometheus/gauge.h>

#include "core/version.h"

namespace synergy::metrics {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double ToSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

FamilyBuilder::FamilyBuilder(std::string name, std::string help, MetricType type) {
  family_.name = std::move(name);
  family_.help = std::move(help);
  family_.type = type;
}

void FamilyBuilder::Add(const LabelPairs& labels, double value) {
  ClientMetric metric;
  for (const auto& [name, label] : labels) {
    ClientMetric::Label pair;
    pair.name = name;
    pair.value = label;
    metric.label.push_back(std::move(pair));
  }
  if (family_.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family_.metric.push_back(std::move(metric));
}

void AddCacheFamilies(const std::vector<CacheGauge>& caches, std::vector<MetricFamily>& families) {
  FamilyBuilder objects("synergy_cache_objects", "Objects in the copy of the API server's state.",
                        MetricType::Gauge);
  FamilyBuilder synced("synergy_cache_synced", "Whether a complete list has been read.",
                       MetricType::Gauge);
  FamilyBuilder staleness("synergy_cache_staleness_seconds",
                          "Time since the API server's last response on this watch.",
                          MetricType::Gauge);
  FamilyBuilder lists("synergy_cache_lists_total", "Complete lists read.", MetricType::Counter);
  FamilyBuilder restarts("synergy_cache_watch_restarts_total", "Watches opened after the first.",
                         MetricType::Counter);
  FamilyBuilder errors("synergy_cache_errors_total", "Lists and watches that failed.",
                       MetricType::Counter);
  FamilyBuilder events("synergy_cache_events_total", "Watch events applied.", MetricType::Counter);
  FamilyBuilder problems("synergy_cache_unreadable_fields_total",
                         "Object fields that could not be read.", MetricType::Counter);
  FamilyBuilder unread("synergy_unreadable_objects",
                       "Objects with more content than is read; their earlier state is kept.",
                       MetricType::Gauge);
  for (const auto& cache : caches) {
    unread.Add({{"kind", cache.resource}}, static_cast<double>(cache.unread));
    const LabelPairs labels{{"resource", cache.resource}};
    objects.Add(labels, static_cast<double>(cache.objects));
    synced.Add(labels, cache.synced ? 1 : 0);
    staleness.Add(labels, ToSeconds(cache.staleness));
    lists.Add(labels, static_cast<double>(cache.lists));
    restarts.Add(labels, static_cast<double>(cache.watch_restarts));
    errors.Add(labels, static_cast<double>(cache.errors));
    events.Add(labels, static_cast<double>(cache.events));
    problems.Add(labels, static_cast<double>(cache.problems));
  }
  for (FamilyBuilder* family :
       {&objects, &synced, &staleness, &lists, &restarts, &errors, &events, &problems, &unread}) {
    families.push_back(family->Build());
  }
}

void AddGauge(std::string name, std::string help, double value,
              std::vector<MetricFamily>& families) {
  FamilyBuilder family(std::move(name), std::move(help), MetricType::Gauge);
  family.Add({}, value);
  families.push_back(family.Build());
}

void RegisterBuildInfo(std::string_view program, prometheus::Registry& registry) {
  prometheus::BuildGauge()
      .Name("synergy_build_info")
      .Help("Always 1; the labels describe the running program.")
      .Register(registry)
      .Add({{"program", std::string(program)},
            {"version", std::string(Version())},
            {"commit", std::string(Commit())}})
      .Set(1);
}

}  // namespace synergy::metrics
