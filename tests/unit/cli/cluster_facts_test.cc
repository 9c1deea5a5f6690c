#include "cli/cluster/cluster_facts.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/views/top.h"
#include "support/fake_api_server.h"

namespace synergy::cli::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ClusterFactsTest : public ::testing::Test {
 protected:
  ClusterFactsTest() {
    server_.SetNodes(
        {{.name = "n1",
          .allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"})"},
         {.name = "without-gpus"}});
    const std::string gpu = R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"})";
    server_.SetPods({{.name = "b", .node = "n1", .phase = "Running", .requests_json = gpu},
                     {.name = "a", .requests_json = gpu},
                     {.name = "web", .node = "n1", .phase = "Running"},
                     {.name = "c", .pod_namespace = "other", .requests_json = gpu}});
  }

  synergy::testing::FakeApiServer server_;
  std::unique_ptr<kube::ApiClient> client_ = *kube::ApiClient::Create(server_.access());
  wire::ObjectReader reader_{"nvidia.com/gpu"};
  FactsReader facts_{*client_, reader_};
};

TEST_F(ClusterFactsTest, PodsWithGpusOfANamespaceInOrder) {
  const auto facts = facts_.ReadPods("default");
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->pods.size(), 2u);
  EXPECT_EQ(facts->pods[0].name, "a");
  EXPECT_EQ(facts->pods[1].name, "b");
  EXPECT_EQ(facts_.ReadPods("")->pods.size(), 3u);
}

TEST_F(ClusterFactsTest, NodesWithGpusHaveWhatIsOnThem) {
  const auto facts = facts_.ReadCluster();
  ASSERT_TRUE(facts) << facts.error().message;
  const std::vector<NodeView> nodes = ViewNodes(*facts, WallTime{});
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].name, "n1");
  EXPECT_EQ(nodes[0].gpu_pods, 1u);
  EXPECT_EQ(nodes[0].allocated.gpus, Gpus(1));
  EXPECT_EQ(nodes[0].allocated.cpu, Cores(3));  // includes the web server's
  EXPECT_THAT(ToText(ShowNodes(nodes)), HasSubstr("n1    1/4  3/8"));
  EXPECT_THAT(ToText(ShowPods(ViewPods(*facts, WallTime{}), true)), HasSubstr("other"));
}

TEST_F(ClusterFactsTest, SlicesOfGpusAreNoGpus) {
  server_.SetNodes({{.name = "n2",
                     .allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110",)"
                                         R"("nvidia.com/gpu.shared":"4"})"}});
  server_.SetPods({{.name = "sharer",
                    .node = "n2",
                    .phase = "Running",
                    .requests_json = R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu.shared":"1"})"}});
  const auto facts = facts_.ReadCluster();
  ASSERT_TRUE(facts) << facts.error().message;
  const std::vector<NodeView> nodes = ViewNodes(*facts, WallTime{});
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].allocatable.gpus, Gpus(0));
  EXPECT_EQ(nodes[0].gpu_pods, 1u);
  const Shown shown = ShowNodes(nodes);
  EXPECT_THAT(ToText(shown), HasSubstr("n2    1/4 slices  2/8"));
  EXPECT_THAT(ToJson(shown.objects.at(0).tree), HasSubstr("\"allocated\": 1"));
  const Shown pods = ShowPods(ViewPods(*facts, WallTime{}), false);
  EXPECT_THAT(ToText(pods), HasSubstr("1 slice"));
  EXPECT_THAT(ToJson(pods.objects.at(0).tree), HasSubstr("\"slices\": 1"));
}

