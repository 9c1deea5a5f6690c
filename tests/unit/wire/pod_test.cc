#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

const ObjectReader& PodReader() {
  static const ObjectReader reader("nvidia.com/gpu");
  return reader;
}

Pod ReadValidPod(std::string_view text, PodUse use = PodUse::kIncoming) {
  Result<Pod> pod = PodReader().ReadPod(text, use);
  EXPECT_TRUE(pod) << text << ": " << pod.error().message;
  return pod ? std::move(*pod) : Pod();
}

std::string Refusal(std::string_view text, PodUse use = PodUse::kIncoming) {
  const Result<Pod> pod = PodReader().ReadPod(text, use);
  EXPECT_FALSE(pod) << text << ": accepted";
  return pod ? std::string() : pod.error().message;
}

// Returns a pod that requests 2 GPUs, 4 cores and 8 GiB, with `demand` as the text of its
// annotation.
std::string PodWithDemand(std::string_view demand) {
  std::string text =
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"4","memory":"8Gi","nvidia.com/gpu":"2"}}}]},)"
      R"("metadata":{"annotations":{"synergy.io/demand":)";
  json::AppendJsonString(text, demand);
  return text + "}}}";
}

TEST(ReadPod, ReadsWhatSchedulingNeeds) {
  const Pod pod = ReadValidPod(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "train-0", "namespace": "team-a", "uid": "12-34", "labels": {"b": "2", "a": "1"},
                 "annotations": {"other": "x"}, "managedFields": [{"fieldsV1": {"f:metadata": {}}}]},
    "spec": {"nodeName": "node-1", "priority": -7, "unknown": [1, {"a": null}],
             "containers": [{"name": "c", "resources": {"requests":
                {"cpu": "1500m", "memory": "2Gi", "nvidia.com/gpu": "4", "example.com/nic": "1"}}}]},
    "status": {"phase": "Running"}})");
  EXPECT_EQ(pod.name, "train-0");
  EXPECT_EQ(pod.pod_namespace, "team-a");
  EXPECT_EQ(pod.uid, "12-34");
  EXPECT_EQ(pod.node, "node-1");
  EXPECT_EQ(pod.priority, -7);
  EXPECT_THAT(pod.labels, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_EQ(pod.requests.main, (ResourceVector{Gpus(4), MilliCpu(1500), GiB(2)}));
  EXPECT_THAT(pod.requests.other.entries(), ElementsAre(Pair("example.com/nic", 1)));
  EXPECT_FALSE(pod.demand);
  EXPECT_FALSE(pod.terminal);
  EXPECT_FALSE(pod.deleting);
  EXPECT_FALSE(pod.gated);
  EXPECT_FALSE(pod.tolerates_unschedulable);
}

TEST(ReadPod, TakesNullAndAbsentFieldsForEmptyOnes) {
  for (const std::string_view text :
       {R"({})", R"({"metadata":null,"spec":null,"status":null})",
        R"({"metadata":{"name":null,"labels":null,"annotations":null,"deletionTimestamp":null},
            "spec":{"containers":null,"initContainers":null,"overhead":null,"resources":null,"priority":null,
                    "tolerations":null,"schedulingGates":null,"nodeName":null},
            "status":{"phase":null,"containerStatuses":null,"conditions":null}})",
        R"({"spec":{"containers":[{},{"resources":null},{"resources":{"requests":null}}]}})"}) {
    const Pod pod = ReadValidPod(text, PodUse::kAccounted);
    EXPECT_EQ(pod.requests, Resources()) << text;
    EXPECT_TRUE(pod.uid.empty() && pod.labels.empty() && !pod.gated && !pod.deleting) << text;
  }
}

TEST(ReadPod, ReadsTheGracePeriod) {
  const auto grace = [](const std::string& spec) {
    return ReadValidPod(R"({"spec":)" + spec + "}").grace;
  };
  EXPECT_EQ(grace(R"({"terminationGracePeriodSeconds":1200})"), std::chrono::minutes(20));
  EXPECT_EQ(grace(R"({"terminationGracePeriodSeconds":9223372036854775807})"),
            std::chrono::hours(24));
  EXPECT_EQ(grace("{}"), Duration::zero());
}

