#include "wire/admission/admission_review.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "json/document.h"
#include "support/json_tree.h"

namespace synergy::wire {
namespace {

using synergy::testing::ApplyPatch;
using synergy::testing::JsonTree;
using synergy::testing::ParseJsonTree;
using ::testing::HasSubstr;

constexpr std::string_view kGpu = "nvidia.com/gpu";

std::string ReviewOf(std::string_view object, std::string_view version = "v1",
                     std::string_view operation = "CREATE") {
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/{}","kind":"AdmissionReview","request":{{"uid":"u-1","operation":"{}",
      "namespace":"team","object":{}}}}})",
      version, operation, object);
}

// Returns a pod with a sidecar and one container with GPUs.
std::string PodWith(std::string_view resources, std::string_view more = "",
                    std::string_view metadata = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"p"{}}},"spec":{{"schedulerName":"default-scheduler","containers":[
        {{"name":"log","resources":{{"requests":{{"cpu":"100m"}}}}}},
        {{"name":"train","resources":{}{}}}]}}}})",
      metadata, resources, more);
}

constexpr std::string_view kPlain =
    R"({"requests":{"nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":"2"}})";

constexpr std::string_view kClaiming =
    R"({"metadata":{"name":"p"},"spec":{"resourceClaims":[
        {"name":"a","resourceClaimTemplateName":"two-gpus"},
        {"name":"b","resourceClaimTemplateName":"nic"},
        {"name":"c","resourceClaimName":"shared"}],
      "containers":[
        {"name":"log","resources":{"requests":{"cpu":"100m"},"claims":[{"name":"c"}]}},
        {"name":"train","resources":{"requests":{"cpu":"1"},
                                     "claims":[{"name":"b"},{"name":"a","request":"gpus"}]}}]}})";

AdmissionDecision Managed(Enforcement enforcement = Enforcement::kShared) {
  AdmissionFigures figures;
  figures.container = 1;
  figures.container_name = "train";
  figures.demand = {Gpus(2), Cores(18), GiB(64)};
  figures.fair_share = {Gpus(2), Cores(6), GiB(32)};
  figures.floor = {Gpus(2), Cores(6), GiB(32)};
  figures.enforcement = enforcement;
  figures.profile = "image";
  figures.profile_generation = 4;
  figures.workload = "w-0123456789abcdef";
  return {AdmissionOutcome::kManaged, figures, {}};
}

PodReview ReadReview(std::string_view pod) {
  const Result<PodReview> review = PodReview::Read(ReviewOf(pod), kGpu);
  EXPECT_TRUE(review);
  EXPECT_EQ(review->problem(), "");
  return *review;
}

// Returns the pod after the decision. Also checks that a second patch is empty.
JsonTree Patched(std::string_view pod, const AdmissionDecision& decision) {
  const std::string patch = ReadReview(pod).WritePatch(decision, {});
  const Result<JsonTree> tree = ApplyPatch(*ParseJsonTree(pod), patch);
  EXPECT_TRUE(tree) << tree.error().message << patch;
  EXPECT_EQ(ReadReview(tree->Write()).WritePatch(decision, {}), "[]");
  return *tree;
}

TEST(PodReviewTest, ReadsTheFieldsThatAdmissionNeeds) {
  const PodReview review = ReadReview(
      R"({"metadata":{"labels":{"a":"b"},"annotations":{"k":"vw"}},"spec":{"schedulerName":"s",
      "nodeSelector":{"disk":"ssd"},"containers":[{"name":"x"},
      {"name":"train","image":"train:1","command":["python"],"args":["a.py","-v"],
      "resources":{"limits":{"nvidia.com/gpu":2,"cpu":"1500m"}}}]}})");
  const PodToAdmit& pod = review.pod();
  EXPECT_EQ(review.head().uid, "u-1");
  EXPECT_EQ(pod.pod_namespace, "team");
  EXPECT_EQ(pod.scheduler, "s");
  EXPECT_EQ(pod.labels, Labels({{"a", "b"}}));
  EXPECT_EQ(pod.annotation_bytes, 3U);
  EXPECT_EQ(pod.selection.node_selector, Labels({{"disk", "ssd"}}));
  ASSERT_EQ(pod.gpu_containers.size(), 1U);
  EXPECT_EQ(pod.gpu_containers[0].index, 1U);
  EXPECT_EQ(pod.gpu_containers[0].name, "train");
  EXPECT_EQ(pod.gpu_containers[0].gpus, Gpus(2));
  EXPECT_EQ(pod.gpu_containers[0].written.cpu_limit, MilliCpu(1500));
  EXPECT_EQ(pod.gpu_containers[0].image, "train:1");
  EXPECT_EQ(pod.gpu_containers[0].command, std::vector<std::string>{"python"});
  EXPECT_EQ(pod.gpu_containers[0].args, (std::vector<std::string>{"a.py", "-v"}));
  EXPECT_FALSE(pod.has_node || pod.mirror || pod.pod_level_resources);
}

