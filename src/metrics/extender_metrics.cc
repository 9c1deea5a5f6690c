#include "metrics/extender_metrics.h"

#include <array>
#include <utility>

#include "metrics/families.h"

namespace synergy::metrics {
namespace {

using prometheus::MetricType;

// From a tenth of a millisecond to kube-scheduler's default timeout.
const prometheus::Histogram::BucketBoundaries kSchedulerCallBuckets = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

void AddNodes(Families& out, const ClusterGauges& gauges, const std::string& gpu_resource) {
  ScrapedFamily allocatable(
      out, "synergy_node_allocatable",
      "Allocatable amounts of the node: GPUs, CPU in cores, memory in bytes.");
  ScrapedFamily requested(out, "synergy_node_requested",
                          "Amounts requested by the node's pods, in the units of allocatable.");
  ScrapedFamily free(out, "synergy_node_free", "Allocatable less requested.");
  ScrapedFamily stranded(
      out, "synergy_node_stranded_gpus",
      "Free GPUs that no pod can use because the node's CPU or memory is exhausted.");
  for (const auto& node : gauges.nodes) {
    const LabelPairs name{{"node", node.node}};
    AddAmounts(allocatable, name, gpu_resource, node.allocatable, node.slices, node.in_turns);
    AddAmounts(requested, name, gpu_resource, node.requested, node.slices_taken, node.in_turns);
    AddAmounts(free, name, gpu_resource, node.allocatable - node.requested,
               node.slices - node.slices_taken, node.in_turns);
    stranded.Add(name, node.stranded.count());
  }
}

void AddGangPlacements(Families& out, const std::array<uint64_t, 3>& placed) {
  ScrapedFamily placements(out, "synergy_extender_gang_placements_total",
                           "Gangs that were placed, by how near their places are to each other.",
                           MetricType::Counter);
  constexpr std::array kWithin = {"node", "rack", "anywhere"};
  for (size_t tier = 0; tier < kWithin.size(); ++tier)
    placements.Add({{"within", kWithin.at(tier)}}, placed.at(tier));
}

Families Scrape(const ClusterGauges& gauges, const std::string& gpu_resource) {
  Families out;
  AddNodes(out, gauges, gpu_resource);
  AddCacheFamilies(out, gauges.caches);
  AddGauge(out, "synergy_extender_assumed_pods",
           "Pods that are being bound and not yet confirmed by the watch.", gauges.assumed_pods);
  AddGauge(out, "synergy_extender_oldest_assumed_pod_seconds",
           "Age of the oldest unconfirmed bind: its outcome is unknown.", gauges.oldest_assumed);
  AddGauge(out, "synergy_extender_kept_places", "Places reserved by the tuner for waiting pods.",
           gauges.kept_places);
  AddGauge(out, "synergy_extender_oldest_kept_place_seconds",
           "Age of the oldest of these reservations.", gauges.oldest_kept);
  AddGauge(out, "synergy_extender_waiting_connections",
           "Connections that wait for a thread because too many are open.",
           gauges.waiting_connections);
  AddGauge(out, "synergy_extender_waiting_gpu_pods", "GPU pods without a node.",
           gauges.waiting_gpu_pods);
  AddGauge(out, "synergy_extender_held_gangs",
           "Gangs that have places and are not completely bound yet.", gauges.gangs_held);
  AddGauge(out, "synergy_extender_oldest_held_gang_seconds", "Age of the oldest gang's places.",
           gauges.oldest_held_gang);
  AddGauge(out, "synergy_extender_waiting_gangs", "Gangs with members without a place.",
           gauges.gangs_waiting);
  AddGauge(out, "synergy_extender_waiting_gang_binds",
           "Binds that wait for the other members of their gang.", gauges.waiting_binds);
  AddGauge(out, "synergy_extender_gangs_waiting_for_locality",
           "Gangs that could run if they were spread further, and wait for a better place.",
           gauges.gangs_waiting_for_locality);
  AddGangPlacements(out, gauges.gangs_placed);
  AddGauge(out, "synergy_extender_vacant_places",
           "Places of failed members of running gangs, reserved for their replacements.",
           gauges.vacant_places);
  AddGauge(out, "synergy_extender_gpu_reservations", "GPU reservations that hold now.",
           gauges.gpu_reservations);
  AddGauge(out, "synergy_extender_nodes_with_storage",
           "Nodes whose storage bandwidth counts in placement.", gauges.nodes_with_storage);
  AddGauge(out, "synergy_extender_ready", "Whether the program is ready (/readyz).", gauges.ready);
  return out;
}

}  // namespace

std::string_view ToString(Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return "filter";
    case Verb::kPrioritize:
      return "prioritize";
    case Verb::kBind:
      return "bind";
    case Verb::kPreempt:
      return "preempt";
  }
  return "unknown";
}

