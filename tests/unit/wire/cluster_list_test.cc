#include "wire/journal/cluster_list.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/managed_container.h"
#include "wire/objects/objects.h"

namespace synergy::wire::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kGpu = "nvidia.com/gpu";

constexpr const char* kPods = R"({"kind":"PodList","metadata":{"continue":"next"},"items":[{
  "metadata":{"name":"train","namespace":"research","uid":"u1","resourceVersion":"7",
    "labels":{"team":"a"},
    "annotations":{"secret.example.com/token":"hush","synergy.io/container":"main",
      "synergy.io/demand":"{\"cpu\":\"9\",\"memory\":\"4Gi\"}",
      "synergy.io/floor":"{\"cpu\":\"3\",\"memory\":\"4Gi\"}"},
    "managedFields":[{"manager":"synergy","subresource":"resize","fieldsV1":{"f:spec":{}}}]},
  "spec":{"nodeName":"n1","schedulerName":"synergy-scheduler",
    "containers":[{"name":"main","image":"secret/image","args":["hush"],
      "env":[{"name":"TOKEN","value":"hush"}],
      "resources":{"requests":{"cpu":"3","memory":"4Gi","nvidia.com/gpu":"1"}}}],
    "volumes":[{"name":"key","secret":{"secretName":"hush"}}]},
  "status":{"phase":"Running","containerStatuses":[{"name":"main","containerID":"hush",
      "resources":{"requests":{"cpu":"2","memory":"4Gi"}},
      "allocatedResources":{"cpu":"5","memory":"4Gi"}}]}}]})";

std::string Written() {
  ClusterListWriter writer;
  const auto token = writer.AddPage(ClusterKind::kPod, kPods);
  EXPECT_TRUE(token);
  EXPECT_EQ(token.value_or(""), "next");
  EXPECT_TRUE(writer.AddPage(
      ClusterKind::kNode,
      R"({"items":[{"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","nvidia.com/gpu":"4"},
          "images":[{"names":["secret/image"]}]}}]})"));
  EXPECT_TRUE(writer.AddPage(
      ClusterKind::kNamespace,
      R"({"items":[{"metadata":{"name":"research","labels":{"synergy.io/enforcement":"strict","a":"b"}}}]})"));
  EXPECT_TRUE(
      writer.AddPage(ClusterKind::kTrainingProfile,
                     R"({"items":[{"metadata":{"name":"p","namespace":"research"},"spec":{"gpus":1,
          "points":[{"cpu":1,"memory":"1Gi","throughput":0.5}]}}]})"));
  return writer.Take();
}

std::string ErrorOf(const std::string& items) {
  const auto list = ReadClusterList(R"({"kind":"List","items":[)" + items + "]}",
                                    {.gpu_resource = kGpu, .claims = {}});
  return list ? "no error" : list.error().message;
}

TEST(ClusterListTest, WrittenListEqualsTheApiServersAnswer) {
  const auto list = ReadClusterList(Written(), {.gpu_resource = kGpu, .claims = {}});
  ASSERT_TRUE(list) << list.error().message;
  const auto direct = ObjectReader(kGpu).ReadList<Pod>(kPods);
  ASSERT_TRUE(direct);
  ASSERT_EQ(list->pods.size(), 1u);
  const Pod& pod = list->pods.front();
  const Pod& as_answered = direct->items.front();
  EXPECT_EQ(pod.Key(), "research/train");
  EXPECT_EQ(pod.requests, as_answered.requests);
  EXPECT_EQ(pod.labels, as_answered.labels);
  ASSERT_TRUE(pod.fungible);
  EXPECT_EQ(*pod.fungible, *as_answered.fungible);
  EXPECT_TRUE(pod.fungible->resized_by_us_alone);
  EXPECT_EQ(pod.fungible->set_aside.cpu, Cores(5));
  ASSERT_EQ(list->nodes.size(), 1u);
  EXPECT_EQ(list->nodes.front().allocatable.main.gpus, Gpus(4));
  ASSERT_EQ(list->namespaces.size(), 1u);
  EXPECT_EQ(FindLabel(list->namespaces.front().labels, "synergy.io/enforcement"), "strict");
  ASSERT_EQ(list->profiles.size(), 1u);
  EXPECT_TRUE(list->profiles.front().profile);
}

TEST(ClusterListTest, OmitsUnusedMembers) {
  const std::string text = Written();
  EXPECT_THAT(text, Not(HasSubstr("hush")));
  EXPECT_THAT(text, Not(HasSubstr("TOKEN")));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  EXPECT_THAT(text, Not(HasSubstr("f:spec")));
}

TEST(ClusterListTest, ErrorsNameObjectAndField) {
  EXPECT_THAT(
      ErrorOf(R"({"kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"x"}}})"),
      HasSubstr("Node n1: status.allocatable.cpu"));
  EXPECT_THAT(ErrorOf(R"({"kind":"Pod","metadata":{"name":"a","namespace":"b"}})"),
              HasSubstr("Pod b/a: metadata"));
  EXPECT_THAT(ErrorOf(R"({"metadata":{}})"), HasSubstr("items[0]: kind is missing"));
  EXPECT_EQ(ErrorOf(R"({"kind":"Service","metadata":{"name":"a"}})"), "no error");
  EXPECT_EQ(ErrorOf(R"({"kind":"TrainingProfile","metadata":{"name":"a","namespace":"b"},
                        "status":{"packing":[{"verdict":"of a later version"}]}})"),
            "no error");
}

TEST(ClusterListTest, AnythingButAListIsRefusedWithWhatToWrite) {
  for (const char* text : {"{}", "[]", R"({"kind":"Pod"})"}) {
    const auto list = ReadClusterList(text, {.gpu_resource = kGpu, .claims = {}});
    ASSERT_FALSE(list) << text;
    EXPECT_THAT(list.error().message, HasSubstr("kubectl get nodes,pods,trainingprofiles"));
  }
}

}  // namespace
}  // namespace synergy::wire::testing
