#include "admission/admission.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "admission/workload.h"
#include "cluster/annotations.h"

namespace synergy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class FakeSurroundings final : public AdmissionSurroundings {
 public:
  bool complete = true;
  std::map<std::string, std::string> namespace_labels;
  std::map<std::string, std::shared_ptr<KnownProfile>> profiles;  // namespace/name -> profile
  Gpus most_gpus{int64_t{1} << 50};                               // the most GPUs of a node
  std::map<std::string, ResourceVector> shares_per_gpu{
      {"", {Gpus(1), Cores(3), GB(60)}}};  // GPU product -> fair share
  Gpus slices_per_gpu{4};
  std::shared_ptr<KnownProfile> measured;
  std::shared_ptr<NamespaceLimits> limits = std::make_shared<NamespaceLimits>();

  bool Complete() const override { return complete; }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override {
    const auto it = namespace_labels.find(std::string(key));
    return name != "team" || it == namespace_labels.end() ? "" : it->second;
  }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                  const std::string& name) const override {
    const auto it = profiles.find(profile_namespace + "/" + name);
    return it == profiles.end() ? nullptr : it->second;
  }
  MeasuredFound FindMeasured(const std::string& profile_namespace, const WorkloadSought& workload,
                             Gpus gpus, int32_t gang_size, const std::string& gpu_product,
                             const NodeSelection&) const override {
    if (measured == nullptr) return {};
    const MeasuredProfile& known = *measured->object.measured;
    const bool fits = profile_namespace == "team" && gpus == known.gpus &&
                      gang_size == known.gang_size &&
                      (gpu_product.empty() || gpu_product == known.gpu_product);
    if (!fits) return {};
    if (workload.exact == known.workload) return {.profile = measured};
    for (const LooserIdentity identity : kLooserIdentities) {
      const std::string& text = workload.alike.Of(identity);
      if (!text.empty() && text == known.alike.Of(identity))
        return {.profile = measured, .by_looser = identity};
    }
    return {};
  }
  std::shared_ptr<const NamespaceLimits> Limits() const override { return limits; }
  std::optional<ResourceVector> FairShare(const NodeSelection&, const GpuAmount& amount,
                                          const std::string& gpu_product) const override {
    const auto it = shares_per_gpu.find(gpu_product);
    if (it == shares_per_gpu.end() || amount.gpus > most_gpus) return std::nullopt;
    if (amount.slices > Slices(0))
      return PartOf(it->second, Gpus(amount.slices.count()), slices_per_gpu);
    const int64_t count = amount.gpus.count();
    return ResourceVector{amount.gpus, it->second.cpu * count, it->second.memory * count};
  }
};

TEST(WithClaimedGpusTest, ContainersWhoseTemplatesHaveGpusAreGpuContainers) {
  const GpusOfTemplate gpus_of = [](const std::string& pod_namespace, const std::string& name) {
    if (pod_namespace != "team" || name == "unknown") return std::optional<Gpus>();
    return std::optional(Gpus(name == "nic" ? 0 : 2));
  };
  PodToAdmit pod;
  pod.pod_namespace = "team";
  const auto add = [&](const std::string& name, std::vector<std::string> templates, int64_t cores) {
    pod.claiming_containers.push_back({{pod.claiming_containers.size(), name, Gpus(0), {}},
                                       std::move(templates),
                                       {Gpus(0), Cores(cores), GiB(1)},
                                       {},
                                       false});
  };
  add("sidecar", {"nic"}, 1);
  add("unknown", {"gpus", "unknown"}, 2);
  EXPECT_TRUE(WithClaimedGpus(pod, gpus_of).gpu_containers.empty());
  add("train", {"gpus", "nic", "gpus"}, 3);
  const PodToAdmit found = WithClaimedGpus(pod, gpus_of);
  EXPECT_TRUE(found.claiming_containers.empty());
  ASSERT_EQ(found.gpu_containers.size(), 1U);
  EXPECT_EQ(found.gpu_containers[0].name, "train");
  EXPECT_EQ(found.gpu_containers[0].index, 2U);
  EXPECT_EQ(found.gpu_containers[0].gpus, Gpus(4));
  EXPECT_EQ(found.beside.cpu, Cores(3)) << "what runs beside that container";
  EXPECT_FALSE(found.guaranteed_beside);
  pod.gpu_containers.push_back({7, "by-request", Gpus(1), {}});
  EXPECT_EQ(WithClaimedGpus(pod, gpus_of).gpu_containers.size(), 2U);
  EXPECT_EQ(WithClaimedGpus(pod, gpus_of).beside, pod.beside);
}

class AdmissionTest : public testing::Test {
 protected:
  AdmissionTest() {
    pod.pod_namespace = "team";
    pod.scheduler = "synergy-scheduler";
    pod.gpu_containers.push_back({1, "train", Gpus(1), {}});
    settings.max_speed_up = 20;  // the profiles below claim ten times the speed
  }

