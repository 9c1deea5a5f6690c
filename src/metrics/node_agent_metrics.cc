#include "metrics/node_agent_metrics.h"

#include <chrono>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "core/version.h"
#include "metrics/gpu_families.h"

namespace synergy::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

const prometheus::Histogram::BucketBoundaries kReleaseBuckets = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
// The kubelet checks again after 10 to 15 s, by figures that may be 20 s old.
const prometheus::Histogram::BucketBoundaries kShrinkBuckets = {1,  2,  5,  10, 15,
                                                                20, 30, 45, 60, 120};

MetricFamily Single(std::string name, std::string help, MetricType type, double value,
                    std::vector<ClientMetric::Label> labels = {}) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  ClientMetric metric;
  metric.label = std::move(labels);
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  family.metric.push_back(std::move(metric));
  return family;
}

// Returns one metric for each pod that has a value.
template <class ValueOf>
MetricFamily OfPods(std::string name, std::string help, MetricType type,
                    const std::vector<PodProgressGauge>& pods, ValueOf value_of) {
  MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = type;
  for (const PodProgressGauge& pod : pods) {
    const std::optional<double> value = value_of(pod);
    if (!value) continue;
    ClientMetric metric;
    metric.label = {{"namespace", pod.pod_namespace},
                    {"pod", pod.pod},
                    {"container", pod.container},
                    {"format", pod.format}};
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

MetricFamily BusySeconds(const std::vector<PodBusyCounter>& pods) {
  MetricFamily family;
  family.name = "synergy_pod_gpu_busy_seconds_total";
  family.help =
      "How long the GPUs of a pod were busy (their mean) that says nothing of its iterations: an "
      "estimate of its progress.";
  family.type = MetricType::Counter;
  for (const PodBusyCounter& pod : pods) {
    ClientMetric metric;
    metric.label = {
        {"namespace", pod.pod_namespace}, {"pod", pod.pod}, {"container", pod.container}};
    metric.counter.value = pod.seconds;
    family.metric.push_back(std::move(metric));
  }
  return family;
}

std::vector<MetricFamily> BuildGauges(const NodeAgentGauges& gauges) {
  ClientMetric::Label pods;
  pods.name = "resource";
  pods.value = "pods";
  return {
      Single("synergy_node_agent_watched_pods", "Pods of this node.", MetricType::Gauge,
             static_cast<double>(gauges.watched_pods)),
      Single("synergy_node_agent_shrinks_in_progress",
             "Pods whose memory is being kept below a new limit.", MetricType::Gauge,
             static_cast<double>(gauges.shrinks_in_progress)),
      Single("synergy_node_agent_kept_pods", "Pods whose page cache is kept to their shares.",
             MetricType::Gauge, static_cast<double>(gauges.kept_pods)),
      Single("synergy_node_agent_node_short", "Whether the node is close to evictions for memory.",
             MetricType::Gauge, gauges.node_short ? 1 : 0),
      OfPods("synergy_pod_iterations_total",
             "Iterations of a pod's training since the agent first looked.", MetricType::Counter,
             gauges.progress,
             [](const PodProgressGauge& pod) { return std::optional(pod.iterations); }),
      OfPods("synergy_pod_iterations_per_second",
             "How fast a pod trains: over the last minute, without evaluation and stalls.",
             MetricType::Gauge, gauges.progress,
             [](const PodProgressGauge& pod) { return pod.rate; }),
      OfPods("synergy_pod_remaining_seconds",
             "How long a pod's training, or its epoch, goes on at its present rate.",
             MetricType::Gauge, gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.remaining) return std::nullopt;
               return Seconds(*pod.remaining);
             }),
      OfPods("synergy_pod_done_ratio", "Part of a pod's training, or of its epoch, that is done.",
             MetricType::Gauge, gauges.progress,
             [](const PodProgressGauge& pod) { return pod.done; }),
      OfPods("synergy_pod_process_memory_bytes",
             "The peak of a pod's anonymous, shared and mapped memory.", MetricType::Gauge,
             gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.memory) return std::nullopt;
               return static_cast<double>(pod.memory->process.count());
             }),
      OfPods("synergy_pod_page_cache_bytes",
             "Page cache that is charged to a pod now, and not mapped.", MetricType::Gauge,
             gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.memory) return std::nullopt;
               return static_cast<double>(pod.memory->cache.count());
             }),
      OfPods("synergy_pod_read_bytes_total", "Bytes that a pod's read calls returned.",
             MetricType::Counter, gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.memory) return std::nullopt;
               return pod.memory->read;
             }),
      OfPods("synergy_pod_fetched_bytes_total", "Bytes that storage delivered to a pod.",
             MetricType::Counter, gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.memory) return std::nullopt;
               return pod.memory->fetched;
             }),
      OfPods("synergy_pod_storage_wait_seconds_total",
             "How long a thread of a pod at least waited for storage.", MetricType::Counter,
             gauges.progress,
             [](const PodProgressGauge& pod) -> std::optional<double> {
               if (!pod.memory || !pod.memory->starved) return std::nullopt;
               return Seconds(*pod.memory->starved);
             }),
      BusySeconds(gauges.busy),
      Single("synergy_node_agent_events_dropped_total",
             "Events about pods that never reached the API server.", MetricType::Counter,
             static_cast<double>(gauges.dropped_events)),
      Single("synergy_node_agent_ready", "Whether /readyz says yes.", MetricType::Gauge,
             gauges.ready ? 1 : 0),
      Single("synergy_cache_synced", "Whether a whole list has been read.", MetricType::Gauge,
             gauges.synced ? 1 : 0, {pods}),
      Single("synergy_cache_staleness_seconds",
             "How long ago the API server last gave a sign of life on this watch.",
             MetricType::Gauge, Seconds(gauges.staleness), {pods}),
      Single("synergy_cache_errors_total", "Lists and watches that failed.", MetricType::Counter,
             static_cast<double>(gauges.watch_errors), {pods}),
  };
}

}  // namespace