TEST(PodReviewTest, ReadsOfHowManyAGangIs) {
  const auto size_of = [](const std::string& metadata) {
    return ReadReview(
               R"({"metadata":)" + metadata +
               R"(,"spec":{"containers":[{"name":"train","resources":{"limits":{"nvidia.com/gpu":1}}}]}})")
        .pod()
        .gang_size;
  };
  EXPECT_EQ(size_of("{}"), 1);
  EXPECT_EQ(size_of(R"({"labels":{"synergy.io/gang":"g","synergy.io/gang-size":"4"}})"), 4);
  EXPECT_EQ(size_of(R"({"labels":{"kueue.x-k8s.io/pod-group-name":"g"},
      "annotations":{"kueue.x-k8s.io/pod-group-total-count":"3"}})"),
            3);
  EXPECT_EQ(size_of(R"({"labels":{"synergy.io/gang":"g"}})"), 0) << "which nothing was measured of";
}

TEST(PodReviewTest, ReadsWhatTheAuthorWroteAndWhatTheOtherContainersAskFor) {
  const PodReview review = ReadReview(
      R"({"metadata":{"annotations":{"kubernetes.io/limit-ranger":
        "LimitRanger plugin set: cpu request for container train; memory limit for container log"}},
      "spec":{"overhead":{"cpu":"50m"},"initContainers":[
        {"name":"proxy","restartPolicy":"Always","resources":{"requests":{"cpu":"100m","memory":"1Gi"}}},
        {"name":"once","resources":{"requests":{"cpu":"9"}}}],
      "containers":[{"name":"log","resources":{"requests":{"cpu":"200m","memory":"2Gi"}}},
      {"name":"train","resources":{"requests":{"cpu":"1","memory":"8Gi"},
        "limits":{"nvidia.com/gpu":2,"memory":"9Gi"}}}]}})");
  const PodToAdmit& pod = review.pod();
  ASSERT_EQ(pod.gpu_containers.size(), 1U);
  const WrittenAmounts& written = pod.gpu_containers[0].written;
  EXPECT_EQ(written.cpu_request, std::nullopt) << "a LimitRange's default";
  EXPECT_EQ(written.memory_request, GiB(8));
  EXPECT_EQ(written.memory_limit, GiB(9));
  EXPECT_EQ(pod.beside, (ResourceVector{Gpus(0), MilliCpu(350), GiB(3)}));
  EXPECT_FALSE(pod.guaranteed_beside);
}

TEST(PodReviewTest, OtherContainersWithLimitsThatAreTheRequestsKeepAPodGuaranteed) {
  const std::string same =
      R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1000m","memory":"1Gi"}})";
  const auto pod = [&](const std::string& beside) {
    return ReadReview(
               R"({"spec":{"containers":[{"name":"train","resources":{"limits":{"nvidia.com/gpu":1}}},)"
               R"({"name":"log","resources":)" +
               beside + "}]}}")
        .pod();
  };
  EXPECT_TRUE(pod(same).guaranteed_beside);
  EXPECT_FALSE(pod("{}").guaranteed_beside);
}

TEST(PodReviewTest, APodIsBestEffortThatAsksForNoCpuAndNoMemoryAnywhere) {
  const auto best_effort = [](const std::string& others, const std::string& training) {
    return ReadReview(R"({"spec":{)" + others + R"("containers":[{"name":"train","resources":)" +
                      training + "}]}}")
        .pod()
        .best_effort;
  };
  const std::string gpu = R"({"limits":{"nvidia.com/gpu":1}})";
  EXPECT_TRUE(best_effort("", gpu));
  EXPECT_TRUE(best_effort("", R"({"requests":{"cpu":"0"},"limits":{"nvidia.com/gpu":1}})"));
  EXPECT_FALSE(best_effort("", R"({"limits":{"nvidia.com/gpu":1,"memory":"1Gi"}})"));
  EXPECT_FALSE(best_effort(
      R"("initContainers":[{"name":"once","resources":{"requests":{"cpu":"1m"}}}],)", gpu));
}

// Returns the terms of a pod that is created with that affinity and has a profile for a product.
std::string TermsWith(std::string_view spec) {
  AdmissionDecision decision = Managed();
  decision.figures->gpu_product = "A100";
  const JsonTree pod =
      Patched(fmt::format(R"({{"metadata":{{"name":"p"}},"spec":{{{}"containers":[{{"name":"log"}},
        {{"name":"train","resources":{}}}]}}}})",
                          spec, kPlain),
              decision);
  return pod
      .At("spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/"
          "nodeSelectorTerms")
      .Write();
}

