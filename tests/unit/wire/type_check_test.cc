#include "wire/kueue/type_check.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

template <class T>
T OnlyItem(const std::string& text) {
  const Result<ListPage<T>> page =
      ObjectReader("nvidia.com/gpu").ReadList<T>(fmt::format(R"({{"items":[{}]}})", text));
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

constexpr char kContainers[] =
    R"("containers":[{"name":"c","image":"train","resources":{"limits":{"nvidia.com/gpu":"2"}}}])";

// Returns a Workload with a pod set with GPUs and one without.
Workload ReadWorkload(const std::string& metadata, const std::string& spec,
                      const std::string& status) {
  return OnlyItem<Workload>(fmt::format(
      R"({{"metadata":{{"name":"a","namespace":"team","uid":"u","resourceVersion":"7"}},
          "spec":{{"queueName":"q","podSets":[
            {{"name":"head","count":1,"template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}},
            {{"name":"main","count":2,"template":{{"metadata":{{{}}},"spec":{{{}{}}}}}}}]}},
          "status":{{{}}}}})",
      metadata, kContainers, spec, status));
}

TEST(TypeChecks, WorkloadHasTheStatesOfItsChecks) {
  const Workload workload = ReadWorkload("", "", R"("admissionChecks":[
      {"name":"other","state":"Ready","message":"","lastTransitionTime":"2026-11-21T07:00:00Z"},
      {"name":"synergy-rounds","state":"Ready","message":"why",
       "lastTransitionTime":"2026-11-21T07:00:05Z","podSetUpdates":[
         {"name":"main","nodeSelector":{"nvidia.com/gpu.product":"K80"}}]}])");
  ASSERT_EQ(workload.checks.size(), 2U);
  EXPECT_EQ(workload.checks[0].product, "");
  EXPECT_EQ(workload.checks[1].name, "synergy-rounds");
  EXPECT_EQ(workload.checks[1].state, "Ready");
  EXPECT_EQ(workload.checks[1].product, "K80");
  EXPECT_EQ(workload.checks[1].message, "why");
  EXPECT_EQ(workload.checks[1].since, *ParseTime("2026-11-21T07:00:05Z"));
  EXPECT_THAT(workload.gpu_sets, ElementsAre("main"));
  EXPECT_EQ(workload.pod_gpus, Gpus(2));
}

TEST(TypeChecks, ATypeThatTheLabelNamesIsTheOnlyOne) {
  EXPECT_EQ(ReadWorkload("", "", "").products, std::nullopt);
  EXPECT_THAT(ReadWorkload(R"("labels":{"synergy.io/gpu-product":"V100"})", "", "").products,
              Optional(ElementsAre("V100")));
}

TEST(TypeChecks, NodesThatTheUserChoosesAreThoseOfSelectorAndAffinity) {
  EXPECT_THAT(ReadWorkload("", R"(,"tolerations":[{"operator":"Exists"}])", "").selections,
              IsEmpty());
  const Workload chosen = ReadWorkload("",
                                       R"(,"nodeSelector":{"zone":"a"},"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[
        {"key":"nvidia.com/gpu.product","operator":"NotIn","values":["K80"]}]}]}}})",
                                       "");
  NodeSelection selection;
  selection.node_selector = {{"zone", "a"}};
  selection.has_affinity = true;
  selection.terms = {{{.key = "nvidia.com/gpu.product",
                       .op = NodeRequirement::Operator::kNotIn,
                       .values = {"K80"}}}};
  EXPECT_THAT(chosen.selections, ElementsAre(selection));
  EXPECT_EQ(chosen.products, std::nullopt);
}

TEST(TypeChecks, JobHasItsWorkloadIdentityAndDeadline) {
  const Workload named =
      ReadWorkload(R"("labels":{"synergy.io/workload":"bert","synergy.io/profile":"p"},
              "annotations":{"synergy.io/deadline":"2026-11-21T07:00:00Z"})",
                   "", "");
  EXPECT_EQ(named.alike, "bert");
  EXPECT_EQ(named.profile, "p");
  EXPECT_EQ(named.deadline, ParseTime("2026-11-21T07:00:00Z"));
  const Workload unnamed = ReadWorkload(R"("annotations":{"synergy.io/deadline":"soon"})", "", "");
  EXPECT_EQ(unnamed.alike.substr(0, 2), "w-");
  EXPECT_EQ(unnamed.deadline, std::nullopt);
}

TEST(TypeChecks, AnAnswerIsOfTheWorkloadThatWasRead) {
  Workload workload = ReadWorkload("", "", R"("admissionChecks":[{"name":"other","state":"Ready"},
      {"name":"synergy-rounds","state":"Pending"}])");
  const CheckAnswer answer{CheckPhase::kReady, "K80", "it is its turn",
                           *ParseTime("2026-11-21T07:00:00Z")};
  EXPECT_EQ(
      WriteCheckAnswer(workload, 1, answer),
      R"([{"op":"replace","path":"/metadata/uid","value":"u"},)"
      R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"},)"
      R"({"op":"replace","path":"/status/admissionChecks/1","value":{"name":"synergy-rounds",)"
      R"("state":"Ready","lastTransitionTime":"2026-11-21T07:00:00.000000Z","message":"it is its turn",)"
      R"("podSetUpdates":[{"name":"main","nodeSelector":{"nvidia.com/gpu.product":"K80"}}]}}])");
  EXPECT_EQ(
      WriteCheckAnswer(workload, 1, {CheckPhase::kRetry, "", "moves", answer.at}),
      R"([{"op":"replace","path":"/metadata/uid","value":"u"},)"
      R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"},)"
      R"({"op":"replace","path":"/status/admissionChecks/1","value":{"name":"synergy-rounds",)"
      R"("state":"Retry","lastTransitionTime":"2026-11-21T07:00:00.000000Z","message":"moves",)"
      R"("requeueAfterSeconds":1}}])");
}

TEST(TypeChecks, CheckHasAnActiveCondition) {
  const std::string check =
      R"({"metadata":{"name":"synergy-rounds","uid":"c"},"spec":{"controllerName":"synergy.io/rounds"})";
  const auto silent = OnlyItem<AdmissionCheck>(check + "}");
  EXPECT_FALSE(silent.active);
  const auto active = OnlyItem<AdmissionCheck>(
      check + R"(,"status":{"conditions":[{"type":"Active","status":"True"}]}})");
  EXPECT_TRUE(active.active);
  EXPECT_EQ(active.controller, kTypeCheckController);
  EXPECT_EQ(WriteCheckActive(silent, *ParseTime("2026-11-21T07:00:00Z")),
            R"({"metadata":{"uid":"c"},"status":{"conditions":[{"type":"Active","status":"True",)"
            R"("reason":"Answered","message":"synergy-controller answers it",)"
            R"("lastTransitionTime":"2026-11-21T07:00:00.000000Z"}]}})");
}

TEST(TypeChecks, FlavorOfATypeHasItsProduct) {
  const auto flavor = OnlyItem<ResourceFlavor>(
      R"({"metadata":{"name":"k80s","uid":"f"},"spec":{"nodeLabels":{"nvidia.com/gpu.product":"K80"}}})");
  EXPECT_EQ(flavor.product, "K80");
}

}  // namespace
}  // namespace synergy::wire
