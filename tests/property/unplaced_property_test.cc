// Tests pods for which no node exists, with a model of cluster-autoscaler: it adds a node of a pool
// that has room for the pod's requests, and prefers the smallest.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "admission/admission.h"
#include "allocation/fair_share.h"
#include "cluster/annotations.h"
#include "cluster/state/cluster_state.h"
#include "profile/job_profile.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr ResourceVector kHeadroom{Gpus(0), MilliCpu(500), GiB(1)};
// Each node has this in addition to what pods may get.
constexpr ResourceVector kAgents{Gpus(0), Cores(1), GiB(2)};

class Surroundings final : public AdmissionSurroundings {
 public:
  explicit Surroundings(const ClusterState& state) : state_(state) {}

  std::shared_ptr<KnownProfile> profile;

  bool Complete() const override { return true; }
  std::string NamespaceLabel(const std::string&, std::string_view) const override { return {}; }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string&,
                                                  const std::string&) const override {
    return profile;
  }
  MeasuredFound FindMeasured(const std::string&, const WorkloadSought&, Gpus, int32_t,
                             const std::string&, const NodeSelection&) const override {
    return {};
  }
  std::shared_ptr<const NamespaceLimits> Limits() const override {
    return std::make_shared<const NamespaceLimits>();
  }
  std::optional<ResourceVector> FairShare(const NodeSelection& selection, const GpuAmount& gpus,
                                          const std::string& gpu_product) const override {
    return LeastFairShare(*state_.Snapshot(), &selection, gpus, gpu_product, kHeadroom);
  }

 private:
  const ClusterState& state_;
};

// Returns a node of a pool, with 1, 2, 4 or 8 GPUs.
ResourceVector RandomMachine(const ResourceVector& least_per_gpu) {
  const Gpus gpus(int64_t{1} << *rc::gen::inRange(0, 4));
  const auto times = *rc::gen::inRange<int64_t>(10, 60);
  return PartOf(ResourceVector::Make(
                    Gpus(1),
                    [&](auto member) { return (least_per_gpu.*member).count() * times / 10; }),
                gpus, Gpus(1)) +
         kAgents;
}

bool HasRoom(const ResourceVector& machine, const ResourceVector& requests) {
  return requests.FitsWithin(machine - kAgents);
}

// Returns the machine that the model adds for a pod with these requests.
std::optional<ResourceVector> Added(const std::vector<ResourceVector>& machines,
                                    const ResourceVector& requests) {
  std::optional<ResourceVector> smallest;
  for (const ResourceVector& machine : machines) {
    if (!HasRoom(machine, requests)) continue;
    if (!smallest ||
        std::pair(machine.gpus, machine.cpu) < std::pair(smallest->gpus, smallest->cpu))
      smallest = machine;
  }
  return smallest;
}

class Case {
 public:
  Case() : surroundings_(state_) {
    settings_.unplaced_per_gpu = {Gpus(0), MilliCpu(*rc::gen::inRange(250, 8000)),
                                  GiB(*rc::gen::inRange(1, 64))};
    const auto count = *rc::gen::inRange(1, 5);
    for (int i = 0; i < count; ++i) machines_.push_back(RandomMachine(settings_.unplaced_per_gpu));
    const Gpus most =
        std::max_element(machines_.begin(), machines_.end(), [](const auto& a, const auto& b) {
          return a.gpus < b.gpus;
        })->gpus;
    pod_.pod_namespace = "team";
    pod_.scheduler = "synergy-scheduler";
    pod_.exists = true;
    pod_.gpu_containers.push_back(
        {0, "train", Gpus(*rc::gen::inRange<int64_t>(1, most.count() + 1)), {}});
    pod_.selection.node_selector = {{"pool", "new"}};
    if (*rc::gen::arbitrary<bool>()) AddProfile();
    if (*rc::gen::arbitrary<bool>()) {
      product_ = "A100";
      pod_.labels.emplace_back(std::string(annotations::kGpuProduct), product_);
      std::sort(pod_.labels.begin(), pod_.labels.end());
      // Some nodes of the product exist in another pool.
      const auto nodes = *rc::gen::inRange(0, 3);
      for (int i = 0; i < nodes; ++i)
        AddNode("old-" + std::to_string(i), RandomMachine(settings_.unplaced_per_gpu), {});
    }
  }

  AdmissionFigures Figures(bool long_unplaced) {
    pod_.long_unplaced = long_unplaced;
    const AdmissionDecision decision = Admit(pod_, surroundings_, settings_);
    RC_ASSERT(decision.figures.has_value());
    return *decision.figures;
  }
  void AddNode(const std::string& name, const ResourceVector& machine, const Labels& labels) {
    Node node = MakeNode(name, machine);
    node.labels = labels;
    state_.UpsertNode(std::move(node));
  }

  Gpus gpus() const { return pod_.gpu_containers.front().gpus.gpus; }
  const std::vector<ResourceVector>& machines() const { return machines_; }
  ResourceVector Configured() const { return PartOf(settings_.unplaced_per_gpu, gpus(), Gpus(1)); }
  bool has_profile() const { return surroundings_.profile != nullptr; }

 private:
  void AddProfile() {
    surroundings_.profile = std::make_shared<KnownProfile>();
    ProfileObject& object = surroundings_.profile->object;
    object.profile_namespace = "team";
    object.name = "image";
    const MilliCpu cpu(*rc::gen::inRange(1000, 60000));
    object.profile = std::make_shared<const JobProfile>(
        *JobProfile::Create(Gpus(1), {{MilliCpu(500), GiB(5), 1}, {cpu, GiB(40), 3}}));
    pod_.labels.emplace_back(std::string(annotations::kProfile), "image");
  }

  ClusterState state_;
  Surroundings surroundings_;
  AdmissionSettings settings_;
  std::vector<ResourceVector> machines_;  // each with at least the configured amounts per GPU
  PodToAdmit pod_;
  std::string product_;
};

// If each pool has at least the configured amounts per GPU, no pod waits for ever, and the new node
// has at least these amounts for the pod.
RC_GTEST_PROP(UnplacedProperty, AnAutoscalerAddsANodeWithRoomForTheFinalAmounts, ()) {
  Case made;
  const AdmissionFigures first = made.Figures(false);
  RC_ASSERT(!first.placeholder.empty());
  auto machine = Added(made.machines(), first.floor);
  RC_CLASSIFY(!machine.has_value(), "only after the placeholder has shrunk");
  if (!machine) machine = Added(made.machines(), made.Figures(true).floor);
  RC_ASSERT(machine.has_value());

  made.AddNode("new", *machine, {{"pool", "new"}});
  const AdmissionFigures last = made.Figures(true);
  RC_ASSERT(last.placeholder.empty());
  RC_ASSERT(last.floor.FitsWithin(*machine - kHeadroom));
}

RC_GTEST_PROP(UnplacedProperty, PlaceholdersAreNeitherTinyNorMoreThanTheSmallestKnownNodeHas, ()) {
  Case made;
  const ResourceVector first = made.Figures(false).floor;
  const ResourceVector least = made.Figures(true).floor;
  RC_ASSERT(least.FitsWithin(made.Configured()));
  RC_ASSERT(least.FitsWithin(first));
  // The request is less only if the profile's demand is less.
  if (!made.has_profile()) RC_ASSERT(least == LesserOf(first, made.Configured()));
}

}  // namespace
}  // namespace synergy::testing