TEST(PodReviewTest, ThePodIsKeptOffNodesWithGpusOfAnotherProduct) {
  const std::string is_it = R"({"key":"nvidia.com/gpu.product","operator":"In","values":["A100"]})";
  const std::string is_absent = R"({"key":"nvidia.com/gpu.product","operator":"DoesNotExist"})";
  EXPECT_EQ(TermsWith(""), R"([{"matchExpressions":[)" + is_it + R"(]},{"matchExpressions":[)" +
                               is_absent + "]}]");
  EXPECT_EQ(TermsWith(R"("nodeSelector":{"nvidia.com/gpu.product":"A100"},)"), "null");

  const auto required = [](const std::string& terms) {
    return R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"({"nodeSelectorTerms":)" +
           terms + "}}},";
  };
  const std::string zone = R"({"key":"zone","operator":"In","values":["a","b"]})";
  const std::string fields =
      R"("matchFields":[{"key":"metadata.name","operator":"In","values":["n"]}])";
  const std::string own =
      R"({"matchExpressions":[{"key":"nvidia.com/gpu.product","operator":"In","values":["H100"]}]})";
  EXPECT_EQ(TermsWith(required(R"([{"matchExpressions":[)" + zone + "]," + fields + "}]")),
            R"([{"matchExpressions":[)" + zone + "," + is_it + "]," + fields +
                R"(},{"matchExpressions":[)" + zone + "," + is_absent + "]," + fields + "}]");
  EXPECT_EQ(TermsWith(required("[{}," + own + "]")), "[{}," + own + "]");
}

TEST(PodReviewTest, OwnAmountsAreNotTakenForTheAuthors) {
  const JsonTree first =
      Patched(PodWith(R"({"requests":{"cpu":"1"},"limits":{"nvidia.com/gpu":"2"}})"), Managed());
  const WrittenAmounts written = ReadReview(first.Write()).pod().gpu_containers[0].written;
  EXPECT_EQ(written.cpu_request, Cores(1));
  EXPECT_EQ(written.memory_request, std::nullopt);
}

TEST(PodReviewTest, SeesPodsThatAreBoundOrMirroredOrHaveResourcesOfTheirOwn) {
  EXPECT_TRUE(ReadReview(R"({"spec":{"nodeName":"n"}})").pod().has_node);
  EXPECT_TRUE(ReadReview(R"({"spec":{"resources":{}}})").pod().pod_level_resources);
  EXPECT_TRUE(ReadReview(R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"x"}}})")
                  .pod()
                  .mirror);
}

TEST(PodReviewTest, ReadsSlicesOfGpus) {
  const auto gpus_of = [](std::string_view amounts) {
    const PodReview review =
        ReadReview(PodWith(fmt::format(R"({{"limits":{{"cpu":"2",{}}}}})", amounts)));
    const std::vector<GpuContainer>& containers = review.pod().gpu_containers;
    return containers.empty() ? GpuAmount() : containers.front().gpus;
  };
  EXPECT_EQ(gpus_of(R"("nvidia.com/gpu.shared":"3")"), GpuAmount(Gpus(0), Slices(3)));
  EXPECT_EQ(gpus_of(R"("nvidia.com/gpu":"2")"), GpuAmount(Gpus(2)));
  EXPECT_EQ(gpus_of(R"("nvidia.com/gpu.shared":"-3")"), GpuAmount());
  const PodReview review = ReadReview(PodWith(R"({"limits":{"nvidia.com/gpu.shared":"1"}})"));
  EXPECT_TRUE(review.pod().SharesGpus());
  EXPECT_FALSE(review.pod().may_pack);
  const auto may_pack = [](std::string_view value) {
    return ReadReview(PodWith(kPlain, "",
                              fmt::format(R"(,"annotations":{{"synergy.io/packing":{}}})", value)))
        .pod()
        .may_pack;
  };
  EXPECT_TRUE(may_pack(R"("true")"));
  EXPECT_FALSE(may_pack(R"("yes")"));
  EXPECT_EQ(review.pod().beside.cpu, MilliCpu(100)) << "the sidecar's";
}

TEST(PodReviewTest, GpusOfNoneOrLessAreNone) {
  for (const char* amount : {"0", "-1"}) {
    EXPECT_TRUE(
        ReadReview(PodWith(fmt::format(R"({{"requests":{{"nvidia.com/gpu":"{}"}}}})", amount)))
            .pod()
            .gpu_containers.empty());
  }
}

TEST(PodReviewTest, AbsurdAmountsAreReadWithoutHarm) {
  const PodReview review = ReadReview(PodWith(
      R"({"requests":{"nvidia.com/gpu":"9e99"},"limits":{"cpu":"-99999999999999999999999"}})"));
  ASSERT_EQ(review.pod().gpu_containers.size(), 1U);
  EXPECT_GT(review.pod().gpu_containers[0].gpus.gpus, Gpus(1 << 30));
}

TEST(PodReviewTest, FiftyContainersAreNoTrouble) {
  std::string containers;
  for (int i = 0; i < 50; ++i) {
    containers +=
        fmt::format(R"({}{{"name":"c{}","resources":{{"requests":{{"nvidia.com/gpu":"1"}}}}}})",
                    i ? "," : "", i);
  }
  EXPECT_EQ(
      ReadReview("{\"spec\":{\"containers\":[" + containers + "]}}").pod().gpu_containers.size(),
      50U);
}