TEST(ReadPod, RecognizesAFailedAlignment) {
  const auto misaligned = [](const std::string& phase, const std::string& reason) {
    return ReadValidPod(R"({"status":{"phase":")" + phase + R"(","reason":")" + reason + R"("}})")
        .misaligned;
  };
  EXPECT_TRUE(misaligned("Failed", "TopologyAffinityError"));
  EXPECT_FALSE(misaligned("Failed", "OutOfcpu"));
  EXPECT_FALSE(misaligned("Running", "TopologyAffinityError"));
}

TEST(ReadPod, OnlySucceededAndFailedAreTerminal) {
  for (const auto& [phase, terminal] :
       std::vector<std::pair<std::string, bool>>{{"Succeeded", true},
                                                 {"Failed", true},
                                                 {"Running", false},
                                                 {"Pending", false},
                                                 {"Unknown", false},
                                                 {"", false}}) {
    EXPECT_EQ(ReadValidPod(R"({"status":{"phase":")" + phase + R"("}})").terminal, terminal)
        << phase;
  }
}

TEST(ReadPod, SeesDeletionAndGates) {
  EXPECT_TRUE(
      ReadValidPod(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})").deleting);
  EXPECT_TRUE(ReadValidPod(R"({"spec":{"schedulingGates":[{"name":"example.com/wait"}]}})").gated);
  EXPECT_FALSE(ReadValidPod(R"({"spec":{"schedulingGates":[]}})").gated);
}

TEST(ReadPod, RecognizesTolerationsOfCordonedNodes) {
  const std::vector<std::pair<std::string, bool>> cases = {
      {R"({"operator":"Exists"})", true},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists"})", true},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists","effect":"NoSchedule"})",
       true},
      {R"({"key":"node.kubernetes.io/unschedulable"})", true},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Equal","value":""})", true},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists","value":"ignored"})", true},
      {R"({})", true},
      {R"({"key":"node.kubernetes.io/unschedulable","value":"x"})", false},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Exists","effect":"NoExecute"})",
       false},
      {R"({"key":"node.kubernetes.io/not-ready","operator":"Exists"})", false},
      {R"({"key":"node.kubernetes.io/unschedulable","operator":"Gt"})", false},
      {R"({"operator":"exists"})", false},
  };
  for (const auto& [toleration, tolerates] : cases) {
    EXPECT_EQ(
        ReadValidPod(R"({"spec":{"tolerations":[)" + toleration + "]}}").tolerates_unschedulable,
        tolerates)
        << toleration;
  }
  EXPECT_FALSE(ReadValidPod(R"({"spec":{"tolerations":[]}})").tolerates_unschedulable);
  EXPECT_FALSE(ReadValidPod(R"({"spec":{"tolerations":[null]}})").tolerates_unschedulable);
  EXPECT_TRUE(
      ReadValidPod(R"({"spec":{"tolerations":[{"key":"a"},{"operator":"Exists"},{"key":"b"}]}})")
          .tolerates_unschedulable);
}

TEST(ReadPod, TheLastOfEqualKeysCounts) {
  const Pod pod = ReadValidPod(
      R"({"metadata":{"labels":{"a":"1","b":"2","a":"3"},"name":"x","name":"y"},
          "spec":{"overhead":{"cpu":"1","cpu":"2"}}})");
  EXPECT_THAT(pod.labels, ElementsAre(Pair("a", "3"), Pair("b", "2")));
  EXPECT_EQ(pod.name, "y");
  EXPECT_EQ(pod.requests.main.cpu, Cores(2));
}

TEST(ReadPod, ReadsTheDemandAnnotation) {
  const Pod pod = ReadValidPod(PodWithDemand(R"({"cpu":"12","memory":"125Gi"})"));
  EXPECT_EQ(pod.demand, (ResourceVector{Gpus(2), Cores(12), GiB(125)}));
  EXPECT_EQ(pod.requests.main, (ResourceVector{Gpus(2), Cores(4), GiB(8)}));
}

