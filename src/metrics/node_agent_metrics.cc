#include "metrics/node_agent_metrics.h"

#include <utility>

#include "metrics/families.h"
#include "metrics/gpu_families.h"

namespace synergy::metrics {
namespace {

using prometheus::MetricType;

const prometheus::Histogram::BucketBoundaries kReleaseBuckets = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};
// The kubelet checks again after 10 to 15 s, and its figures may be 20 s old.
const prometheus::Histogram::BucketBoundaries kShrinkBuckets = {1,  2,  5,  10, 15,
                                                                20, 30, 45, 60, 120};

void AddProgress(Families& out, const std::vector<PodProgressGauge>& pods) {
  ScrapedFamily iterations(out, "synergy_pod_iterations_total",
                           "Iterations of a pod's training since the agent's first reading.",
                           MetricType::Counter);
  ScrapedFamily rate(
      out, "synergy_pod_iterations_per_second",
      "Speed of a pod's training: over the last minute, without evaluation and stalls.");
  ScrapedFamily remaining(
      out, "synergy_pod_remaining_seconds",
      "Remaining time of a pod's training, or of its epoch, at its present rate.");
  ScrapedFamily done(out, "synergy_pod_done_ratio",
                     "Completed fraction of a pod's training, or of its epoch.");
  ScrapedFamily process(out, "synergy_pod_process_memory_bytes",
                        "The peak of a pod's anonymous, shared and mapped memory.");
  ScrapedFamily cache(out, "synergy_pod_page_cache_bytes",
                      "Page cache that is charged to a pod now, and not mapped.");
  ScrapedFamily read(out, "synergy_pod_read_bytes_total", "Bytes that a pod's read calls returned.",
                     MetricType::Counter);
  ScrapedFamily fetched(out, "synergy_pod_fetched_bytes_total",
                        "Bytes that storage delivered to a pod.", MetricType::Counter);
  ScrapedFamily starved(out, "synergy_pod_storage_wait_seconds_total",
                        "Lower bound of the time that a pod's threads waited for storage.",
                        MetricType::Counter);
  for (const PodProgressGauge& pod : pods) {
    const LabelPairs labels = {{"namespace", pod.pod_namespace},
                               {"pod", pod.pod},
                               {"container", pod.container},
                               {"format", pod.format}};
    iterations.Add(labels, pod.iterations);
    rate.Add(labels, pod.rate);
    remaining.Add(labels, pod.remaining);
    done.Add(labels, pod.done);
    if (!pod.memory) continue;
    process.Add(labels, pod.memory->process.count());
    cache.Add(labels, pod.memory->cache.count());
    read.Add(labels, pod.memory->read);
    fetched.Add(labels, pod.memory->fetched);
    starved.Add(labels, pod.memory->starved);
  }
}

void AddBusySeconds(Families& out, const std::vector<PodBusyCounter>& pods) {
  ScrapedFamily seconds(out, "synergy_pod_gpu_busy_seconds_total",
                        "Mean busy time of the GPUs of a pod that reports no iterations: an "
                        "estimate of its progress.",
                        MetricType::Counter);
  for (const PodBusyCounter& pod : pods) {
    seconds.Add({{"namespace", pod.pod_namespace}, {"pod", pod.pod}, {"container", pod.container}},
                pod.seconds);
  }
}

void AddStorage(Families& out, const StorageGauges& storage) {
  ScrapedFamily bandwidth(out, "synergy_node_agent_storage_bandwidth_bytes_per_second",
                          "Read bandwidth of a disk while a pod waits for it.");
  ScrapedFamily read(out, "synergy_node_agent_storage_read_bytes_total",
                     "Bytes that the node's pods read from a disk.", MetricType::Counter);
  ScrapedFamily waited(out, "synergy_node_agent_storage_wait_seconds_total",
                       "Lower bound of the time that a managed pod waited for a disk.",
                       MetricType::Counter);
  for (const StorageGauges::Disk& disk : storage.disks) {
    const LabelPairs labels = {{"device", disk.device}};
    bandwidth.Add(labels, disk.bandwidth);
    read.Add(labels, disk.read);
    waited.Add(labels, disk.waited);
  }
  ScrapedFamily pods(out, "synergy_pod_storage_read_bytes_total",
                     "Bytes that a managed pod's training container read from a disk.",
                     MetricType::Counter);
  ScrapedFamily caps(out, "synergy_pod_storage_cap_bytes_per_second",
                     "Limit of a pod's reads from a disk while others wait for it.");
  for (const StorageGauges::Pod& pod : storage.pods) {
    const LabelPairs labels = {{"namespace", pod.pod_namespace},
                               {"pod", pod.pod},
                               {"container", pod.container},
                               {"device", pod.device}};
    pods.Add(labels, pod.read);
    caps.Add(labels, pod.cap);
  }
}

Families Scrape(const NodeAgentGauges& gauges) {
  Families out;
  AddGauge(out, "synergy_node_agent_watched_pods", "Pods of this node.", gauges.watched_pods);
  AddGauge(out, "synergy_node_agent_shrinks_in_progress",
           "Pods whose memory is being held below a new limit.", gauges.shrinks_in_progress);
  AddGauge(out, "synergy_node_agent_kept_pods", "Pods whose page cache is limited to their shares.",
           gauges.kept_pods);
  AddGauge(out, "synergy_node_agent_node_short",
           "Whether the node is close to evicting pods for memory.", gauges.node_short);
  AddProgress(out, gauges.progress);
  AddBusySeconds(out, gauges.busy);
  AddStorage(out, gauges.storage);
  if (!gauges.gpus.gpus.empty() || !gauges.gpus.allocated.empty()) AddGpuFamilies(gauges.gpus, out);
  AddCounter(out, "synergy_node_agent_events_dropped_total",
             "Events about pods that never reached the API server.", gauges.dropped_events);
  AddGauge(out, "synergy_node_agent_ready", "Whether the program is ready (/readyz).",
           gauges.ready);
  const LabelPairs pods{{"resource", "pods"}};
  AddGauge(out, "synergy_cache_synced", "Whether a complete list has been read.", gauges.synced,
           pods);
  AddGauge(out, "synergy_cache_staleness_seconds",
           "Time since the API server's last response on this watch.", gauges.staleness, pods);
  AddCounter(out, "synergy_cache_errors_total", "Lists and watches that failed.",
             gauges.watch_errors, pods);
  return out;
}

}  // namespace