TEST(PodReviewTest, PodsWithoutContainersOrSpecAreNoTrouble) {
  for (const char* pod : {R"({})", R"({"spec":null})", R"({"spec":{"containers":[]}})",
                          R"({"spec":{"containers":null}})", R"({"spec":{"containers":[{}]}})"})
    EXPECT_TRUE(ReadReview(pod).pod().gpu_containers.empty()) << pod;
}

TEST(PodReviewTest, ProblemsNameTheirPath) {
  const auto problem = [](std::string_view pod) {
    const Result<PodReview> review = PodReview::Read(ReviewOf(pod), kGpu);
    EXPECT_TRUE(review);
    EXPECT_EQ(review->problem_kind(), "object");
    return review->problem();
  };
  EXPECT_EQ(problem("null"), "request.object: must be an object, not null");
  EXPECT_EQ(problem("[]"), "request.object: must be an object, not an array");
  EXPECT_EQ(problem(R"({"spec":{"containers":"x"}})"),
            "spec.containers: must be an array, not a string");
  EXPECT_THAT(problem(PodWith(R"({"requests":{"nvidia.com/gpu":"many"}})")),
              HasSubstr("\"many\" is not a quantity"));
}

TEST(PodReviewTest, HugePodHasAProblemAndCanBeAnswered) {
  std::string many = "0";
  for (int i = 0; i < 70'000; ++i) many += ",0";
  const auto review =
      PodReview::Read(ReviewOf(PodWith(kPlain, "", R"(,"odd":[)" + many + "]")), kGpu);
  ASSERT_TRUE(review);
  EXPECT_EQ(review->problem(), "request.object: has more than 65536 values");
  EXPECT_FALSE(review->head().uid.empty());
}

TEST(PodReviewTest, OtherVersionsAndOperationsCanBeAnswered) {
  const auto beta = PodReview::Read(ReviewOf(PodWith(kPlain), "v1beta1"), kGpu);
  ASSERT_TRUE(beta);
  EXPECT_EQ(beta->problem_kind(), "version");
  EXPECT_EQ(beta->head().api_version, "admission.k8s.io/v1beta1");
  const auto update = PodReview::Read(ReviewOf(PodWith(kPlain), "v1", "UPDATE"), kGpu);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->problem_kind(), "operation");
}

TEST(PodReviewTest, OtherTextCannotBeAnswered) {
  for (const char* text :
       {"", "{", "null", "[]", "{}", R"({"kind":"Pod","apiVersion":"v1"})",
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
        R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":7}})"})
    EXPECT_FALSE(PodReview::Read(text, kGpu)) << text;
}

TEST(PodPatchTest, SetsTheFloorAndWritesDownTheFigures) {
  const JsonTree pod = Patched(PodWith(kPlain), Managed());
  EXPECT_EQ(pod.At("spec/containers/1/resources").Write(),
            R"({"limits":{"nvidia.com/gpu":"2"},)"
            R"("requests":{"cpu":"6","memory":"32Gi","nvidia.com/gpu":"2"}})");
  EXPECT_EQ(pod.At("spec/schedulerName").text, "synergy-scheduler");
  const JsonTree& annotations = pod.At("metadata/annotations");
  EXPECT_EQ(annotations.At("synergy.io~1container").text, "train");
  EXPECT_EQ(annotations.At("synergy.io~1demand").text, R"({"cpu":"18","memory":"64Gi"})");
  EXPECT_EQ(annotations.At("synergy.io~1fair-share").text, R"({"cpu":"6","memory":"32Gi"})");
  EXPECT_EQ(annotations.At("synergy.io~1floor").text, R"({"cpu":"6","memory":"32Gi"})");
  EXPECT_EQ(annotations.At("synergy.io~1profile").text, "image");
  EXPECT_EQ(annotations.At("synergy.io~1profile-generation").text, "4");
  EXPECT_EQ(annotations.At("synergy.io~1workload").text, "w-0123456789abcdef");
  EXPECT_EQ(annotations.At("synergy.io~1enforcement").text, "shared");
  EXPECT_EQ(annotations.At("synergy.io~1original").text,
            R"({"requests":{"nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":"2"}})");
  EXPECT_EQ(pod.At("spec/containers/1/resizePolicy").Write(),
            R"([{"resourceName":"cpu","restartPolicy":"NotRequired"},)"
            R"({"resourceName":"memory","restartPolicy":"NotRequired"}])");
}