  // Adds a profile whose job reaches its best speed with `cpu` and `memory`. All of its memory is
  // fungible.
  KnownProfile& AddProfile(const std::string& name, MilliCpu cpu, Bytes memory,
                           Gpus gpus = Gpus(1)) {
    auto known = std::make_shared<KnownProfile>();
    known->object.profile_namespace = "team";
    known->object.name = name;
    known->object.generation = 4;
    auto profile = JobProfile::Create(
        gpus, {{MilliCpu(500), GB(5), 0.1}, {cpu, memory, 1.0}, {cpu + Cores(9), memory, 1.0}});
    EXPECT_TRUE(profile);
    known->object.profile =
        std::make_shared<const JobProfile>(profile->WithProcessMemory(Bytes(0)));
    known->demand = profile->Demand(0);
    surroundings.profiles["team/" + name] = known;
    return *known;
  }

  // Adds a measured profile of the pod's workload on A100s: its best speed takes 1 CPU, and the
  // fair share is 3.
  MeasuredProfile& Measure() {
    auto known = std::make_shared<KnownProfile>();
    known->object.profile_namespace = "team";
    known->object.name = "measured";
    known->object.generation = 1;
    known->object.training.gpu_product = "A100";
    known->object.profile = std::make_shared<const JobProfile>(*JobProfile::Create(
        Gpus(1), {{MilliCpu(500), Bytes(1), 1}, {Cores(1), Bytes(1), 2}, {Cores(3), Bytes(1), 2}}));
    MeasuredProfile& measured = known->object.measured.emplace();
    measured.workload = "bert";
    measured.gpu_product = "A100";
    measured.revision = 7;
    surroundings.measured = known;
    Label(annotations::kWorkload, "bert");
    return measured;
  }

  void Label(std::string_view key, std::string value) {
    pod.labels.emplace_back(key, std::move(value));
    std::sort(pod.labels.begin(), pod.labels.end());
  }

  AdmissionFigures Managed() {
    const AdmissionDecision decision = Admit(pod, surroundings, settings);
    EXPECT_EQ(ToString(decision.outcome), "managed");
    warnings = decision.warnings;
    return decision.figures.value_or(AdmissionFigures());
  }

  AdmissionOutcome Left() {
    AdmissionDecision decision = Admit(pod, surroundings, settings);
    EXPECT_FALSE(decision.figures);
    warnings = std::move(decision.warnings);
    return decision.outcome;
  }

  PodToAdmit pod;
  FakeSurroundings surroundings;
  AdmissionSettings settings;
  std::vector<std::string> warnings;
};

ResourceVector Amounts(int64_t gpus, MilliCpu cpu, Bytes memory) {
  return {Gpus(gpus), cpu, memory};
}

TEST_F(AdmissionTest, SlicesOfGpusGetTheirPartOfTheFairShare) {
  pod.gpu_containers[0].gpus = {Gpus(0), Slices(2)};
  settings.profiling = true;
  const AdmissionFigures figures = Managed();
  const ResourceVector half{Gpus(0), MilliCpu(1500), GB(30)};
  EXPECT_EQ(figures.floor, half);
  EXPECT_EQ(figures.demand, half);
  EXPECT_EQ(figures.fair_share, half);
  EXPECT_EQ(figures.workload, "") << "it is not measured";
  EXPECT_EQ(figures.most_cpu, std::nullopt) << "it never gets more";
  EXPECT_THAT(warnings, IsEmpty());
  pod.beside = Amounts(0, MilliCpu(500), GB(10));
  EXPECT_EQ(Managed().floor, Amounts(0, Cores(1), GB(20)));
}

TEST_F(AdmissionTest, SlicesOfGpusKeepWhatTheirAuthorWrote) {
  pod.gpu_containers[0].gpus = {Gpus(0), Slices(1)};
  pod.gpu_containers[0].written = {.cpu_request = Cores(2)};
  EXPECT_EQ(Managed().floor, Amounts(0, Cores(2), GB(15)));
}

TEST_F(AdmissionTest, ProfilesAndMeasurementsAreNotForSlices) {
  AddProfile("image", Cores(9), GB(60));
  surroundings.namespace_labels[std::string(annotations::kDefaultProfile)] = "image";
  pod.gpu_containers[0].gpus = {Gpus(0), Slices(4)};
  EXPECT_EQ(Managed().floor, Amounts(0, Cores(3), GB(60)));
  EXPECT_THAT(warnings, IsEmpty());
  Label(annotations::kProfile, "image");
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.demand, Amounts(0, Cores(3), GB(60)));
  EXPECT_EQ(figures.profile, "");
  EXPECT_EQ(figures.workload, "");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is for whole GPUs, and the pod has slices")));
}

TEST_F(AdmissionTest, PodsThatMayRunPackedHaveAWorkload) {
  pod.gpu_containers[0].gpus = {Gpus(0), Slices(1)};
  pod.may_pack = true;
  EXPECT_EQ(Managed().workload, WorkloadOf(pod));
  EXPECT_EQ(Managed().alike, LooserIdentities());
  Label(annotations::kWorkload, "bert");
  EXPECT_EQ(Managed().workload, "bert");
}

TEST_F(AdmissionTest, SlicesThatNoNodeHasAreSizedLaterAndCountAsAGpuUntilThen) {
  pod.gpu_containers[0].gpus = {Gpus(0), Slices(3)};
  surroundings.shares_per_gpu.clear();
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.floor, Amounts(0, Cores(3), GiB(10)));
  EXPECT_THAT(figures.placeholder, HasSubstr("has 3 slices or turns of nvidia.com/gpu that"));
}

