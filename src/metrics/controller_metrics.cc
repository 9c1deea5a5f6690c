#include "metrics/controller_metrics.h"

#include <chrono>
#include <utility>

#include "metrics/families.h"

namespace synergy::metrics {
namespace {

// From 20 microseconds to the timeout of the webhook.
const prometheus::Histogram::BucketBoundaries kReviewBuckets = {
    0.00002, 0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1, 3};

void AddPods(Families& out, const ControllerGauges& gauges, const std::string& gpu_resource) {
  ScrapedFamily allocated(out, "synergy_pod_allocated",
                          "Requests of the container with the GPUs: GPUs, cores, bytes.");
  ScrapedFamily demand(out, "synergy_pod_demand",
                       "The least amounts with which the job is near its best speed.");
  ScrapedFamily fair_share(out, "synergy_pod_fair_share", "The fair share of the pod's GPUs.");
  ScrapedFamily speed_up(
      out, "synergy_pod_speed_up_ratio",
      "Throughput relative to that with the fair share, by the pod's TrainingProfile.");
  for (const PodGauge& pod : gauges.pods) {
    const LabelPairs names = {
        {"namespace", pod.pod_namespace}, {"pod", pod.pod}, {"node", pod.node}};
    AddAmounts(allocated, names, gpu_resource, pod.allocated, pod.slices, pod.in_turns);
    AddAmounts(demand, names, gpu_resource, pod.demand, pod.slices, pod.in_turns);
    AddAmounts(fair_share, names, gpu_resource, pod.fair_share, pod.slices, pod.in_turns);
    speed_up.Add(names, pod.speed_up);
  }

  ScrapedFamily devices(out, "synergy_node_managed_pods",
                        "Running managed pods, by whether a resize costs them their GPUs.");
  for (const auto& [names, count] : gauges.devices)
    devices.Add({{"node", names.first}, {"devices", names.second}}, count);

  ScrapedFamily idle(out, "synergy_idle_gpus",
                     "GPUs of managed pods whose GPUs and CPU have been idle for five minutes.");
  for (const auto& [name, gpus] : gauges.idle_gpus) idle.Add({{"namespace", name}}, gpus.count());

  ScrapedFamily waiting(
      out, "synergy_waiting_gpu_pods",
      "GPU pods without a node, by the resource that kube-scheduler reports as insufficient.");
  for (const std::string_view reason : kWaitingReasons) {
    const auto found = gauges.waiting_pods.find(reason);
    waiting.Add({{"reason", std::string(reason)}},
                found == gauges.waiting_pods.end() ? 0 : found->second);
  }

  ScrapedFamily profiles(out, "synergy_controller_profiles", "TrainingProfiles, by validity.");
  profiles.Add({{"valid", "true"}}, gauges.valid_profiles);
  profiles.Add({{"valid", "false"}}, gauges.invalid_profiles);
}

Families Scrape(const ControllerGauges& gauges, const std::string& gpu_resource) {
  Families out;
  AddCacheFamilies(out, gauges.caches);
  AddPods(out, gauges, gpu_resource);
  if (gauges.certificate_expiry) {
    AddGauge(out, "synergy_controller_certificate_expiry_timestamp_seconds",
             "Expiry of the webhook's serving certificate, in Unix time.",
             std::chrono::duration<double>(gauges.certificate_expiry->time_since_epoch()).count());
  }
  AddGauge(out, "synergy_controller_progress_pods", "Pods with known progress.",
           gauges.progress_pods);
  AddGauge(out, "synergy_controller_progress_oldest_seconds",
           "Time since the oldest report of a pod's progress.", gauges.oldest_progress);
  AddGauge(out, "synergy_controller_ready", "Whether the program is ready (/readyz).",
           gauges.ready);
  return out;
}

}  // namespace

class ControllerMetrics::Impl {
 public:
  explicit Impl(std::string managed_gpu_resource) : gpu_resource(std::move(managed_gpu_resource)) {
    RegisterBuildInfo("synergy-controller", registry);
  }