TEST(PodPatchTest, TheSizeOfItsGangIsALabel) {
  AdmissionDecision decision = Managed();
  decision.gang_size = 4;
  EXPECT_EQ(Patched(PodWith(kPlain), decision).At("metadata/labels/synergy.io~1gang-size").text,
            "4");
  // Everything else stays as written.
  decision = {AdmissionOutcome::kStarting, std::nullopt, {}, 4};
  const JsonTree pod = Patched(PodWith(kPlain, "", R"(,"labels":{"a":"b"})"), decision);
  EXPECT_EQ(pod.At("metadata/labels/synergy.io~1gang-size").text, "4");
  EXPECT_EQ(pod.At("metadata/labels/a").text, "b");
  EXPECT_EQ(ReadReview(PodWith(kPlain)).WritePatch({}, {}), "[]");
}

TEST(PodPatchTest, ASizeThatIsNotToCountIsWrittenOver) {
  const std::string labels_text =
      R"(,"labels":{"synergy.io/gang":"deep","synergy.io/gang-size":"3"})";
  const AdmissionDecision decision = {AdmissionOutcome::kStarting, std::nullopt, {}, 1};
  const JsonTree labels = Patched(PodWith(kPlain, "", labels_text), decision).At("metadata/labels");
  EXPECT_EQ(labels.At("synergy.io~1gang-size").text, "1");
  EXPECT_EQ(labels.At("synergy.io~1gang").text, "deep");
}

TEST(PodPatchTest, TheNameOfItsGangAndWhatItIsToBeWithinAreLabelsBesideTheSize) {
  AdmissionDecision decision = Managed();
  decision.gang_name = "bert";
  decision.gang_within = "rack";
  const auto text = [&] { return Patched(PodWith(kPlain), decision).At("metadata").Write(); };
  EXPECT_EQ(text().find("synergy.io/gang"), std::string::npos);
  decision.gang_size = 4;
  const JsonTree labels = Patched(PodWith(kPlain), decision).At("metadata/labels");
  EXPECT_EQ(labels.At("synergy.io~1gang").text, "bert");
  EXPECT_EQ(labels.At("synergy.io~1gang-size").text, "4");
  EXPECT_EQ(labels.At("synergy.io~1gang-within").text, "rack");
}

TEST(PodPatchTest, OnlySynergyWritesTheSpreadCostAnnotation) {
  AdmissionDecision decision = Managed();
  const std::string forged = R"(,"annotations":{"synergy.io/spread-cost":"nodes=1"})";
  const auto annotations = [&] {
    return Patched(PodWith(kPlain, "", forged), decision).At("metadata/annotations");
  };
  EXPECT_EQ(annotations().Write().find("spread-cost"), std::string::npos);
  decision.figures->spread = {.nodes = 0.7, .racks = 0.5};
  EXPECT_EQ(annotations().At("synergy.io~1spread-cost").text, "nodes=0.7,racks=0.5");
}

TEST(PodPatchTest, OtherContainersStayAsTheyAre) {
  const JsonTree pod = Patched(PodWith(kPlain), Managed());
  EXPECT_EQ(pod.At("spec/containers/0").Write(),
            R"({"name":"log","resources":{"requests":{"cpu":"100m"}}})");
}

TEST(PodPatchTest, StrictEnforcementLimitsCpuToo) {
  const JsonTree pod = Patched(PodWith(kPlain), Managed(Enforcement::kStrict));
  EXPECT_EQ(pod.At("spec/containers/1/resources/limits/cpu").text, "6");
  EXPECT_EQ(pod.At("metadata/annotations/synergy.io~1enforcement").text, "strict");
}

TEST(PodPatchTest, AddsAMemoryLimitOnDecision) {
  AdmissionDecision decision = Managed(Enforcement::kStrict);
  decision.figures->memory_limit = GiB(32);
  const JsonTree pod = Patched(PodWith(kPlain), decision);
  EXPECT_EQ(pod.At("spec/containers/1/resources/limits/memory").text, "32Gi");
}

TEST(PodPatchTest, APlaceholderIsMarkedAndAForgedMarkRemoved) {
  AdmissionDecision decision = Managed();
  decision.figures->placeholder = "no node has 2 GPUs";
  JsonTree pod = Patched(PodWith(kPlain), decision);
  EXPECT_EQ(pod.At("metadata/annotations/synergy.io~1placeholder").text, "no node has 2 GPUs");
  pod = Patched(pod.Write(), Managed());
  EXPECT_FALSE(pod.At("metadata/annotations").members.contains("synergy.io/placeholder"));
}

TEST(PodPatchTest, SharedEnforcementLeavesTheUsersLimits) {
  const JsonTree pod =
      Patched(PodWith(R"({"limits":{"nvidia.com/gpu":"2","cpu":"8","memory":"40Gi"}})"), Managed());
  EXPECT_EQ(pod.At("spec/containers/1/resources/limits").Write(),
            R"({"cpu":"8","memory":"40Gi","nvidia.com/gpu":"2"})");
}

TEST(PodPatchTest, TheSameAmountInOtherWordsStays) {
  const JsonTree pod = Patched(
      PodWith(
          R"({"requests":{"cpu":"6000m","memory":34359738368},"limits":{"nvidia.com/gpu":"2","memory":"32768Mi"}})"),
      Managed());
  EXPECT_EQ(pod.At("spec/containers/1/resources/requests").Write(),
            R"({"cpu":"6000m","memory":34359738368})");
}