class NodeAgentMetrics::Impl {
 public:
  Impl() {
    for (const char* outcome : {"completed", "withdrawn", "stuck", "given_up"})
      shrinks.Add({{"outcome", outcome}}, kShrinkBuckets);
    StartAtZero(brakes, "reason", {"pressure", "refaults", "in_vain"});
    StartAtZero(readings, "outcome", {"written", "failed"});
    StartAtZero(probes, "outcome", {"done", "ended_early", "wiped", "refused"});
    StartAtZero(switches, "outcome", {"in_time", "late"});
    StartAtZero(turn_refusals, "reason",
                {"deleting", "disrupted", "several_gpus", "probes", "cpu_probe", "off",
                 "no_freezer", "failed"});
    RegisterBuildInfo("synergy-node-agent", registry);
  }

  prometheus::Registry registry;
  prometheus::Counter& released =
      MakeCounters(registry, "synergy_node_agent_released_bytes_total",
                   "Page cache of pods that was released to the kernel.")
          .Add({});
  prometheus::Histogram& releases =
      MakeHistograms(registry, "synergy_node_agent_release_duration_seconds",
                     "Duration of releasing page cache.")
          .Add({}, kReleaseBuckets);
  Histograms& shrinks =
      MakeHistograms(registry, "synergy_node_agent_shrink_duration_seconds",
                     "Duration of a shrink, from its detection to its end, by outcome.");
  prometheus::Counter& dropped =
      MakeCounters(registry, "synergy_node_agent_cache_dropped_bytes_total",
                   "Page cache above shares that the kernel was requested to drop.")
          .Add({});
  Counters& brakes = MakeCounters(registry, "synergy_node_agent_cache_brakes_total",
                                  "Checks after which less cache was dropped, or none, by reason.");
  Counters& readings =
      MakeCounters(registry, "synergy_node_agent_readings_total",
                   "Writes of a pod's memory in use to its annotation, by outcome.");
  Counters& probes =
      MakeCounters(registry, "synergy_node_agent_probes_total",
                   "Probes of pods with less CPU, and bursts with more, by outcome.");
  prometheus::Counter& suspended =
      MakeCounters(registry, "synergy_node_agent_suspended_seconds_total",
                   "Time for which pods were suspended for their turns on GPUs.")
          .Add({});
  Counters& switches =
      MakeCounters(registry, "synergy_node_agent_turn_switches_total",
                   "Pods that were suspended, by whether that took less than a second.");
  Counters& turn_refusals =
      MakeCounters(registry, "synergy_node_agent_turn_refusals_total",
                   "Pods with GPUs in turns that the agent does not suspend, by reason.");
  Counters& errors = MakeCounters(registry, "synergy_node_agent_errors_total",
                                  "Errors of control groups, by reason.");
  std::function<NodeAgentGauges()> read_gauges;
};

NodeAgentMetrics::NodeAgentMetrics() : impl_(std::make_unique<Impl>()) {}
NodeAgentMetrics::~NodeAgentMetrics() = default;

void NodeAgentMetrics::CountRelease(Bytes released, Duration duration) {
  if (released > Bytes(0)) impl_->released.Increment(static_cast<double>(released.count()));
  impl_->releases.Observe(ToSeconds(duration));
}

void NodeAgentMetrics::CountShrink(std::string_view outcome, Duration duration) {
  impl_->shrinks.Add({{"outcome", std::string(outcome)}}, kShrinkBuckets)
      .Observe(ToSeconds(duration));
}

void NodeAgentMetrics::CountDrop(Bytes dropped) {
  impl_->dropped.Increment(static_cast<double>(dropped.count()));
}

void NodeAgentMetrics::CountBrake(std::string_view reason) {
  Count(impl_->brakes, "reason", reason);
}

void NodeAgentMetrics::CountReading(std::string_view outcome) {
  Count(impl_->readings, "outcome", outcome);
}

void NodeAgentMetrics::CountProbe(std::string_view outcome) {
  Count(impl_->probes, "outcome", outcome);
}

void NodeAgentMetrics::CountSuspended(Duration duration) {
  impl_->suspended.Increment(ToSeconds(duration));
}

void NodeAgentMetrics::CountSwitch(bool in_time) {
  Count(impl_->switches, "outcome", in_time ? "in_time" : "late");
}

void NodeAgentMetrics::CountTurnRefusal(std::string_view reason) {
  Count(impl_->turn_refusals, "reason", reason);
}

void NodeAgentMetrics::CountError(std::string_view reason) {
  Count(impl_->errors, "reason", reason);
}

void NodeAgentMetrics::SetGauges(std::function<NodeAgentGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string NodeAgentMetrics::Render() const {
  if (!impl_->read_gauges) return RenderText(impl_->registry);
  return RenderText(impl_->registry, Scrape(impl_->read_gauges()));
}

}  // namespace synergy::metrics
