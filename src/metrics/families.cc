#include "metrics/families.h"

#include <chrono>
#include <iterator>

#include <prometheus/client_metric.h>
#include <prometheus/text_serializer.h>

#include "core/version.h"

namespace synergy::metrics {

using prometheus::ClientMetric;
using prometheus::MetricType;

double ToSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Counters& MakeCounters(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Gauges& MakeGauges(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

Histograms& MakeHistograms(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

void Count(Counters& counters, const char* label, std::string_view value, double more) {
  counters.Add({{label, std::string(value)}}).Increment(more);
}

void StartAtZero(Counters& counters, const char* label, std::initializer_list<const char*> values) {
  for (const char* value : values) counters.Add({{label, value}});
}

void RegisterBuildInfo(std::string_view program, prometheus::Registry& registry) {
  MakeGauges(registry, "synergy_build_info", "Always 1; the labels describe the running program.")
      .Add({{"program", std::string(program)},
            {"version", std::string(Version())},
            {"commit", std::string(Commit())}})
      .Set(1);
}

ScrapedFamily::ScrapedFamily(Families& out, std::string name, std::string help, MetricType type)
    : out_(out) {
  family_.name = std::move(name);
  family_.help = std::move(help);
  family_.type = type;
}

void ScrapedFamily::AddNumber(const LabelPairs& labels, double value) {
  ClientMetric metric;
  for (const auto& [name, label] : labels) {
    ClientMetric::Label pair;
    pair.name = name;
    pair.value = label;
    metric.label.push_back(std::move(pair));
  }
  (family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  family_.metric.push_back(std::move(metric));
}

void AddAmounts(ScrapedFamily& family, const LabelPairs& labels, const std::string& gpu_resource,
                const ResourceVector& amounts, Slices slices, bool in_turns) {
  const auto add = [&](const std::string& resource, double value) {
    LabelPairs with_resource = labels;
    with_resource.emplace_back("resource", resource);
    family.Add(with_resource, value);
  };
  add(gpu_resource, static_cast<double>(amounts.gpus.count()));
  add("cpu", static_cast<double>(amounts.cpu.count()) / 1000);
  add("memory", static_cast<double>(amounts.memory.count()));
  if (slices > Slices(0)) {
    add(in_turns ? TurnsResource(gpu_resource) : SharedResource(gpu_resource),
        static_cast<double>(slices.count()));
  }
}

void AddCacheFamilies(Families& out, const std::vector<CacheGauge>& caches) {
  constexpr MetricType kCounter = MetricType::Counter;
  ScrapedFamily objects(out, "synergy_cache_objects",
                        "Objects in the copy of the API server's state.");
  ScrapedFamily synced(out, "synergy_cache_synced", "Whether a complete list has been read.");
  ScrapedFamily staleness(out, "synergy_cache_staleness_seconds",
                          "Time since the API server's last response on this watch.");
  ScrapedFamily lists(out, "synergy_cache_lists_total", "Complete lists read.", kCounter);
  ScrapedFamily restarts(out, "synergy_cache_watch_restarts_total",
                         "Watches opened after the first.", kCounter);
  ScrapedFamily errors(out, "synergy_cache_errors_total", "Lists and watches that failed.",
                       kCounter);
  ScrapedFamily events(out, "synergy_cache_events_total", "Watch events applied.", kCounter);
  ScrapedFamily problems(out, "synergy_cache_unreadable_fields_total",
                         "Object fields that could not be read.", kCounter);
  ScrapedFamily unread(out, "synergy_unreadable_objects",
                       "Objects with more content than is read; their earlier state is kept.");
  for (const CacheGauge& cache : caches) {
    unread.Add({{"kind", cache.resource}}, cache.unread);
    const LabelPairs labels{{"resource", cache.resource}};
    objects.Add(labels, cache.objects);
    synced.Add(labels, cache.synced);
    staleness.Add(labels, cache.staleness);
    lists.Add(labels, cache.lists);
    restarts.Add(labels, cache.watch_restarts);
    errors.Add(labels, cache.errors);
    events.Add(labels, cache.events);
    problems.Add(labels, cache.problems);
  }
}

std::string RenderText(const prometheus::Registry& registry, Families scraped) {
  Families families = registry.Collect();
  families.insert(families.end(), std::move_iterator(scraped.begin()),
                  std::move_iterator(scraped.end()));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