class NodeAgentMetrics::Impl {
 public:
  Impl()
      : released(prometheus::BuildCounter()
                     .Name("synergy_node_agent_released_bytes_total")
                     .Help("Page cache of pods that was given back to the kernel.")
                     .Register(registry)
                     .Add({})),
        releases(prometheus::BuildHistogram()
                     .Name("synergy_node_agent_release_duration_seconds")
                     .Help("How long giving page cache back took.")
                     .Register(registry)
                     .Add({}, kReleaseBuckets)),
        shrinks(prometheus::BuildHistogram()
                    .Name("synergy_node_agent_shrink_duration_seconds")
                    .Help("From a shrink's first sight to its end, by outcome.")
                    .Register(registry)),
        dropped(prometheus::BuildCounter()
                    .Name("synergy_node_agent_cache_dropped_bytes_total")
                    .Help("Page cache above shares that the kernel was asked to drop.")
                    .Register(registry)
                    .Add({})),
        brakes(prometheus::BuildCounter()
                   .Name("synergy_node_agent_cache_brakes_total")
                   .Help("Looks after which less cache was dropped, or none, by reason.")
                   .Register(registry)),
        readings(prometheus::BuildCounter()
                     .Name("synergy_node_agent_readings_total")
                     .Help("How often a pod was told what memory it has in use, by outcome.")
                     .Register(registry)),
        probes(prometheus::BuildCounter()
                   .Name("synergy_node_agent_probes_total")
                   .Help("Probes of pods with less CPU, by outcome.")
                   .Register(registry)),
        errors(prometheus::BuildCounter()
                   .Name("synergy_node_agent_errors_total")
                   .Help("What went wrong with control groups, by reason.")
                   .Register(registry)) {
    for (const char* outcome : {"completed", "withdrawn", "stuck", "given_up"})
      shrinks.Add({{"outcome", outcome}}, kShrinkBuckets);
    for (const char* reason : {"pressure", "refaults", "in_vain"}) brakes.Add({{"reason", reason}});
    for (const char* outcome : {"written", "failed"}) readings.Add({{"outcome", outcome}});
    for (const char* outcome : {"done", "ended_early", "wiped", "refused"})
      probes.Add({{"outcome", outcome}});
    prometheus::BuildGauge()
        .Name("synergy_build_info")
        .Help("Always 1; the labels say what is running.")
        .Register(registry)
        .Add({{"program", "synergy-node-agent"},
              {"version", std::string(Version())},
              {"commit", std::string(Commit())}})
        .Set(1);
  }

  prometheus::Registry registry;
  prometheus::Counter& released;
  prometheus::Histogram& releases;
  prometheus::Family<prometheus::Histogram>& shrinks;
  prometheus::Counter& dropped;
  prometheus::Family<prometheus::Counter>& brakes;
  prometheus::Family<prometheus::Counter>& readings;
  prometheus::Family<prometheus::Counter>& probes;
  prometheus::Family<prometheus::Counter>& errors;
  std::function<NodeAgentGauges()> read_gauges;
};

NodeAgentMetrics::NodeAgentMetrics() : impl_(std::make_unique<Impl>()) {}
NodeAgentMetrics::~NodeAgentMetrics() = default;

void NodeAgentMetrics::CountRelease(Bytes released, Duration duration) {
  if (released > Bytes(0)) impl_->released.Increment(static_cast<double>(released.count()));
  impl_->releases.Observe(Seconds(duration));
}

void NodeAgentMetrics::CountShrink(std::string_view outcome, Duration duration) {
  impl_->shrinks.Add({{"outcome", std::string(outcome)}}, kShrinkBuckets)
      .Observe(Seconds(duration));
}

void NodeAgentMetrics::CountDrop(Bytes dropped) {
  impl_->dropped.Increment(static_cast<double>(dropped.count()));
}

void NodeAgentMetrics::CountBrake(std::string_view reason) {
  impl_->brakes.Add({{"reason", std::string(reason)}}).Increment();
}

void NodeAgentMetrics::CountReading(std::string_view outcome) {
  impl_->readings.Add({{"outcome", std::string(outcome)}}).Increment();
}

void NodeAgentMetrics::CountProbe(std::string_view outcome) {
  impl_->probes.Add({{"outcome", std::string(outcome)}}).Increment();
}

void NodeAgentMetrics::CountError(std::string_view reason) {
  impl_->errors.Add({{"reason", std::string(reason)}}).Increment();
}

void NodeAgentMetrics::SetGauges(std::function<NodeAgentGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string NodeAgentMetrics::Render() const {
  std::vector<MetricFamily> families = impl_->registry.Collect();
  if (impl_->read_gauges) {
    const NodeAgentGauges gauges = impl_->read_gauges();
    for (MetricFamily& family : BuildGauges(gauges)) families.push_back(std::move(family));
    if (!gauges.gpus.gpus.empty() || !gauges.gpus.allocated.empty())
      AddGpuFamilies(gauges.gpus, families);
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