TEST(PodPatchTest, SetsTheAllocationVariablesUnlessTheUserDid) {
  JsonTree pod =
      Patched(PodWith(kPlain, R"x(,"env":[{"name":"A","value":"$(SYNERGY_CPUS)"}])x"), Managed());
  const std::string_view env = "spec/containers/1/env";
  ASSERT_EQ(pod.At(env).elements.size(), 3U);
  EXPECT_EQ(
      pod.At("spec/containers/1/env/0").Write(),
      R"({"name":"SYNERGY_CPUS","valueFrom":{"resourceFieldRef":{"divisor":"1","resource":"requests.cpu"}}})");
  EXPECT_EQ(
      pod.At("spec/containers/1/env/1").Write(),
      R"({"name":"SYNERGY_MEMORY","valueFrom":{"resourceFieldRef":{"divisor":"1","resource":"requests.memory"}}})");
  EXPECT_EQ(pod.At("spec/containers/1/env/2/name").text, "A");
  pod = Patched(PodWith(kPlain, R"(,"env":[{"name":"SYNERGY_CPUS","value":"4"}])"), Managed());
  EXPECT_EQ(pod.At(env).elements.size(), 2U);
  EXPECT_EQ(pod.At("spec/containers/1/env/1/value").text, "4");
}

TEST(PodPatchTest, VariableHasTheMostCpuInWholeCores) {
  AdmissionDecision decision = Managed();
  decision.figures->most_cpu = MilliCpu(11'200);
  const JsonTree pod = Patched(PodWith(kPlain), decision);
  EXPECT_EQ(pod.At("spec/containers/1/env/0").Write(), R"({"name":"SYNERGY_CPUS","value":"12"})");
  EXPECT_EQ(pod.At("spec/containers/1/env/1/name").text, "SYNERGY_MEMORY");
}

TEST(PodPatchTest, AVolumeForProgressIsAddedBesideThoseOfTheAuthor) {
  AdmissionDecision decision = Managed();
  JsonTree pod = Patched(PodWith(kPlain), decision);
  EXPECT_FALSE(pod.At("spec").members.contains("volumes"));
  decision.figures->progress_file = true;
  pod = Patched(PodWith(kPlain, R"(,"volumeMounts":[{"name":"d","mountPath":"/d"}])"), decision);
  EXPECT_EQ(pod.At("spec/volumes").Write(),
            R"([{"emptyDir":{"medium":"Memory","sizeLimit":"64Ki"},"name":"synergy-progress"}])");
  EXPECT_EQ(
      pod.At("spec/containers/1/volumeMounts").Write(),
      R"([{"mountPath":"/run/synergy-progress","name":"synergy-progress"},{"mountPath":"/d","name":"d"}])");
  EXPECT_FALSE(pod.At("spec/containers/0").members.contains("volumeMounts"));
  ASSERT_EQ(pod.At("spec/containers/1/env").elements.size(), 3U);
  EXPECT_EQ(Patched(pod.Write(), decision).Write(), pod.Write()) << "once is enough";
}

TEST(PodPatchTest, AVolumeForProgressReplacesNothing) {
  AdmissionDecision decision = Managed();
  decision.figures->progress_file = true;
  const std::string taken = R"([{"mountPath":"/run/synergy-progress","name":"own"}])";
  JsonTree pod = Patched(PodWith(kPlain, R"(,"volumeMounts":)" + taken), decision);
  EXPECT_EQ(pod.At("spec/containers/1/volumeMounts").Write(), taken);
  EXPECT_FALSE(pod.At("spec").members.contains("volumes"));
  const std::string own = R"([{"mountPath":"/p","name":"synergy-progress"}])";
  pod = Patched(PodWith(kPlain, R"(,"volumeMounts":)" + own), decision);
  EXPECT_EQ(pod.At("spec/containers/1/volumeMounts").Write(), own);
  EXPECT_EQ(pod.At("spec/volumes").elements.size(), 1U);
}

TEST(PodPatchTest, ARestartOnResizeIsNotWhatWeNeed) {
  const JsonTree pod = Patched(
      PodWith(kPlain,
              R"(,"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}])"),
      Managed());
  EXPECT_EQ(pod.At("spec/containers/1/resizePolicy/0/restartPolicy").text, "NotRequired");
}