TEST_F(AdmissionTest, ContainersWithSlicesAndWithGpusAreSeveral) {
  pod.gpu_containers.push_back({2, "other", GpuAmount(Gpus(0), Slices(1)), {}});
  EXPECT_EQ(Left(), AdmissionOutcome::kSeveralContainers);
}

TEST_F(AdmissionTest, AVolumeForProgressIsTheAuthorsToAskFor) {
  EXPECT_FALSE(Managed().progress_file);
  pod.progress_file = "true";
  EXPECT_TRUE(Managed().progress_file);
  const size_t without = warnings.size();
  pod.progress_file = "/progress";
  EXPECT_FALSE(Managed().progress_file);
  ASSERT_EQ(warnings.size(), without + 1);
  EXPECT_THAT(warnings.back(), HasSubstr("synergy.io/progress-file: must be \"true\""));
}

TEST_F(AdmissionTest, WarnsOfAnExpectedDurationThatIsNone) {
  for (const char* const good : {"", "90m", "1h30m"}) {
    pod.expected_duration = good;
    Managed();
    EXPECT_THAT(warnings, Not(Contains(HasSubstr("expected-duration")))) << good;
  }
  for (const char* const wrong : {"90", "0m", "soon"}) {
    pod.expected_duration = wrong;
    Managed();
    EXPECT_THAT(warnings,
                Contains(HasSubstr("synergy.io/expected-duration: must be a duration, such as")))
        << wrong;
  }
}

TEST_F(AdmissionTest, TheFloorIsTheFairShareWhereTheDemandIsHigher) {
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.container, 1U);
  EXPECT_EQ(figures.container_name, "train");
  EXPECT_EQ(figures.demand, Amounts(1, Cores(9), GB(80)));
  EXPECT_EQ(figures.fair_share, Amounts(1, Cores(3), GB(60)));
  EXPECT_EQ(figures.floor, Amounts(1, Cores(3), GB(60)));
  EXPECT_EQ(figures.profile, "image");
  EXPECT_EQ(figures.profile_generation, 4);
  EXPECT_EQ(figures.enforcement, Enforcement::kShared);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(AdmissionTest, TheFloorIsTheDemandWhereThatIsLowerPerDimension) {
  AddProfile("speech", Cores(2), GB(80));
  Label(annotations::kProfile, "speech");
  EXPECT_EQ(Managed().floor, Amounts(1, Cores(2), GB(60)));
}

TEST_F(AdmissionTest, UsesTheFairShareAndWarnsWithoutAProfile) {
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.demand, Amounts(1, Cores(3), GB(60)));
  EXPECT_EQ(figures.floor, figures.demand);
  EXPECT_EQ(figures.fair_share, figures.demand);
  EXPECT_EQ(figures.profile, "");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("names no TrainingProfile")));
}

TEST_F(AdmissionTest, BoundsCpuThatAPodMayEverGetWithoutAProfile) {
  settings.max_speed_up = 4;
  EXPECT_EQ(Managed().most_cpu, Cores(12)) << "four times its fair share";
  surroundings.most_gpus = Gpus(2);
  EXPECT_EQ(Managed().most_cpu, Cores(6)) << "all that a node has for its GPUs";
  pod.gpu_containers[0].written.cpu_limit = Cores(5);
  EXPECT_EQ(Managed().most_cpu, Cores(5)) << "the author's limit stays";
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().most_cpu, std::nullopt) << "its profile says what it makes use of";
}

TEST_F(AdmissionTest, AGuaranteedPodIsManagedAsStrict) {
  pod.gpu_containers[0].written = {Cores(8), Cores(8), GiB(200), GiB(200)};
  AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.enforcement, Enforcement::kStrict);
  EXPECT_EQ(figures.floor, Amounts(1, Cores(8), GiB(200)));
  pod.guaranteed_beside = false;
  EXPECT_EQ(Managed().enforcement, Enforcement::kShared);
}

TEST_F(AdmissionTest, TheNamespaceGivesADefaultProfileThatThePodsLabelOverrides) {
  AddProfile("common", Cores(2), GB(20));
  AddProfile("own", Cores(1), GB(10));
  surroundings.namespace_labels[std::string(annotations::kDefaultProfile)] = "common";
  EXPECT_EQ(Managed().profile, "common");
  Label(annotations::kProfile, "own");
  EXPECT_EQ(Managed().profile, "own");
}

TEST_F(AdmissionTest, AProfileOfAnotherNamespaceIsNoProfile) {
  AddProfile("image", Cores(9), GB(80));
  pod.pod_namespace = "others";
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().profile, "");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("there is no TrainingProfile \"image\"")));
}

TEST_F(AdmissionTest, AnInvalidProfileIsNoProfile) {
  KnownProfile& known = AddProfile("broken", Cores(9), GB(80));
  known.object.profile = nullptr;
  known.object.problems = {"spec.points[0].cpu: must be more than zero"};
  Label(annotations::kProfile, "broken");
  EXPECT_EQ(Managed().demand, Amounts(1, Cores(3), GB(60)));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("spec.points[0].cpu: must be more than zero")));
}

