#include "metrics/controller_metrics.h"

#include <chrono>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "metrics/families.h"

namespace synergy::metrics {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// From a fiftieth of a millisecond to the API server's timeout.
const prometheus::Histogram::BucketBoundaries kReviewBuckets = {
    0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 3};

void AddPods(const ControllerGauges& gauges, const std::string& gpu_resource,
             std::vector<MetricFamily>& families) {
  FamilyBuilder allocated("synergy_pod_allocated",
                          "Requests of the container with the GPUs: GPUs, cores, bytes.",
                          MetricType::Gauge);
  FamilyBuilder demand("synergy_pod_demand",
                       "The least amounts with which the job is near its best speed.",
                       MetricType::Gauge);
  FamilyBuilder fair_share("synergy_pod_fair_share", "The fair share of the pod's GPUs.",
                           MetricType::Gauge);
  FamilyBuilder speed_up(
      "synergy_pod_speed_up_ratio",
      "Throughput in units of that with the fair share, by the pod's TrainingProfile.",
      MetricType::Gauge);
  for (const PodGauge& pod : gauges.pods) {
    const LabelPairs names = {
        {"namespace", pod.pod_namespace}, {"pod", pod.pod}, {"node", pod.node}};
    const auto add = [&](FamilyBuilder& family, const ResourceVector& amount) {
      const auto add_one = [&](const std::string& resource, double value) {
        LabelPairs labels = names;
        labels.emplace_back("resource", resource);
        family.Add(labels, value);
      };
      add_one(gpu_resource, static_cast<double>(amount.gpus.count()));
      add_one("cpu", static_cast<double>(amount.cpu.count()) / 1000);
      add_one("memory", static_cast<double>(amount.memory.count()));
    };
    add(allocated, pod.allocated);
    add(demand, pod.demand);
    add(fair_share, pod.fair_share);
    if (pod.speed_up) speed_up.Add(names, *pod.speed_up);
  }
  for (FamilyBuilder* family : {&allocated, &demand, &fair_share, &speed_up})
    families.push_back(family->Build());

  FamilyBuilder devices("synergy_node_managed_pods",
                        "Running managed pods, by whether a resize costs them their GPUs.",
                        MetricType::Gauge);
  for (const auto& [names, count] : gauges.devices) {
    devices.Add({{"node", names.first}, {"devices", names.second}}, static_cast<double>(count));
  }
  families.push_back(devices.Build());

  FamilyBuilder waiting(
      "synergy_waiting_gpu_pods",
      "GPU pods without a node, by the resource that kube-scheduler reports as insufficient.",
      MetricType::Gauge);
  for (const std::string_view reason : kWaitingReasons) {
    const auto found = gauges.waiting_pods.find(reason);
    waiting.Add({{"reason", std::string(reason)}},
                found == gauges.waiting_pods.end() ? 0 : static_cast<double>(found->second));
  }
  families.push_back(waiting.Build());
}

std::vector<MetricFamily> BuildFamilies(const ControllerGauges& gauges,
                                        const std::string& gpu_resource) {
  std::vector<MetricFamily> families;
  AddCacheFamilies(gauges.caches, families);
  AddPods(gauges, gpu_resource, families);
  FamilyBuilder profiles("synergy_controller_profiles", "TrainingProfiles, by validity.",
                         MetricType::Gauge);
  profiles.Add({{"valid", "true"}}, static_cast<double>(gauges.valid_profiles));
  profiles.Add({{"valid", "false"}}, static_cast<double>(gauges.invalid_profiles));
  families.push_back(profiles.Build());
  if (gauges.certificate_expiry) {
    const auto expiry =
        std::chrono::duration<double>(gauges.certificate_expiry->time_since_epoch());
    AddGauge("synergy_controller_certificate_expiry_timestamp_seconds",
             "Expiry of the webhook's serving certificate, in Unix time.", expiry.count(),
             families);
  }
  AddGauge("synergy_controller_progress_pods", "Pods with known progress.",
           static_cast<double>(gauges.progress_pods), families);
  AddGauge("synergy_controller_progress_oldest_seconds",
           "Time since the oldest report of a pod's progress.", ToSeconds(gauges.oldest_progress),
           families);
  AddGauge("synergy_controller_ready", "Whether the program is ready (/readyz).",
           gauges.ready ? 1 : 0, families);
  return families;
}

}  // namespace