TEST(PodPatchTest, ReplacesOrRemovesForgedAnnotations) {
  const JsonTree pod =
      Patched(PodWith(kPlain, "",
                      R"(,"annotations":{"synergy.io/floor":"{\"cpu\":\"99\",\"memory\":\"9Ti\"}",
      "synergy.io/original":"{}","synergy.io/change":"x","synergy.io/hold":"x",
      "synergy.io/unshrinkable-until":"x","mine":"stays"})"),
              Managed());
  const JsonTree& annotations = pod.At("metadata/annotations");
  EXPECT_EQ(annotations.At("synergy.io~1floor").text, R"({"cpu":"6","memory":"32Gi"})");
  EXPECT_THAT(annotations.At("synergy.io~1original").text, HasSubstr("nvidia.com/gpu"));
  EXPECT_EQ(annotations.At("mine").text, "stays");
  for (const char* key : {"change", "hold", "unshrinkable-until"})
    EXPECT_FALSE(annotations.members.contains(std::string("synergy.io/") + key)) << key;
}

TEST(PodPatchTest, NothingThatProgramsActOnComesFromTheCreator) {
  std::string forged;
  for (const std::string_view key : annotations::kWrittenByPrograms)
    forged += fmt::format(R"({}"{}":"forged")", forged.empty() ? "" : ",", key);
  const std::string pod = PodWith(kPlain, "", fmt::format(R"(,"annotations":{{{}}})", forged));
  AdmissionDecision without_profile = Managed();
  without_profile.figures->profile.clear();
  without_profile.figures->gpu_product.clear();
  for (const AdmissionDecision& decision :
       {Managed(), without_profile, AdmissionDecision{AdmissionOutcome::kOptedOut, {}, {}},
        AdmissionDecision{AdmissionOutcome::kNoGpus, {}, {}},
        AdmissionDecision{AdmissionOutcome::kStarting, {}, {}}}) {
    const JsonTree patched = Patched(pod, decision);
    for (const auto& [key, value] : patched.At("metadata/annotations").members)
      EXPECT_NE(value.text, "forged") << key << " of " << ToString(decision.outcome);
  }
}

TEST(PodPatchTest, WithoutAProfileNoneIsClaimed) {
  AdmissionDecision decision = Managed();
  decision.figures->profile.clear();
  const JsonTree pod = Patched(
      PodWith(kPlain, "",
              R"(,"annotations":{"synergy.io/profile":"p","synergy.io/profile-generation":"7"})"),
      decision);
  EXPECT_FALSE(pod.At("metadata/annotations").members.contains("synergy.io/profile"));
  EXPECT_FALSE(pod.At("metadata/annotations").members.contains("synergy.io/profile-generation"));
}

TEST(PodPatchTest, TheOriginalSurvivesASecondReviewWithOtherFigures) {
  const JsonTree first =
      Patched(PodWith(R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"nvidia.com/gpu":"2"}})"),
              Managed());
  AdmissionDecision later = Managed();
  later.figures->floor.cpu = Cores(5);
  const JsonTree second = Patched(first.Write(), later);
  EXPECT_EQ(second.At("spec/containers/1/resources/requests/cpu").text, "5");
  EXPECT_EQ(second.At("metadata/annotations/synergy.io~1original").text,
            R"({"requests":{"cpu":"1","memory":"1Gi"},"limits":{"nvidia.com/gpu":"2"}})");
}

TEST(PodPatchTest, AnEndlessListOfResourcesIsNotCopied) {
  std::string requests = R"("cpu":"1","memory":"1Gi")";
  for (int i = 0; i < 1000; ++i) requests += fmt::format(R"(,"example.com/thing-{}":"1")", i);
  const JsonTree pod =
      Patched(PodWith("{\"requests\":{" + requests + "},\"limits\":{\"nvidia.com/gpu\":\"2\"}}"),
              Managed());
  EXPECT_EQ(pod.At("metadata/annotations/synergy.io~1original").text,
            R"({"limits":{},"requests":{"cpu":"1","memory":"1Gi"}})");
}

TEST(PodPatchTest, AContainerWithoutResourcesCanBePatched) {
  const std::string pod = R"({"spec":{"containers":[{"name":"a"},{"name":"train"}]}})";
  EXPECT_EQ(Patched(pod, Managed()).At("spec/containers/1/resources").Write(),
            R"({"requests":{"cpu":"6","memory":"32Gi"}})");
}

TEST(PodPatchTest, APodThatIsLeftLosesOnlyWhatWouldPassForOurWords) {
  const std::string pod =
      PodWith(kPlain, "",
              R"(,"annotations":{"synergy.io/container":"train","synergy.io/floor":"{}",
      "synergy.io/demand":"{}","mine":"stays"})");
  const JsonTree left = Patched(pod, {AdmissionOutcome::kOtherScheduler, std::nullopt, {}});
  EXPECT_EQ(left.At("metadata/annotations").Write(), R"({"mine":"stays"})");
  EXPECT_EQ(left.At("spec"), ParseJsonTree(pod)->At("spec"));
  EXPECT_EQ(
      ReadReview(pod).WritePatch({AdmissionOutcome::kExcludedNamespace, std::nullopt, {}}, {}),
      "[]");
}