TEST_F(AdmissionTest, AProfileOfOneGpuServesPodsWithSeveral) {
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  pod.gpu_containers[0].gpus = Gpus(4);
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.demand, Amounts(4, Cores(36), GB(320)));
  EXPECT_EQ(figures.floor, Amounts(4, Cores(12), GB(240)));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(AdmissionTest, AProfileOfSeveralGpusServesNoOtherCount) {
  AddProfile("wide", Cores(9), GB(80), Gpus(4));
  Label(annotations::kProfile, "wide");
  pod.gpu_containers[0].gpus = Gpus(2);
  EXPECT_EQ(Managed().profile, "");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is for 4 GPUs, and the pod has 2")));
  pod.gpu_containers[0].gpus = Gpus(4);
  EXPECT_EQ(Managed().demand, Amounts(4, Cores(9), GB(80)));
}

TEST_F(AdmissionTest, AProfileOfOneGpuThatBecomesAbsurdlyLargeIsNoProfile) {
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  pod.gpu_containers[0].gpus = Gpus(int64_t{1} << 50);
  EXPECT_EQ(Managed().profile, "");
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(AdmissionTest, TheFairShareIsOfNodesWithTheProfilesGpus) {
  AddProfile("image", Cores(9), GB(80)).object.training.gpu_product = "A100";
  surroundings.shares_per_gpu["A100"] = {Gpus(1), Cores(8), GB(120)};
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().floor, Amounts(1, Cores(8), GB(80)));
}

TEST_F(AdmissionTest, AProfileForGpusThatNoNodeHasIsNoProfile) {
  AddProfile("image", Cores(9), GB(80)).object.training.gpu_product = "H100";
  Label(annotations::kProfile, "image");
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.profile, "");
  EXPECT_EQ(figures.demand, Amounts(1, Cores(3), GB(60)));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is for H100")));
}

TEST_F(AdmissionTest, WithoutANodeThatHasTheGpusTheDemandIsAPlaceholder) {
  surroundings.shares_per_gpu.clear();
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  pod.gpu_containers[0].gpus = Gpus(64);
  const AdmissionFigures figures = Managed();
  EXPECT_THAT(figures.placeholder, HasSubstr("has 64 nvidia.com/gpu"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("CPU and memory are set later, because no node")));
  EXPECT_EQ(figures.floor, Amounts(64, Cores(9) * 64, GB(80) * 64));
  EXPECT_EQ(figures.profile, "image");

  pod.exists = pod.long_unplaced = true;
  EXPECT_EQ(Managed().floor, Amounts(64, Cores(3) * 64, GiB(10) * 64));
}

TEST_F(AdmissionTest, EstimatesAFutureNodeFromOtherNodesOfTheProduct) {
  surroundings.shares_per_gpu["A100"] = {Gpus(1), Cores(8), GiB(8)};
  surroundings.most_gpus = Gpus(4);
  pod.gpu_containers[0].gpus = Gpus(8);
  EXPECT_EQ(Managed().floor, Amounts(8, Cores(24), GiB(80))) << "no product: as configured";
  Label(annotations::kGpuProduct, "A100");
  EXPECT_EQ(Managed().floor, Amounts(8, Cores(64), GiB(64)));
  pod.exists = pod.long_unplaced = true;
  EXPECT_EQ(Managed().floor, Amounts(8, Cores(24), GiB(64))) << "the least of what is known";
}

TEST_F(AdmissionTest, WrittenAmountsNeedNoNodeAndNoPlaceholder) {
  surroundings.shares_per_gpu.clear();
  pod.gpu_containers[0].written = {.cpu_request = Cores(4), .memory_request = GiB(200)};
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.placeholder, "");
  EXPECT_EQ(figures.floor, Amounts(1, Cores(4), GiB(200)));
}

TEST_F(AdmissionTest, APodThatKueueManagesByItselfGetsNoPlaceholder) {
  surroundings.shares_per_gpu.clear();
  Label(annotations::kKueuePod, "true");
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.placeholder, "");
  EXPECT_EQ(figures.floor, Amounts(1, Cores(3), GiB(10))) << "for good";
}

TEST_F(AdmissionTest, QueuedPodKeepsToCountedAmountsWithinAQuota) {
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  settings.within_counted = true;
  EXPECT_EQ(Managed().demand, Amounts(1, Cores(9), GB(80))) << "it is in no queue";
  Label(annotations::kKueuePodSet, "main");
  AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.floor, Amounts(1, Cores(3), GB(60)));
  EXPECT_EQ(figures.demand, figures.floor);
  pod.gpu_containers[0].written.cpu_request = Cores(2);
  figures = Managed();
  EXPECT_EQ(figures.floor, Amounts(1, Cores(2), GB(60))) << "Kueue has counted 2";
  EXPECT_EQ(figures.demand, figures.floor);
  settings.within_counted = false;
  EXPECT_EQ(Managed().demand, Amounts(1, Cores(9), GB(80)));
}