TEST(ReadPod, RaisesADemandToTheRequests) {
  EXPECT_EQ(ReadValidPod(PodWithDemand(R"({"cpu":"1","memory":"125Gi"})")).demand,
            (ResourceVector{Gpus(2), Cores(4), GiB(125)}));
  EXPECT_EQ(ReadValidPod(PodWithDemand(R"({"cpu":"12"})")).demand,
            (ResourceVector{Gpus(2), Cores(12), GiB(8)}));
  EXPECT_EQ(ReadValidPod(PodWithDemand(R"({"memory":9663676416,"later":"field"})")).demand,
            (ResourceVector{Gpus(2), Cores(4), GiB(9)}));
  EXPECT_EQ(ReadValidPod(PodWithDemand(R"({"cpu":"-3"})")).demand,
            (ResourceVector{Gpus(2), Cores(4), GiB(8)}));
}

TEST(ReadPod, DropsAnInvalidDemandOfAnIncomingPod) {
  const Pod pod = ReadValidPod(PodWithDemand("cpu=12"), PodUse::kIncoming);
  EXPECT_FALSE(pod.demand);
  EXPECT_EQ(pod.requests.main, (ResourceVector{Gpus(2), Cores(4), GiB(8)}));
}

TEST(ReadPod, NamesTheAnnotationWhenItCannotRead) {
  const std::string path = R"(metadata.annotations["synergy.io/demand"]: )";
  EXPECT_THAT(Refusal(PodWithDemand(""), PodUse::kAccounted), HasSubstr(path + "not JSON"));
  EXPECT_THAT(Refusal(PodWithDemand("cpu=12"), PodUse::kAccounted),
              HasSubstr(path + "not JSON at byte 0"));
  EXPECT_EQ(Refusal(PodWithDemand(R"({"cpu":"12x"})"), PodUse::kAccounted),
            path + R"(cpu: "12x" is not a quantity)");
  EXPECT_EQ(Refusal(PodWithDemand("[]"), PodUse::kAccounted),
            path + "must be an object, not an array");
  EXPECT_EQ(Refusal(PodWithDemand("{}"), PodUse::kAccounted), path + "has neither cpu nor memory");
  EXPECT_EQ(Refusal(R"({"metadata":{"annotations":{"synergy.io/demand":{"cpu":1}}},)"
                    R"("spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})",
                    PodUse::kAccounted),
            path + "must be a string, not an object");
}

TEST(ReadPod, NamesTheFieldThatItCannotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"spec":{"containers":[{},{},{"resources":{"requests":{"cpu":"12x"}}}]}})",
       R"(spec.containers[2].resources.requests.cpu: "12x" is not a quantity)"},
      {R"({"spec":{"initContainers":[{"resources":{"requests":{"nvidia.com/gpu":true}}}]}})",
       R"(spec.initContainers[0].resources.requests["nvidia.com/gpu"]: must be a quantity, not a boolean)"},
      {R"({"spec":{"overhead":{"cpu":" \t1"}}})",
       R"(spec.overhead.cpu: " \u00091" is not a quantity)"},
      {R"({"spec":{"resources":{"requests":[]}}})",
       "spec.resources.requests: must be an object, not an array"},
      {R"({"spec":{"containers":{}}})", "spec.containers: must be an array, not an object"},
      {R"({"spec":{"containers":["x"]}})", "spec.containers[0]: must be an object, not a string"},
      {R"({"spec":[]})", "spec: must be an object, not an array"},
      {R"({"spec":{"nodeName":5}})", "spec.nodeName: must be a string, not a number"},
      {R"({"spec":{"priority":"5"}})", "spec.priority: must be a whole number, not a string"},
      {R"({"spec":{"priority":2147483648}})",
       R"(spec.priority: "2147483648" is not a whole number from -2147483648 to 2147483647)"},
      {R"({"spec":{"priority":1.0}})",
       R"(spec.priority: "1.0" is not a whole number from -2147483648 to 2147483647)"},
      {R"({"spec":{"tolerations":[{"key":{}}]}})",
       "spec.tolerations[0].key: must be a string, not an object"},
      {R"({"spec":{"schedulingGates":"x"}})",
       "spec.schedulingGates: must be an array, not a string"},
      {R"({"metadata":{"labels":{"a/b":1}}})",
       R"(metadata.labels["a/b"]: must be a string, not a number)"},
      {R"({"metadata":{"deletionTimestamp":1}})",
       "metadata.deletionTimestamp: must be a string, not a number"},
      {R"({"metadata":7,"status":false})",
       "metadata: must be an object, not a number (and 1 more)"},
      {R"([])", "must be an object, not an array"},
      {R"("pod")", "must be an object, not a string"},
      {R"(null)", "must be an object, not null"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(Refusal(text), message) << text;
}

