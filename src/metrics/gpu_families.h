#pragma once

// The families of metrics about GPUs. Private to this folder.
//
// Threading: one owner.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include "metrics/families.h"
#include "metrics/gpu_metrics.h"

namespace synergy::metrics {

// A family of gauges that is added to `out` when this ends.
class GaugeFamily {
 public:
  GaugeFamily(std::vector<prometheus::MetricFamily>& out, std::string name, std::string help)
      : out_(out) {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = prometheus::MetricType::Gauge;
  }
  ~GaugeFamily() { out_.push_back(std::move(family_)); }
  GaugeFamily(const GaugeFamily&) = delete;
  GaugeFamily& operator=(const GaugeFamily&) = delete;

  void Add(const LabelPairs& labels, double value) {
    prometheus::ClientMetric metric;
    for (const auto& [name, label] : labels) {
      prometheus::ClientMetric::Label pair;
      pair.name = name;
      pair.value = label;
      metric.label.push_back(std::move(pair));
    }
    metric.gauge.value = value;
    family_.metric.push_back(std::move(metric));
  }
  void AddIfKnown(const LabelPairs& labels, std::optional<double> value) {
    if (value) Add(labels, *value);
  }

 private:
  std::vector<prometheus::MetricFamily>& out_;
  prometheus::MetricFamily family_;
};

// Adds the node to the labels of its GPUs' metrics: a scrape's own labels name the program's pod.
LabelPairs OfNode(const std::string& node, LabelPairs labels = {});

void AddGpuFamilies(const GpuGauges& gauges, std::vector<prometheus::MetricFamily>& out);

}  // namespace synergy::metrics