// After an OOM kill the workload's process memory may be raised (engine/retries).
TEST_F(AdmissionTest, QueuedPodWithRaisedMemoryKeepsToWhatKueueCounted) {
  KnownProfile& known = AddProfile("image", Cores(2), GB(50));
  known.object.profile =
      std::make_shared<const JobProfile>(known.object.profile->WithProcessMemory(GB(55)));
  Label(annotations::kProfile, "image");
  Label(annotations::kKueuePodSet, "main");
  pod.gpu_containers[0].written = {.cpu_request = Cores(2), .memory_request = GB(40)};
  EXPECT_GE(Managed().floor.memory, GB(55)) << "growth beyond the quota is allowed";
  settings.within_counted = true;
  EXPECT_EQ(Managed().floor.memory, GB(40));
  pod.gpu_containers[0].written.memory_request.reset();
  EXPECT_GE(Managed().floor.memory, GB(55)) << "Kueue counts no memory";
}

TEST_F(AdmissionTest, ATemplateRequestsTheFloorOfItsPods) {
  const TemplateRequests both = SizeTemplate(pod, surroundings, settings);
  EXPECT_EQ(both.container, 1U);
  EXPECT_EQ(both.cpu, Cores(3));
  EXPECT_EQ(both.memory, GB(60));

  pod.gpu_containers[0].asks.cpu_request = Cores(5);
  const TemplateRequests one = SizeTemplate(pod, surroundings, settings);
  EXPECT_EQ(one.cpu, std::nullopt) << "written";
  EXPECT_EQ(one.memory, GB(60));

  surroundings.shares_per_gpu.clear();
  EXPECT_EQ(SizeTemplate(pod, surroundings, settings).memory, GiB(10)) << "no node is there yet";
  settings.scheduler_name = "another";
  settings.managed_schedulers.clear();
  EXPECT_EQ(SizeTemplate(pod, surroundings, settings).memory, std::nullopt) << "not managed";
}

TEST_F(AdmissionTest, APodMayAskForAProductAndTheProfileHasToBeForIt) {
  surroundings.shares_per_gpu["A100"] = {Gpus(1), Cores(8), GB(120)};
  surroundings.shares_per_gpu["H100"] = {Gpus(1), Cores(16), GB(200)};
  KnownProfile& profile = AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().gpu_product, "");
  profile.object.training.gpu_product = "A100";
  EXPECT_EQ(Managed().gpu_product, "A100");
  Label(annotations::kGpuProduct, "A100");
  EXPECT_EQ(Managed().gpu_product, "A100");
  profile.object.training.gpu_product = "";
  EXPECT_EQ(Managed().gpu_product, "A100") << "measured on any";

  profile.object.training.gpu_product = "H100";
  warnings.clear();
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.gpu_product, "A100");
  EXPECT_EQ(figures.profile, "");
  EXPECT_EQ(figures.fair_share, Amounts(1, Cores(8), GB(120)));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("is for H100, and the pod requests A100")));
}

TEST_F(AdmissionTest, AProductThatNoNodeHasIsNamed) {
  Label(annotations::kGpuProduct, "T4");
  EXPECT_THAT(Managed().placeholder, HasSubstr("has 1 nvidia.com/gpu of product T4"));
}

TEST_F(AdmissionTest, EnforcementIsThePodsElseTheNamespacesElseTheClusters) {
  settings.enforcement = Enforcement::kStrict;
  EXPECT_EQ(Managed().enforcement, Enforcement::kStrict);
  surroundings.namespace_labels[std::string(annotations::kEnforcement)] = "shared";
  EXPECT_EQ(Managed().enforcement, Enforcement::kShared);
  Label(annotations::kEnforcement, "strict");
  EXPECT_EQ(Managed().enforcement, Enforcement::kStrict);
}

TEST_F(AdmissionTest, WarnsOfUnknownEnforcementAndUsesTheNextOne) {
  Label(annotations::kEnforcement, "gentle");
  surroundings.namespace_labels[std::string(annotations::kEnforcement)] = "strict";
  EXPECT_EQ(Managed().enforcement, Enforcement::kStrict);
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("\"gentle\" is not one of shared, strict")));
}

TEST_F(AdmissionTest, AUsersCpuLimitKeepsTheRequestBelowItSoThatNoResizeChangesTheQosClass) {
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  pod.gpu_containers[0].written.cpu_limit = Cores(5);
  AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.demand.cpu, MilliCpu(4999));
  EXPECT_EQ(figures.floor.cpu, Cores(3));
  pod.gpu_containers[0].written.cpu_limit = Cores(2);
  figures = Managed();
  EXPECT_EQ(figures.demand.cpu, MilliCpu(1999));
  EXPECT_EQ(figures.floor.cpu, MilliCpu(1999));
  EXPECT_EQ(figures.fair_share.cpu, Cores(3));
}

TEST_F(AdmissionTest, ACpuLimitOfNothingOrLessNeverMakesARequestNegative) {
  for (const int64_t limit : {0, -5}) {
    pod.gpu_containers[0].written.cpu_limit = MilliCpu(limit);
    EXPECT_EQ(Managed().floor.cpu, MilliCpu(0));
  }
}

TEST_F(AdmissionTest, UnderStrictEnforcementTheUsersCpuLimitIsOurs) {
  settings.enforcement = Enforcement::kStrict;
  pod.gpu_containers[0].written.cpu_limit = Cores(2);
  EXPECT_EQ(Managed().floor.cpu, Cores(3));
}