class ExtenderMetrics::Impl {
 public:
  explicit Impl(std::string managed_gpu_resource) : gpu_resource(std::move(managed_gpu_resource)) {
    for (const Verb verb : kVerbs) {
      duration_of[static_cast<size_t>(verb)] =
          &durations.Add({{"verb", std::string(ToString(verb))}}, kSchedulerCallBuckets);
    }
    RegisterBuildInfo("synergy-extender", registry);
  }

  const std::string gpu_resource;
  prometheus::Registry registry;
  Histograms& durations = MakeHistograms(
      registry, "synergy_extender_request_duration_seconds",
      "Duration from a complete request to its answer, by verb; the count is the number of calls.");
  Counters& errors = MakeCounters(registry, "synergy_extender_errors_total",
                                  "Calls answered with an error, by verb and reason.");
  Counters& binds =
      MakeCounters(registry, "synergy_extender_binds_total", "Bind calls by outcome.");
  Counters& allocations = MakeCounters(registry, "synergy_extender_allocations_total",
                                       "Allocations of fungible pods at their bind, by outcome.");
  Counters& forgotten = MakeCounters(registry, "synergy_extender_assumed_pods_forgotten_total",
                                     "Assumed places released, by reason.");
  Counters& second_looks = MakeCounters(
      registry, "synergy_extender_second_looks_total",
      "Filters that waited and tried again before they rejected every node, by outcome.");
  Counters& vacant_places = MakeCounters(registry, "synergy_extender_vacant_places_total",
                                         "Places of failed members of running gangs, by outcome.");
  Counters& reserved_refusals =
      MakeCounters(registry, "synergy_extender_reserved_gpu_refusals_total",
                   "Calls that refused a pod nodes because of GPU reservations, by verb.");
  Counters& shadow_choices = MakeCounters(
      registry, "synergy_extender_shadow_choices_total",
      "GPU pods bound by other schedulers, by whether Synergy would have chosen that node.");
  Counters& shadow_stranded =
      MakeCounters(registry, "synergy_extender_shadow_stranded_gpus_total",
                   "Free GPUs left without usable CPU or memory by those choices, by chooser.");
  std::array<prometheus::Histogram*, std::size(kVerbs)> duration_of{};
  std::function<ClusterGauges()> read_gauges;
};

ExtenderMetrics::ExtenderMetrics(const std::string& gpu_resource)
    : impl_(std::make_unique<Impl>(gpu_resource)) {}
ExtenderMetrics::~ExtenderMetrics() = default;

void ExtenderMetrics::CountCall(Verb verb, Duration duration) {
  impl_->duration_of[static_cast<size_t>(verb)]->Observe(ToSeconds(duration));
}

void ExtenderMetrics::CountError(Verb verb, std::string_view reason) {
  impl_->errors.Add({{"verb", std::string(ToString(verb))}, {"reason", std::string(reason)}})
      .Increment();
}

void ExtenderMetrics::CountBind(std::string_view outcome) {
  Count(impl_->binds, "outcome", outcome);
}

void ExtenderMetrics::CountAllocation(std::string_view outcome) {
  Count(impl_->allocations, "outcome", outcome);
}

void ExtenderMetrics::CountForgotten(std::string_view reason) {
  Count(impl_->forgotten, "reason", reason);
}

void ExtenderMetrics::CountSecondLook(std::string_view outcome) {
  Count(impl_->second_looks, "outcome", outcome);
}

void ExtenderMetrics::CountVacantPlace(std::string_view outcome) {
  Count(impl_->vacant_places, "outcome", outcome);
}

void ExtenderMetrics::CountReservedRefusal(Verb verb) {
  Count(impl_->reserved_refusals, "verb", ToString(verb));
}

void ExtenderMetrics::CountShadowChoice(std::string_view agrees) {
  Count(impl_->shadow_choices, "agrees", agrees);
}

void ExtenderMetrics::CountShadowStranded(std::string_view by, Gpus gpus) {
  Count(impl_->shadow_stranded, "by", by, static_cast<double>(gpus.count()));
}

void ExtenderMetrics::SetClusterGauges(std::function<ClusterGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string ExtenderMetrics::Render() const {
  if (!impl_->read_gauges) return RenderText(impl_->registry);
  return RenderText(impl_->registry, Scrape(impl_->read_gauges(), impl_->gpu_resource));
}

}  // namespace synergy::metrics