class ControllerMetrics::Impl {
 public:
  explicit Impl(std::string managed_gpu_resource)
      : gpu_resource(std::move(managed_gpu_resource)),
        reviews(prometheus::BuildCounter()
                    .Name("synergy_controller_pod_reviews_total")
                    .Help("Reviews of created pods, by outcome.")
                    .Register(registry)),
        profile_reviews(prometheus::BuildCounter()
                            .Name("synergy_controller_profile_reviews_total")
                            .Help("Reviews of TrainingProfiles by outcome.")
                            .Register(registry)),
        bad_input(prometheus::BuildCounter()
                      .Name("synergy_controller_bad_input_total")
                      .Help("Requests that were invalid, by kind of problem.")
                      .Register(registry)),
        status_writes(prometheus::BuildCounter()
                          .Name("synergy_controller_profile_status_writes_total")
                          .Help("Writes of a TrainingProfile's status by outcome.")
                          .Register(registry)),
        gang_reads(prometheus::BuildCounter()
                       .Name("synergy_controller_gang_reads_total")
                       .Help("Reads of objects that determine a gang's size, by outcome.")
                       .Register(registry)),
        gang_preemptions(prometheus::BuildCounter()
                             .Name("synergy_controller_gang_preemptions_total")
                             .Help("Attempts to evict pods for gangs, by outcome.")
                             .Register(registry)),
        evicted(prometheus::BuildCounter()
                    .Name("synergy_controller_evicted_pods_total")
                    .Help("Pods evicted for gangs of higher priority.")
                    .Register(registry)
                    .Add({})),
        progress_pulls(prometheus::BuildCounter()
                           .Name("synergy_controller_progress_pulls_total")
                           .Help("Requests for progress to node agents, by outcome.")
                           .Register(registry)),
        progress_dropped(prometheus::BuildCounter()
                             .Name("synergy_controller_progress_dropped_total")
                             .Help("Pods in node agents' answers that were rejected, by reason.")
                             .Register(registry)),
        duration(prometheus::BuildHistogram()
                     .Name("synergy_controller_pod_review_duration_seconds")
                     .Help("Duration from a complete review of a pod to its answer.")
                     .Register(registry)
                     .Add({}, kReviewBuckets)) {
    RegisterBuildInfo("synergy-controller", registry);
  }

  const std::string gpu_resource;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter>& reviews;
  prometheus::Family<prometheus::Counter>& profile_reviews;
  prometheus::Family<prometheus::Counter>& bad_input;
  prometheus::Family<prometheus::Counter>& status_writes;
  prometheus::Family<prometheus::Counter>& gang_reads;
  prometheus::Family<prometheus::Counter>& gang_preemptions;
  prometheus::Counter& evicted;
  prometheus::Family<prometheus::Counter>& progress_pulls;
  prometheus::Family<prometheus::Counter>& progress_dropped;
  prometheus::Histogram& duration;
  std::function<ControllerGauges()> read_gauges;
};

ControllerMetrics::ControllerMetrics(std::string gpu_resource)
    : impl_(std::make_unique<Impl>(std::move(gpu_resource))) {
  // Start each counter at 0: one that appears with its first count would show no increase.
  for (const char* outcome : {"bound", "in_vain", "refused", "gang_gone", "yielded"})
    impl_->gang_preemptions.Add({{"outcome", outcome}});
}
ControllerMetrics::~ControllerMetrics() = default;

void ControllerMetrics::CountPodReview(std::string_view outcome, Duration duration) {
  impl_->reviews.Add({{"outcome", std::string(outcome)}}).Increment();
  impl_->duration.Observe(ToSeconds(duration));
}

void ControllerMetrics::CountProfileReview(std::string_view outcome) {
  impl_->profile_reviews.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ControllerMetrics::CountBadInput(std::string_view kind) {
  impl_->bad_input.Add({{"kind", std::string(kind)}}).Increment();
}

void ControllerMetrics::CountStatusWrite(std::string_view outcome) {
  impl_->status_writes.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ControllerMetrics::CountGangRead(std::string_view outcome) {
  impl_->gang_reads.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ControllerMetrics::CountGangPreemption(std::string_view outcome) {
  impl_->gang_preemptions.Add({{"outcome", std::string(outcome)}}).Increment();
}
void ControllerMetrics::CountEvictedForGang() { impl_->evicted.Increment(); }

void ControllerMetrics::CountProgressPull(std::string_view outcome) {
  impl_->progress_pulls.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ControllerMetrics::CountProgressDropped(std::string_view reason, size_t pods) {
  if (pods == 0) return;
  impl_->progress_dropped.Add({{"reason", std::string(reason)}})
      .Increment(static_cast<double>(pods));
}

void ControllerMetrics::SetGauges(std::function<ControllerGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string ControllerMetrics::Render() const {
  std::vector<MetricFamily> families = impl_->registry.Collect();
  if (impl_->read_gauges) {
    for (MetricFamily& family : BuildFamilies(impl_->read_gauges(), impl_->gpu_resource))
      families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
