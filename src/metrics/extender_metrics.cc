#include "metrics/extender_metrics.h"

#include <array>
#include <utility>

#include <prometheus/collectable.h>
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

// From a tenth of a millisecond to kube-scheduler's default timeout.
const prometheus::Histogram::BucketBoundaries kSchedulerCallBuckets = {
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5};

// The families read from the cluster's state at each scrape.
class ClusterFamilies {
 public:
  explicit ClusterFamilies(const std::string& gpu_resource) : gpu_(gpu_resource) {}

  std::vector<MetricFamily> Build(const ClusterGauges& gauges) const {
    std::vector<MetricFamily> families;
    AddNodes(gauges, families);
    AddCacheFamilies(gauges.caches, families);
    AddGauge("synergy_extender_assumed_pods",
             "Pods that are being bound and not yet confirmed by the watch.",
             static_cast<double>(gauges.assumed_pods), families);
    AddGauge("synergy_extender_oldest_assumed_pod_seconds",
             "Age of the oldest unconfirmed bind: its outcome is unknown.",
             ToSeconds(gauges.oldest_assumed), families);
    AddGauge("synergy_extender_kept_places", "Places reserved by the tuner for waiting pods.",
             static_cast<double>(gauges.kept_places), families);
    AddGauge("synergy_extender_oldest_kept_place_seconds",
             "Age of the oldest of these reservations.", ToSeconds(gauges.oldest_kept), families);
    AddGauge("synergy_extender_waiting_connections",
             "Connections that wait for a thread because too many are open.",
             static_cast<double>(gauges.waiting_connections), families);
    AddGauge("synergy_extender_waiting_gpu_pods", "GPU pods without a node.",
             static_cast<double>(gauges.waiting_gpu_pods), families);
    AddGauge("synergy_extender_held_gangs",
             "Gangs that have places and are not completely bound yet.",
             static_cast<double>(gauges.gangs_held), families);
    AddGauge("synergy_extender_oldest_held_gang_seconds", "Age of the oldest gang's places.",
             ToSeconds(gauges.oldest_held_gang), families);
    AddGauge("synergy_extender_waiting_gangs", "Gangs with members without a place.",
             static_cast<double>(gauges.gangs_waiting), families);
    AddGauge("synergy_extender_waiting_gang_binds",
             "Binds that wait for the other members of their gang.",
             static_cast<double>(gauges.waiting_binds), families);
    AddGauge("synergy_extender_gangs_waiting_for_locality",
             "Gangs that could run if they were spread further, and wait for a better place.",
             static_cast<double>(gauges.gangs_waiting_for_locality), families);
    FamilyBuilder placed("synergy_extender_gang_placements_total",
                         "Gangs that were placed, by how near their places are to each other.",
                         MetricType::Counter);
    constexpr std::array kWithin = {"node", "rack", "anywhere"};
    for (size_t tier = 0; tier < kWithin.size(); ++tier) {
      placed.Add({{"within", kWithin.at(tier)}}, static_cast<double>(gauges.gangs_placed.at(tier)));
    }
    families.push_back(placed.Build());
    AddGauge("synergy_extender_vacant_places",
             "Places of failed members of running gangs, reserved for their replacements.",
             static_cast<double>(gauges.vacant_places), families);
    AddGauge("synergy_extender_ready", "Whether the program is ready (/readyz).",
             gauges.ready ? 1 : 0, families);
    return families;
  }

 private:
  void AddNodes(const ClusterGauges& gauges, std::vector<MetricFamily>& families) const {
    FamilyBuilder allocatable(
        "synergy_node_allocatable",
        "Allocatable amounts of the node: GPUs, CPU in cores, memory in bytes.", MetricType::Gauge);
    FamilyBuilder requested("synergy_node_requested",
                            "Amounts requested by the node's pods, in the units of allocatable.",
                            MetricType::Gauge);
    FamilyBuilder free("synergy_node_free", "Allocatable less requested.", MetricType::Gauge);
    FamilyBuilder stranded(
        "synergy_node_stranded_gpus",
        "Free GPUs that no pod can use because the node's CPU or memory is exhausted.",
        MetricType::Gauge);
    for (const auto& node : gauges.nodes) {
      const auto add = [&node, this](FamilyBuilder& family, const ResourceVector& amount) {
        family.Add({{"node", node.node}, {"resource", gpu_}},
                   static_cast<double>(amount.gpus.count()));
        family.Add({{"node", node.node}, {"resource", "cpu"}},
                   static_cast<double>(amount.cpu.count()) / 1000);
        family.Add({{"node", node.node}, {"resource", "memory"}},
                   static_cast<double>(amount.memory.count()));
      };
      add(allocatable, node.allocatable);
      add(requested, node.requested);
      add(free, node.allocatable - node.requested);
      stranded.Add({{"node", node.node}}, static_cast<double>(node.stranded.count()));
    }
    for (FamilyBuilder* family : {&allocatable, &requested, &free, &stranded})
      families.push_back(family->Build());
  }