TEST(ReadPod, IgnoresContainerStatusesOfAnIncomingPod) {
  const std::string_view text = R"({"status":{"containerStatuses":7}})";
  ReadValidPod(text, PodUse::kIncoming);
  EXPECT_EQ(Refusal(text, PodUse::kAccounted),
            "status.containerStatuses: must be an array, not a number");
}

TEST(ReadPod, TrimsSpacesAroundAQuantityAndTakesBareNumbers) {
  const Pod pod = ReadValidPod(
      R"({"spec":{"overhead":{"cpu":" 1500m  ","memory":1.5e3,"nvidia.com/gpu":null}}})");
  EXPECT_EQ(pod.requests.main, (ResourceVector{Gpus(0), MilliCpu(1500), Bytes(1500)}));
}

TEST(ReadPod, SurvivesManyBadFieldsAndCountsThem) {
  std::string text = R"({"spec":{"containers":[)";
  for (int i = 0; i < 20'000; ++i) text += R"({"resources":{"requests":{"cpu":"x"}}},)";
  text += R"({}]}})";
  EXPECT_THAT(Refusal(text), HasSubstr("(and 19999 more)"));
}

TEST(ReadPod, TheGpuProductIsTheLabelsElseWhatTheWebhookFound) {
  const auto product = [](std::string_view metadata) {
    return ReadValidPod(fmt::format(R"({{"metadata":{{{}}}}})", metadata)).gpu_product;
  };
  const std::string annotation = R"("annotations":{"synergy.io/gpu-product":"H100"})";
  EXPECT_EQ(product(""), "");
  EXPECT_EQ(product(annotation), "H100");
  EXPECT_EQ(product(annotation + R"(,"labels":{"synergy.io/gpu-product":"A100"})"), "A100");
}

TEST(ReadPod, ReadsTheGangForAnyUse) {
  const auto gang = [](std::string_view metadata, PodUse use) {
    return ReadValidPod(
               fmt::format(R"({{"metadata":{{"name":"p","uid":"u","namespace":"team",{}}}}})",
                           metadata),
               use)
        .gang;
  };
  const std::string labelled = R"("labels":{"synergy.io/gang":"g","synergy.io/gang-size":"4"})";
  const std::string by_kueue = R"("labels":{"kueue.x-k8s.io/pod-group-name":"g"},)"
                               R"("annotations":{"kueue.x-k8s.io/pod-group-total-count":"4"})";
  for (const PodUse use : {PodUse::kIncoming, PodUse::kAccounted}) {
    EXPECT_EQ(gang(R"("labels":null)", use), nullptr);
    ASSERT_NE(gang(labelled, use), nullptr);
    EXPECT_EQ(*gang(labelled, use), (Gang{"team/g", 4, {}}));
    ASSERT_NE(gang(by_kueue, use), nullptr);
    EXPECT_EQ(*gang(by_kueue, use), (Gang{"team/kueue/g", 4, {}}));
    const auto nonsense = gang(R"("labels":{"synergy.io/gang-size":"x"})", use);
    ASSERT_NE(nonsense, nullptr);
    EXPECT_THAT(nonsense->problem, HasSubstr("must be a number"));
  }
}

TEST(ReadPod, MemberHasItsSeparation) {
  const Pod pod = ReadValidPod(R"({
    "metadata": {"name": "p", "uid": "u", "namespace": "team", "labels":
       {"synergy.io/gang": "g", "synergy.io/gang-size": "4", "rank": "2"}},
    "spec": {
      "containers": [{"ports": [{"containerPort": 80}, {"hostPort": 29500}]}],
      "initContainers": [
        {"restartPolicy": "Always", "ports": [{"hostPort": 53, "hostIP": "10.0.0.1", "protocol": "UDP"}]},
        {"ports": [{"hostPort": 54}]}],
      "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "host", "labelSelector": {"matchLabels": {"a": "b"}}},
        {"topologyKey": "zone", "namespaceSelector": {}, "labelSelector": {}},
        {"topologyKey": "other", "namespaces": ["others"], "labelSelector": {}},
        {"topologyKey": "some", "namespaceSelector": {"matchLabels": {"a": "b"}}, "labelSelector": {}}]}},
      "topologySpreadConstraints": [
        {"topologyKey": "zone", "maxSkew": 2, "minDomains": 3, "whenUnsatisfiable": "DoNotSchedule",
         "labelSelector": {}, "matchLabelKeys": ["rank", "none"], "nodeAffinityPolicy": "Ignore",
         "nodeTaintsPolicy": "Honor"},
        {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]}})");
  ASSERT_NE(pod.separation, nullptr);
  const LabelSelector all;
  const LabelSelector labelled{{{"a", LabelSelector::Operator::kIn, {"b"}}}};
  const LabelSelector ranked{{{"rank", LabelSelector::Operator::kIn, {"2"}}}};
  EXPECT_THAT(pod.separation->host_ports,
              ElementsAre(HostPort{"0.0.0.0", "TCP", 29500}, HostPort{"10.0.0.1", "UDP", 53}));
  EXPECT_THAT(pod.separation->anti_affinity,
              ElementsAre(AntiAffinity{"host", labelled}, AntiAffinity{"zone", all}));
  EXPECT_THAT(pod.separation->spread,
              ElementsAre(TopologySpread{"zone", 2, 3, ranked, false, true}));
}