TEST_F(ClusterFactsTest, NodesHaveTheDisksThatTheirPodsRead) {
  auto facts = facts_.ReadCluster();
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(ShowNodes(ViewNodes(*facts, WallTime{})).objects.at(0).cells.back(), "-");
  for (const Pod& pod : facts->pods) {
    facts->progress.by_uid[pod.uid].pod.storage =
        StorageUse{"vdb", 1e6, 0.5, 12'582'912, 13'631'488, {}};
  }
  const Shown shown = ShowNodes(ViewNodes(*facts, WallTime{}));
  EXPECT_EQ(shown.objects.at(0).cells.back(), "vdb 12.6 MB/s of 13.6 MB/s");
  EXPECT_EQ(shown.columns.back(), "STORAGE");
  EXPECT_THAT(ToJson(shown.objects.at(0).tree), HasSubstr("\"device\": \"vdb\""));
}

TEST_F(ClusterFactsTest, ReservationsAreReadIfAPodWaitsForThem) {
  auto facts = facts_.ReadCluster();
  ASSERT_TRUE(facts) << facts.error().message;
  const auto asked = [&] { return server_.requests("spec.schedulerName%3D").size(); };
  facts_.AddReservations("", WallTime{}, *facts);
  EXPECT_EQ(asked(), 0u) << "the pods wait for another scheduler";

  const std::string gpu = R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"})";
  server_.SetPods({{.name = "a", .requests_json = gpu, .scheduler = kDefaultSchedulerName}});
  facts = facts_.ReadCluster();
  ASSERT_TRUE(facts) << facts.error().message;
  facts_.AddReservations("default", WallTime{}, *facts);
  EXPECT_EQ(asked(), 1u);
  EXPECT_EQ(server_.requests("/namespaces/default/pods?").size(), 1u);
  EXPECT_TRUE(facts->reservations.empty()) << "the pod has no annotation";
  EXPECT_TRUE(facts->notes.empty());

  server_.FailNext("GET", "spec.schedulerName%3D", 403);
  facts_.AddReservations("", WallTime{}, *facts);
  EXPECT_THAT(facts->notes, ::testing::Contains(HasSubstr("reservations of GPUs are not shown: ")));
}

TEST_F(ClusterFactsTest, SelectorsOfLabelsGoToTheApiServer) {
  const std::string labels = "app=x,tier in (a, b)";
  const std::string query = "labelSelector=app%3Dx%2Ctier%20in%20%28a%2C%20b%29";
  ASSERT_TRUE(facts_.ReadPods("default", labels));
  ASSERT_TRUE(facts_.ReadCluster(labels));
  ASSERT_TRUE(facts_.ReadProfiles("", labels));
  const auto queries = [&](const char* path) {
    std::string all;
    for (const auto& request : server_.requests(path)) all += request.query + "\n";
    return all;
  };
  EXPECT_THAT(queries("/namespaces/default/pods"), HasSubstr(query));
  EXPECT_THAT(queries("/api/v1/nodes"), HasSubstr(query));
  EXPECT_THAT(queries("/trainingprofiles"), HasSubstr(query));
  EXPECT_THAT(queries("/api/v1/pods"), Not(HasSubstr("labelSelector")));
}

TEST_F(ClusterFactsTest, APodIsExplainedWithWhatTheUserMaySee) {
  server_.FailNext("GET", "/api/v1/nodes", 403);
  const auto facts = facts_.ReadPod("default", "b");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->pod.node, "n1");
  EXPECT_EQ(facts->cluster, nullptr);
  EXPECT_THAT(facts->notes, ::testing::Contains(HasSubstr("nodes are not shown: ")));
}

TEST_F(ClusterFactsTest, SelectedPodsShareWhatIsReadOfTheCluster) {
  const auto all = facts_.ReadSelectedPods("default", "app");
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3u);  // the fake server ignores selectors
  EXPECT_EQ(all->at(0).cluster, all->at(2).cluster);
  EXPECT_EQ(server_.requests("/api/v1/nodes").size(), 1u);
}

TEST_F(ClusterFactsTest, MissingPodIsAnError) {
  const auto facts = facts_.ReadPod("default", "nobody");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, ErrorCode::kNotFound);
}