  std::string gpu_;
};

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
  explicit Impl(const std::string& gpu_resource)
      : families(gpu_resource),
        durations(prometheus::BuildHistogram()
                      .Name("synergy_extender_request_duration_seconds")
                      .Help("Duration from a complete request to its answer, by verb; the count is "
                            "the number of calls.")
                      .Register(registry)),
        errors(prometheus::BuildCounter()
                   .Name("synergy_extender_errors_total")
                   .Help("Calls answered with an error, by verb and reason.")
                   .Register(registry)),
        binds(prometheus::BuildCounter()
                  .Name("synergy_extender_binds_total")
                  .Help("Bind calls by outcome.")
                  .Register(registry)),
        allocations(prometheus::BuildCounter()
                        .Name("synergy_extender_allocations_total")
                        .Help("Allocations of fungible pods at their bind, by outcome.")
                        .Register(registry)),
        forgotten(prometheus::BuildCounter()
                      .Name("synergy_extender_assumed_pods_forgotten_total")
                      .Help("Assumed places released, by reason.")
                      .Register(registry)),
        second_looks(prometheus::BuildCounter()
                         .Name("synergy_extender_second_looks_total")
                         .Help("Filters that waited and tried again before they rejected every "
                               "node, by outcome.")
                         .Register(registry)),
        vacant_places(prometheus::BuildCounter()
                          .Name("synergy_extender_vacant_places_total")
                          .Help("Places of failed members of running gangs, by outcome.")
                          .Register(registry)),
        shadow_choices(prometheus::BuildCounter()
                           .Name("synergy_extender_shadow_choices_total")
                           .Help("GPU pods bound by other schedulers, by whether Synergy would "
                                 "have chosen that node.")
                           .Register(registry)),
        shadow_stranded(
            prometheus::BuildCounter()
                .Name("synergy_extender_shadow_stranded_gpus_total")
                .Help("Free GPUs left without usable CPU or memory by those choices, by chooser.")
                .Register(registry)) {
    for (const Verb verb : kVerbs) {
      duration_of[static_cast<size_t>(verb)] =
          &durations.Add({{"verb", std::string(ToString(verb))}}, kSchedulerCallBuckets);
    }
    RegisterBuildInfo("synergy-extender", registry);
  }

  ClusterFamilies families;
  prometheus::Registry registry;
  prometheus::Family<prometheus::Histogram>& durations;
  prometheus::Family<prometheus::Counter>& errors;
  prometheus::Family<prometheus::Counter>& binds;
  prometheus::Family<prometheus::Counter>& allocations;
  prometheus::Family<prometheus::Counter>& forgotten;
  prometheus::Family<prometheus::Counter>& second_looks;
  prometheus::Family<prometheus::Counter>& vacant_places;
  prometheus::Family<prometheus::Counter>& shadow_choices;
  prometheus::Family<prometheus::Counter>& shadow_stranded;
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
  impl_->binds.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ExtenderMetrics::CountAllocation(std::string_view outcome) {
  impl_->allocations.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ExtenderMetrics::CountForgotten(std::string_view reason) {
  impl_->forgotten.Add({{"reason", std::string(reason)}}).Increment();
}

void ExtenderMetrics::CountSecondLook(std::string_view outcome) {
  impl_->second_looks.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ExtenderMetrics::CountVacantPlace(std::string_view outcome) {
  impl_->vacant_places.Add({{"outcome", std::string(outcome)}}).Increment();
}

void ExtenderMetrics::CountShadowChoice(std::string_view agrees) {
  impl_->shadow_choices.Add({{"agrees", std::string(agrees)}}).Increment();
}

void ExtenderMetrics::CountShadowStranded(std::string_view by, Gpus gpus) {
  impl_->shadow_stranded.Add({{"by", std::string(by)}})
      .Increment(static_cast<double>(gpus.count()));
}

void ExtenderMetrics::SetClusterGauges(std::function<ClusterGauges()> read) {
  impl_->read_gauges = std::move(read);
}

std::string ExtenderMetrics::Render() const {
  std::vector<MetricFamily> families = impl_->registry.Collect();
  if (impl_->read_gauges) {
    for (MetricFamily& family : impl_->families.Build(impl_->read_gauges()))
      families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace synergy::metrics