TEST_F(AdmissionTest, PodsThatAreNoneOfOurBusinessAreLeftInSilence) {
  const PodToAdmit managed = pod;
  pod.gpu_containers.clear();
  EXPECT_EQ(Left(), AdmissionOutcome::kNoGpus);
  pod = managed;
  Label(annotations::kFungible, "false");
  EXPECT_EQ(Left(), AdmissionOutcome::kOptedOut);
  pod = managed;
  pod.pod_namespace = "kube-system";
  EXPECT_EQ(Left(), AdmissionOutcome::kExcludedNamespace);
  pod = managed;
  pod.scheduler = "volcano";
  EXPECT_EQ(Left(), AdmissionOutcome::kNotAsked);
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Left(), AdmissionOutcome::kOtherScheduler);
  pod = managed;
  pod.has_node = true;
  EXPECT_EQ(Left(), AdmissionOutcome::kHasNode);
  pod = managed;
  pod.mirror = true;
  EXPECT_EQ(Left(), AdmissionOutcome::kStatic);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(AdmissionTest, OnlyPodsThatAskForItAreManaged) {
  pod.scheduler = "default-scheduler";
  const PodToAdmit plain = pod;
  EXPECT_EQ(Left(), AdmissionOutcome::kNotAsked);
  EXPECT_THAT(warnings, IsEmpty());
  Label("team.example.com/profile", "image");
  EXPECT_EQ(Left(), AdmissionOutcome::kNotAsked);
  Label(annotations::kProfile, "");
  EXPECT_EQ(Managed().profile, "");
  pod = plain;
  surroundings.namespace_labels[std::string(annotations::kManaged)] = "yes";
  EXPECT_EQ(Left(), AdmissionOutcome::kNotAsked);
  surroundings.namespace_labels[std::string(annotations::kManaged)] = "true";
  Managed();
  surroundings.namespace_labels.clear();
  settings.scope = Scope::kAll;
  Managed();
}

TEST_F(AdmissionTest, PodsOfOurSchedulerAndOfManagedOnesAreOurs) {
  settings.scope = Scope::kAll;
  for (const char* scheduler : {"", "default-scheduler", "synergy-scheduler"}) {
    pod.scheduler = scheduler;
    EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kManaged) << scheduler;
  }
  settings.managed_schedulers = {"volcano"};
  pod.scheduler = "volcano";
  EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kManaged);
  pod.scheduler = "";
  EXPECT_EQ(Left(), AdmissionOutcome::kOtherScheduler);
}

TEST_F(AdmissionTest, LeavesPodsThatCannotBeChangedAndWarns) {
  const PodToAdmit managed = pod;
  pod.pod_level_resources = true;
  EXPECT_EQ(Left(), AdmissionOutcome::kPodLevelResources);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("spec.resources")));
  pod = managed;
  pod.gpu_containers.push_back({2, "other", Gpus(1), {}});
  EXPECT_EQ(Left(), AdmissionOutcome::kSeveralContainers);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("2 containers")));
  pod = managed;
  pod.annotation_bytes = 255 << 10;
  EXPECT_EQ(Left(), AdmissionOutcome::kFullAnnotations);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST_F(AdmissionTest, NothingIsDecidedByHalfAPictureOfTheCluster) {
  surroundings.complete = false;
  EXPECT_EQ(Left(), AdmissionOutcome::kStarting);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("starting")));
}

TEST_F(AdmissionTest, RequestsOnlyWrittenAmountsUnderAQuotaUntilThePodExists) {
  ResourceQuota quota{.uid = "q", .pod_namespace = "team"};
  quota.requests.hard.cpu = Cores(100);
  surroundings.limits->Put(quota);
  pod.gpu_containers.front().asks.cpu_request = MilliCpu(50);  // the default of a LimitRange
  AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.floor, Amounts(1, MilliCpu(50), GB(60)));
  EXPECT_EQ(figures.demand, Amounts(1, Cores(3), GB(60)));
  EXPECT_THAT(figures.placeholder, HasSubstr("quota"));
  pod.exists = true;
  figures = Managed();
  EXPECT_EQ(figures.floor, Amounts(1, Cores(3), GB(60)));
  EXPECT_THAT(figures.placeholder, IsEmpty());
  pod.exists = false;
  Label(annotations::kKueuePod, "true");
  figures = Managed();
  EXPECT_EQ(figures.floor.cpu, MilliCpu(50)) << "for good";
  EXPECT_THAT(figures.placeholder, IsEmpty());
}

TEST_F(AdmissionTest, QuotaRefusesNothingBelowTheWrittenAmounts) {
  ResourceQuota quota{.uid = "q", .pod_namespace = "team"};
  quota.requests.hard.cpu = Cores(100);
  surroundings.limits->Put(quota);
  AddProfile("speech", Cores(2), GB(80));
  Label(annotations::kProfile, "speech");
  pod.gpu_containers.front().written.cpu_request = Cores(8);
  pod.gpu_containers.front().asks.cpu_request = Cores(8);
  EXPECT_EQ(Managed().floor.cpu, Cores(2));
  EXPECT_THAT(Managed().placeholder, IsEmpty());
}