// The number is bounded, because each plan evaluates all of them.
TEST(ReadPod, SeparationOfAMemberIsBounded) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += R"({"hostPort":)" + std::to_string(i + 1) + "},";
  many.pop_back();
  const Pod greedy =
      ReadValidPod(R"({"metadata":{"labels":{"synergy.io/gang":"g","synergy.io/gang-size":"2"}},)"
                   R"("spec":{"containers":[{"ports":[)" +
                   many + "]}]}}");
  ASSERT_NE(greedy.separation, nullptr);
  EXPECT_EQ(greedy.separation->host_ports.size(), 16U);
}

TEST(ReadPod, PodOutsideAGangHasNoSeparation) {
  EXPECT_EQ(ReadValidPod(R"({"spec":{"containers":[{"ports":[{"hostPort":80}]}]}})").separation,
            nullptr);
}

TEST(ReadPod, CountsSlicesOfGpusBesideTheOtherResources) {
  const std::string text =
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu.shared":"2"}}},)"
      R"({"resources":{"requests":{"nvidia.com/gpu.shared":"1","amd.com/gpu.shared":"5"}}}]}})";
  const Pod pod = ReadValidPod(text);
  EXPECT_EQ(pod.slices, Slices(3));
  EXPECT_TRUE(pod.SharesGpus());
  EXPECT_FALSE(pod.UsesGpus());
  EXPECT_EQ(pod.requests.main.gpus, Gpus(0)) << "no whole GPU";
  EXPECT_EQ(pod.requests.other.Get("nvidia.com/gpu.shared"), 3) << "as kube-scheduler counts";
  EXPECT_EQ(ObjectReader("amd.com/gpu").ReadPod(text, PodUse::kIncoming)->slices, Slices(5));
  EXPECT_EQ(ObjectReader("").ReadPod(text, PodUse::kIncoming)->slices, Slices(0));
  const Pod whole = ReadValidPod(
      R"({"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]}})");
  EXPECT_FALSE(whole.SharesGpus());
  EXPECT_EQ(whole.slices, Slices(0));
}

}  // namespace
}  // namespace synergy::wire