TEST(ReviewAnswerTest, RepeatsTheHeadAndHasPatchAndTypeTogetherOrNeither) {
  const ReviewHead head{"admission.k8s.io/v1beta1", "u\"1"};
  EXPECT_EQ(
      WriteReviewAnswer(head, {}),
      R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"uid":"u\"1","allowed":true}})");
  EXPECT_EQ(
      WriteReviewAnswer(head, {.patch = "[1]", .warnings = {"a", "b"}}),
      R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"uid":"u\"1","allowed":true,)"
      R"("patchType":"JSONPatch","patch":"WzFd","warnings":["a","b"]}})");
}

TEST(ReviewAnswerTest, RefusalHasItsReason) {
  EXPECT_THAT(
      WriteReviewAnswer({"v", "u"}, {.allowed = false, .message = "spec.points: no"}),
      HasSubstr(
          R"("allowed":false,"status":{"code":422,"reason":"Invalid","message":"spec.points: no"})"));
}

TEST(ReviewAnswerTest, ALongWarningIsCutAndStaysJson) {
  std::string warning(1023, 'x');
  warning += "\xc3\xa4";
  const std::string answer = WriteReviewAnswer({"v", "u"}, {.warnings = {warning}});
  EXPECT_LT(answer.size(), 1200U);
  EXPECT_TRUE(json::Document::Parse(answer));
}

TEST(ReviewAnswerTest, PatchesOfEveryLengthAreWholeBase64) {
  for (const auto& [patch, base64] :
       {std::pair("a", "YQ=="), std::pair("ab", "YWI="), std::pair("abc", "YWJj"),
        std::pair("\xff\xfe\xfd", "//79")}) {
    EXPECT_THAT(WriteReviewAnswer({"v", "u"}, {.patch = patch}),
                HasSubstr(fmt::format(R"("patch":"{}")", base64)));
  }
}

// Returns a Job with that pod as its template.
std::string JobWith(std::string_view metadata, const std::string& pod) {
  return fmt::format(R"({{"metadata":{{"name":"j"{}}},"spec":{{"template":{}}}}})", metadata, pod);
}

constexpr std::string_view kQueued = R"(,"labels":{"kueue.x-k8s.io/queue-name":"queue"})";

JobReview ReadJob(std::string_view job) {
  Result<JobReview> review = JobReview::Read(ReviewOf(job), kGpu);
  EXPECT_TRUE(review) << review.error().message;
  return *review;
}

TEST(JobReviewTest, ATemplateIsReadAsAPodAndGetsItsRequests) {
  const std::string job = JobWith(kQueued, PodWith(kPlain));
  const JobReview review = ReadJob(job);
  EXPECT_EQ(review.problem(), "");
  EXPECT_TRUE(review.counted());
  EXPECT_EQ(review.pod().pod_namespace, "team");
  ASSERT_EQ(review.pod().gpu_containers.size(), 1U);
  EXPECT_EQ(review.pod().gpu_containers[0].gpus, Gpus(2));
  const auto sized =
      ApplyPatch(*ParseJsonTree(job),
                 review.WritePatch({.container = 1, .cpu = MilliCpu(2900), .memory = GiB(20)}));
  const std::string requests = "spec/template/spec/containers/1/resources/requests/";
  ASSERT_TRUE(sized);
  EXPECT_EQ(sized->At(requests + "cpu").text, "2900m");
  EXPECT_EQ(sized->At(requests + "memory").text, "20Gi");
  EXPECT_EQ(review.WritePatch({}), "[]");
}

TEST(JobReviewTest, AJobIsCountedByItselfInAQueueAndWithoutAController) {
  EXPECT_FALSE(ReadJob(JobWith("", PodWith(kPlain))).counted());
  const std::string owned =
      std::string(kQueued) +
      R"(,"ownerReferences":[{"kind":"JobSet","name":"s","controller":true}])";
  EXPECT_FALSE(ReadJob(JobWith(owned, PodWith(kPlain))).counted());
}

TEST(JobReviewTest, ProblemsAreNamed) {
  EXPECT_THAT(ReadJob(R"({"spec":{"template":[]}})").problem(), HasSubstr("template"));
  const Result<JobReview> update =
      JobReview::Read(ReviewOf(JobWith(kQueued, PodWith(kPlain)), "v1", "UPDATE"), kGpu);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->problem_kind(), "operation");
}

TEST(AdmissionReviewTest, ContainersHaveTheTemplatesOfTheirClaims) {
  const PodToAdmit pod = ReadReview(kClaiming).pod();
  EXPECT_TRUE(pod.gpu_containers.empty());
  ASSERT_EQ(pod.claiming_containers.size(), 1U);
  const ClaimingContainer& found = pod.claiming_containers.front();
  EXPECT_EQ(found.container.index, 1U);
  EXPECT_EQ(found.container.name, "train");
  EXPECT_EQ(found.container.asks.cpu_request, Cores(1));
  EXPECT_EQ(found.templates, (std::vector<std::string>{"two-gpus", "nic"}));
  EXPECT_EQ(found.beside.cpu, MilliCpu(100));
}

}  // namespace
}  // namespace synergy::wire