class DeviceFactsTest : public ClusterFactsTest {
 protected:
  static constexpr const char* kRoot = "/apis/resource.k8s.io/v1/";

  DeviceFactsTest() {
    server_.PutNode({.name = "dra"});
    server_.PutPod({.name = "claims",
                    .node = "dra",
                    .phase = "Running",
                    .claims_json = R"([{"name":"gpus","resourceClaimName":"two"}])"});
    Put("deviceclasses", R"({"metadata":{"name":"gpu.nvidia.com"},"spec":{}})");
    Put("resourceslices", R"({"metadata":{"name":"s"},"spec":{"driver":"gpu.nvidia.com",
        "nodeName":"dra","pool":{"name":"dra","generation":1},
        "devices":[{"name":"gpu-0"},{"name":"gpu-1"},{"name":"gpu-2"}]}})");
    Put("resourceclaims", kClaim);
  }

  void Put(const std::string& path, const std::string& item) {
    server_.PutText(kRoot + path, R"({"metadata":{"resourceVersion":"1"},"items":[)" + item + "]}");
  }

  static constexpr const char* kClaim =
      R"({"metadata":{"name":"two","namespace":"default","uid":"u"},
          "spec":{"devices":{"requests":[{"name":"r","exactly":
              {"deviceClassName":"gpu.nvidia.com","allocationMode":"ExactCount","count":2}}]}},
          "status":{"allocation":{"devices":{"results":[
              {"request":"r","driver":"gpu.nvidia.com","pool":"dra","device":"gpu-0"},
              {"request":"r","driver":"gpu.nvidia.com","pool":"dra","device":"gpu-2"}]}}}})";
  FactsReader facts_{*client_, reader_, {"gpu.nvidia.com"}};
};

TEST_F(DeviceFactsTest, GpusByClaimsAndSlicesCount) {
  const auto cluster = facts_.ReadCluster();
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_THAT(ToText(ShowNodes(ViewNodes(*cluster, WallTime{}))), HasSubstr("dra   2/3"));
  EXPECT_EQ(facts_.ReadPods("default")->pods.size(), 3u);
  const auto pod = facts_.ReadPod("default", "claims");
  ASSERT_TRUE(pod) << pod.error().message;
  ASSERT_NE(pod->pod.devices, nullptr);
  EXPECT_EQ(pod->pod.requests.main.gpus, Gpus(2));
  EXPECT_EQ(pod->pod.devices->why_left_alone, "");
}

TEST_F(DeviceFactsTest, RightsInANamespaceSufficeForAPod) {
  server_.FailNext("GET", "/v1/deviceclasses", 403);
  server_.FailNext("GET", "/v1/resourceclaims", 403);
  server_.FailNext("GET", "/v1/resourceslices", 403);
  server_.FailNext("GET", "/api/v1/pods", 403);
  Put("namespaces/default/resourceclaims", kClaim);
  const auto facts = facts_.ReadPod("default", "claims");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->pod.requests.main.gpus, Gpus(2));
  EXPECT_THAT(facts->notes, Not(::testing::Contains(HasSubstr("Resource"))));
}

TEST_F(DeviceFactsTest, NothingOfThemIsReadWhereNoClassOfGpusExists) {
  Put("deviceclasses", R"({"metadata":{"name":"nic.example.com"},"spec":{}})");
  EXPECT_EQ(facts_.ReadPods("default")->pods.size(), 2u);
  EXPECT_TRUE(server_.requests("resourceclaims").empty());
  EXPECT_EQ(facts_.ReadPod("default", "claims")->pod.devices, nullptr);
}

TEST_F(DeviceFactsTest, NotesObjectsThatTheUserMayNotSee) {
  server_.FailNext("GET", "/v1/resourceclaims", 403);
  const auto facts = facts_.ReadPods("");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_THAT(facts->notes,
              ::testing::Contains(HasSubstr("GPUs of ResourceClaims are not counted: ")));
}

}  // namespace
}  // namespace synergy::cli::testing