TEST_F(AdmissionTest, AQuotaThatCountsBestEffortPodsApartLeavesThemSo) {
  ResourceQuota quota{.uid = "q", .pod_namespace = "team", .by_qos = true};
  pod.best_effort = true;
  EXPECT_EQ(Managed().floor, Amounts(1, Cores(3), GB(60))) << "no such quota";
  surroundings.limits->Put(quota);
  EXPECT_EQ(Left(), AdmissionOutcome::kQuotaByQos);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("NotBestEffort")));
  pod.best_effort = false;
  EXPECT_EQ(Managed().floor, Amounts(1, Cores(3), GB(60)));
}

TEST_F(AdmissionTest, LimitRangesBoundThePodWithItsSidecars) {
  LimitRange range{.uid = "l", .pod_namespace = "team"};
  range.pod.most.cpu = Cores(4);
  surroundings.limits->Put(range);
  pod.beside.cpu = Cores(1);
  pod.beside_limits.cpu = Cores(2);
  surroundings.shares_per_gpu[""] = {Gpus(1), Cores(8), GB(60)};
  EXPECT_EQ(Managed().floor.cpu, Cores(3));
  Label(annotations::kEnforcement, "strict");
  EXPECT_EQ(Managed().floor.cpu, Cores(2)) << "the limits, too, add up to no more than 4";
}

TEST_F(AdmissionTest, EveryOutcomeHasAWordOfItsOwn) {
  std::map<std::string_view, int> words;
  for (size_t i = 0; i < kAdmissionOutcomes; ++i)
    ++words[ToString(static_cast<AdmissionOutcome>(i))];
  EXPECT_EQ(words.size(), kAdmissionOutcomes);
  EXPECT_FALSE(words.contains("unknown"));
}

TEST_F(AdmissionTest, UsesTheMeasuredProfileOfTheWorkloadForAnyGpus) {
  Measure();
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.workload, "bert");
  EXPECT_EQ(figures.profile, "measured");
  EXPECT_EQ(figures.profile_generation, 7) << "the revision";
  EXPECT_EQ(figures.gpu_product, "");
  EXPECT_EQ(figures.demand, Amounts(1, Cores(1), GB(60)));
  EXPECT_EQ(figures.floor, Amounts(1, Cores(1), GB(60)));
  EXPECT_THAT(warnings, IsEmpty());
  Label(annotations::kGpuProduct, "V100");
  surroundings.shares_per_gpu["V100"] = {Gpus(1), Cores(3), GB(60)};
  EXPECT_EQ(Managed().profile, "") << "measured on other GPUs";
}

TEST_F(AdmissionTest, MeasuredProfileOfAGangAppliesToGangsOfThatSize) {
  MeasuredProfile& measured = Measure();
  pod.gang_size = 2;
  EXPECT_EQ(Managed().profile, "");
  measured.gang_size = 2;
  EXPECT_EQ(Managed().profile, "measured");
  pod.gang_size = 1;
  EXPECT_EQ(Managed().profile, "");
}

TEST_F(AdmissionTest, WritesTheSpreadCostOnPodsOfGangs) {
  KnownProfile& known = AddProfile("image", Cores(9), GB(80));
  known.object.profile = std::make_shared<const JobProfile>(
      known.object.profile->WithSpread({.nodes = 0.7, .racks = 0.5}));
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().spread, SpreadCost{}) << "it trains alone";
  pod.gang_size = 2;
  EXPECT_EQ(Managed().spread, (SpreadCost{.nodes = 0.7, .racks = 0.5}));
  EXPECT_THAT(warnings, IsEmpty());
  Label(annotations::kTensorSkew, "much");
  Managed();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("synergy.io/tensor-skew: must be a number")));
}

TEST_F(AdmissionTest, AWorkloadThatMightBeFasterWithMoreWorkersGetsItsFairShare) {
  MeasuredProfile& measured = Measure();
  for (bool* const doubt : {&measured.censored, &measured.drifted}) {
    *doubt = true;
    const AdmissionFigures figures = Managed();
    EXPECT_EQ(figures.profile, "measured");
    EXPECT_EQ(figures.demand.cpu, Cores(3));
    EXPECT_EQ(figures.floor.cpu, Cores(3));
    *doubt = false;
  }
}

TEST_F(AdmissionTest, MemoryIsTakenOnlyWhenItsProcessesWereWatchedForLong) {
  MeasuredProfile& measured = Measure();
  measured.points = {{Cores(1), 2}};
  measured.memory = MeasuredMemory{.process = GB(10)};
  surroundings.measured->object.profile =
      std::make_shared<const JobProfile>(*MakeJobProfile(measured));
  EXPECT_EQ(Managed().floor.memory, GB(60));
  measured.memory->confirmed = true;
  EXPECT_EQ(Managed().floor.memory, GB(11));
}

TEST_F(AdmissionTest, AnEstimateUndercutsNothingThatWasWritten) {
  MeasuredProfile& measured = Measure();
  measured.estimate = measured.censored = true;
  pod.gpu_containers.front().written.cpu_request = Cores(8);
  EXPECT_EQ(Managed().profile, "measured");
  EXPECT_EQ(Managed().floor.cpu, Cores(8));
  EXPECT_EQ(Managed().demand.cpu, Cores(8));
  pod.gpu_containers.front().written.cpu_request = Cores(2);
  EXPECT_EQ(Managed().floor.cpu, Cores(3)) << "the fair share";
  measured.estimate = measured.censored = false;
  pod.gpu_containers.front().written.cpu_request = Cores(8);
  EXPECT_EQ(Managed().floor.cpu, Cores(1)) << "what was seen to be enough";
}