  const std::string gpu_resource;
  prometheus::Registry registry;
  Counters& reviews = MakeCounters(registry, "synergy_controller_pod_reviews_total",
                                   "Reviews of created pods, by outcome.");
  Counters& job_reviews = MakeCounters(registry, "synergy_controller_job_reviews_total",
                                       "Reviews of created Jobs in Kueue's queues, by outcome.");
  Counters& profile_reviews = MakeCounters(registry, "synergy_controller_profile_reviews_total",
                                           "Reviews of TrainingProfiles by outcome.");
  Counters& bad_input = MakeCounters(registry, "synergy_controller_bad_input_total",
                                     "Requests that were invalid, by kind of problem.");
  Counters& status_writes = MakeCounters(registry, "synergy_controller_profile_status_writes_total",
                                         "Writes of a TrainingProfile's status by outcome.");
  Counters& gang_reads = MakeCounters(registry, "synergy_controller_gang_reads_total",
                                      "Reads of objects that determine a gang's size, by outcome.");
  Counters& gang_preemptions = MakeCounters(registry, "synergy_controller_gang_preemptions_total",
                                            "Attempts to evict pods for gangs, by outcome.");
  prometheus::Counter& evicted = MakeCounters(registry, "synergy_controller_evicted_pods_total",
                                              "Pods evicted for gangs of higher priority.")
                                     .Add({});
  Counters& moves =
      MakeCounters(registry, "synergy_moves_total", "Moves of jobs to other GPUs, by outcome.");
  Counters& progress_pulls = MakeCounters(registry, "synergy_controller_progress_pulls_total",
                                          "Requests for progress to node agents, by outcome.");
  Counters& progress_dropped =
      MakeCounters(registry, "synergy_controller_progress_dropped_total",
                   "Pods in node agents' answers that were rejected, by reason.");
  Counters& failures =
      MakeCounters(registry, "synergy_failures_total", "Failures of managed pods, by category.");
  Counters& failed_gpu_seconds =
      MakeCounters(registry, "synergy_failed_gpu_seconds_total",
                   "GPU seconds of runs of managed pods that failed, by category.");
  prometheus::Counter& failures_dropped =
      MakeCounters(registry, "synergy_controller_failures_dropped_total",
                   "Failed pods that were not reported: too many of their namespace waited.")
          .Add({});
  Counters& suspensions =
      MakeCounters(registry, "synergy_controller_suspensions_total",
                   "Decisions to suspend a job whose retries are futile, by outcome.");
  Counters& memory_raises =
      MakeCounters(registry, "synergy_controller_memory_raises_total",
                   "Jobs that were killed for lack of memory and whose owner wants more for the "
                   "next attempt, by outcome.");
  Counters& preruns = MakeCounters(registry, "synergy_controller_preruns_total",
                                   "Trials of jobs that wait in queues, by outcome.");
  prometheus::Gauge& suspect_nodes =
      MakeGauges(registry, "synergy_controller_suspect_nodes",
                 "Nodes on which jobs of several namespaces failed within an hour for reasons of "
                 "the node.")
          .Add({});
  prometheus::Gauge& avoided_nodes =
      MakeGauges(registry, "synergy_controller_avoided_nodes",
                 "Nodes that workloads avoid after failures of the infrastructure, once for each "
                 "workload.")
          .Add({});
  prometheus::Histogram& duration =
      MakeHistograms(registry, "synergy_controller_pod_review_duration_seconds",
                     "Duration from a complete review of a pod to its answer.")
          .Add({}, kReviewBuckets);
  std::function<ControllerGauges()> read_gauges;
};

ControllerMetrics::ControllerMetrics(std::string gpu_resource)
    : impl_(std::make_unique<Impl>(std::move(gpu_resource))) {
  StartAtZero(impl_->gang_preemptions, "outcome",
              {"bound", "in_vain", "refused", "gang_gone", "yielded"});
  StartAtZero(impl_->moves, "outcome", {"moved", "in_vain", "refused", "waiter_gone"});
  StartAtZero(impl_->suspensions, "outcome",
              {"suspended", "by_others", "gone", "given_up", "withdrawn"});
  StartAtZero(impl_->memory_raises, "outcome",
              {"raised", "larger", "written", "given", "unmeasured", "spent", "bounded"});
  StartAtZero(impl_->preruns, "outcome", {"begun", "ended", "stopped", "refused"});
}
ControllerMetrics::~ControllerMetrics() = default;

void ControllerMetrics::CountPodReview(std::string_view outcome, Duration duration) {
  Count(impl_->reviews, "outcome", outcome);
  impl_->duration.Observe(ToSeconds(duration));
}

void ControllerMetrics::CountJobReview(std::string_view outcome) {
  Count(impl_->job_reviews, "outcome", outcome);
}

void ControllerMetrics::CountProfileReview(std::string_view outcome) {
  Count(impl_->profile_reviews, "outcome", outcome);
}

void ControllerMetrics::CountBadInput(std::string_view kind) {
  Count(impl_->bad_input, "kind", kind);
}

void ControllerMetrics::CountStatusWrite(std::string_view outcome) {
  Count(impl_->status_writes, "outcome", outcome);
}

void ControllerMetrics::CountGangRead(std::string_view outcome) {
  Count(impl_->gang_reads, "outcome", outcome);
}

void ControllerMetrics::CountGangPreemption(std::string_view outcome) {
  Count(impl_->gang_preemptions, "outcome", outcome);
}
void ControllerMetrics::CountEvictedForGang() { impl_->evicted.Increment(); }

void ControllerMetrics::CountMove(std::string_view outcome) {
  Count(impl_->moves, "outcome", outcome);
}

void ControllerMetrics::CountProgressPull(std::string_view outcome) {
  Count(impl_->progress_pulls, "outcome", outcome);
}

void ControllerMetrics::CountProgressDropped(std::string_view reason, size_t pods) {
  if (pods == 0) return;
  Count(impl_->progress_dropped, "reason", reason, static_cast<double>(pods));
}

void ControllerMetrics::CountFailure(std::string_view category, double gpu_seconds) {
  Count(impl_->failures, "category", category);
  Count(impl_->failed_gpu_seconds, "category", category, gpu_seconds);
}
void ControllerMetrics::CountFailureDropped() { impl_->failures_dropped.Increment(); }
void ControllerMetrics::CountSuspension(std::string_view outcome) {
  Count(impl_->suspensions, "outcome", outcome);
}
void ControllerMetrics::CountPrerun(std::string_view outcome) {
  Count(impl_->preruns, "outcome", outcome);
}

void ControllerMetrics::CountMemoryRaise(std::string_view outcome) {
  Count(impl_->memory_raises, "outcome", outcome);
}

void ControllerMetrics::SetAvoidedNodes(size_t entries) {
  impl_->avoided_nodes.Set(static_cast<double>(entries));
}

void ControllerMetrics::SetSuspectNodes(size_t nodes) {
  impl_->suspect_nodes.Set(static_cast<double>(nodes));
}

void ControllerMetrics::SetGauges(std::function<ControllerGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string ControllerMetrics::Render() const {
  if (!impl_->read_gauges) return RenderText(impl_->registry);
  return RenderText(impl_->registry, Scrape(impl_->read_gauges(), impl_->gpu_resource));
}

}  // namespace synergy::metrics