TEST_F(AdmissionTest, AHintGivesNoLessThanTheFairShareNorThanWasWritten) {
  MeasuredProfile& measured = Measure();
  measured.workload = "w-0123456789abcdef";
  pod.labels.clear();
  measured.alike = LooserIdentitiesOf(pod);
  ASSERT_FALSE(measured.alike.arguments.empty());
  const AdmissionFigures figures = Managed();
  EXPECT_EQ(figures.hint, LooserIdentity::kArguments);
  EXPECT_EQ(figures.alike, measured.alike);
  EXPECT_EQ(figures.profile, "measured");
  EXPECT_EQ(figures.demand, Amounts(1, Cores(3), GB(60))) << "its best is with 1 core";
  EXPECT_EQ(figures.floor, Amounts(1, Cores(3), GB(60)));
  pod.gpu_containers.front().written.cpu_request = Cores(8);
  EXPECT_EQ(Managed().demand.cpu, Cores(8));
  measured.alike.arguments = "a-0000000000000000";
  EXPECT_EQ(Managed().profile, "");
  EXPECT_EQ(Managed().hint, std::nullopt);
}

TEST_F(AdmissionTest, LeavesServingPodsOfAManagedNamespaceUnlessTheyOptIn) {
  surroundings.namespace_labels[std::string(annotations::kManaged)] = "true";
  pod.scheduler.clear();
  EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kManaged);
  const std::vector<std::pair<PodOwner, Labels>> serving = {
      {{"apps/v1", "ReplicaSet", "llm-5d8", "u"}, {}},
      {{}, {{"serving.kserve.io/inferenceservice", "llm"}}},
      {{}, {{"serving.knative.dev/revision", "llm-1"}}},
      {{}, {{"app.kubernetes.io/part-of", "llminferenceservice"}}},
      {{"apps/v1", "StatefulSet", "llm", "u"}, {{"leaderworkerset.sigs.k8s.io/name", "llm"}}},
      {{"ray.io/v1", "RayCluster", "llm", "u"}, {{"ray.io/serve", "true"}}},
  };
  for (const auto& [owner, labels] : serving) {
    pod.owner = owner;
    pod.labels = labels;
    EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kInference)
        << owner.kind;
    settings.scope = Scope::kAll;
    EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kInference)
        << owner.kind;
    settings.scope = Scope::kOptIn;
    Label(annotations::kProfile, "");
    EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kManaged) << "it asks";
  }
  pod.labels = {{"ray.io/cluster", "tune"}};
  pod.owner = {"ray.io/v1", "RayCluster", "tune", "u"};
  EXPECT_EQ(Admit(pod, surroundings, settings).outcome, AdmissionOutcome::kManaged);
}

TEST_F(AdmissionTest, NamedProfilePrecedesTheMeasuredOne) {
  Measure();
  AddProfile("image", Cores(9), GB(80));
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().profile, "image");
  pod.labels.clear();
  Label(annotations::kWorkload, "bert");
  Label(annotations::kProfile, "");
  EXPECT_EQ(Managed().profile, "") << "none is asked for";
}

TEST_F(AdmissionTest, APodThatIsGoingToBeMeasuredLacksNothing) {
  Managed();
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("names no TrainingProfile")));
  settings.profiling = true;
  EXPECT_EQ(Managed().floor, Amounts(1, Cores(3), GB(60)));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST_F(AdmissionTest, AProfileThatIsNotMeasuredYetIsNotCalledInvalid) {
  AddProfile("image", Cores(9), GB(80)).object.profile = nullptr;
  Label(annotations::kProfile, "image");
  EXPECT_EQ(Managed().profile, "");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("\"image\" has not been measured yet")));
}

TEST(MayJoinGangTest, AcceptsPodsTheExtenderMayPlaceThatDidNotOptOut) {
  const AdmissionSettings settings;
  PodToAdmit pod;
  using enum AdmissionOutcome;
  for (const AdmissionOutcome outcome : {kManaged, kPodLevelResources, kSeveralContainers,
                                         kQuotaByQos, kStarting, kFullAnnotations}) {
    EXPECT_TRUE(MayJoinGang(pod, outcome, settings)) << ToString(outcome);
  }
  for (const AdmissionOutcome outcome : {kNoGpus, kExcludedNamespace, kNotAsked, kInference,
                                         kOtherScheduler, kHasNode, kStatic, kOptedOut}) {
    EXPECT_FALSE(MayJoinGang(pod, outcome, settings)) << ToString(outcome);
  }
  PodToAdmit sharer;
  sharer.gpu_containers.push_back({0, "train", GpuAmount(Gpus(0), Slices(1)), {}});
  EXPECT_FALSE(MayJoinGang(sharer, kManaged, settings)) << "it is placed alone";
  // The pod's amounts stay as written, and the extender places it.
  pod.scheduler = settings.scheduler_name;
  EXPECT_TRUE(MayJoinGang(pod, kOptedOut, settings));
  EXPECT_FALSE(MayJoinGang(pod, kNotAsked, settings));
}

}  // namespace
}  // namespace synergy
