#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/apis/failures/prerun_api.h"
#include "kube/apis/failures/retry_api.h"
#include "kube/apis/node_api.h"
#include "kube/apis/node_guard_api.h"
#include "kube/apis/profile_api.h"
#include "kube/apis/round_api.h"
#include "kube/apis/storage_api.h"
#include "support/fake_api_server.h"
#include "wire/training_profile.h"

namespace synergy::kube {
namespace {

using synergy::testing::FakeApiServer;
using synergy::testing::FakeRequest;
using ::testing::HasSubstr;

class ObjectApisTest : public ::testing::Test {
 protected:
  FakeApiServer server_;
  std::unique_ptr<ApiClient> client_ = *ApiClient::Create(server_.access());
};

TEST_F(ObjectApisTest, AProfilesStatusGoesToItsSubresource) {
  ProfileObject object;
  object.uid = "u";
  object.profile_namespace = "team/..";
  object.name = "image";
  (void)MakeProfileApi(*client_)->WriteStatus(object, {}, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path,
            "/apis/synergy.io/v1alpha1/namespaces/team%2F../trainingprofiles/image/status");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("uid":"u")"));
}

TEST_F(ObjectApisTest, AWorkloadsPriorityIsMergedAndAPolicysStatusGoesToItsSubresource) {
  Workload workload;
  workload.workload_namespace = "team/..";
  workload.name = "job-train";
  const auto api = MakeRoundApi(*client_);
  (void)api->WritePriority(workload, 5, std::nullopt, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/team%2F../workloads/job-train");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("priority":5)"));
  (void)api->WriteWorkers({.uid = "u", .job_namespace = "team/..", .name = "train"}, 3, {});
  EXPECT_EQ(server_.requests().back().path, "/apis/batch/v1/namespaces/team%2F../jobs/train");
  EXPECT_EQ(server_.requests().back().headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(server_.requests().back().body, HasSubstr(R"("completions":3)"));
  (void)api->WriteNote(workload, {}, {});
  EXPECT_EQ(server_.requests().back().path, asked.path);
  RoundPolicy policy;
  policy.name = "las/x";
  (void)api->WriteStatus(policy, {}, {});
  EXPECT_EQ(server_.requests().back().path,
            "/apis/synergy.io/v1alpha1/roundpolicies/las%2Fx/status");
}

TEST_F(ObjectApisTest, ANodesLabelsAndAnnotationAreMergedAtOnce) {
  NodeLabelChange labels;
  labels.changes = {{"nvidia.com/gpu.count", "1"}, {"nvidia.com/gpu.product", std::nullopt}};
  (void)MakeNodeApi(*client_)->WriteGpus("n/1", labels, "{}", {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/api/v1/nodes/n%2F1");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("nvidia.com/gpu.count":"1","nvidia.com/gpu.product":null)"));
  EXPECT_THAT(asked.body, HasSubstr(R"("synergy.io/gpu-inventory":"{}")"));
}

TEST_F(ObjectApisTest, ANodesGuardsAreMergedByTheFieldManagerThatMakesThemOurs) {
  (void)MakeNodeGuardApi(*client_)->Write({"n1/..", "7", {kNodeGuards[1]}, {}}, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/api/v1/nodes/n1%2F..?fieldManager=synergy");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(asked.body, HasSubstr(R"("karpenter.sh/do-not-disrupt":"true")"));
}

TEST_F(ObjectApisTest, AJobIsStoppedByItselfOrByItsWorkload) {
  const auto api = MakeRetryApi(*client_, *client_, "ours");
  const auto path_of = [&](const std::string& kind) {
    (void)api->ReadJob("team/..", {"x/v1", kind, "a/b", "u"}, {});
    return server_.requests().back().path;
  };
  EXPECT_EQ(path_of("Job"), "/apis/batch/v1/namespaces/team%2F../jobs/a%2Fb");
  EXPECT_EQ(path_of("JobSet"), "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team%2F../jobsets/a%2Fb");
  EXPECT_EQ(api->ReadJob("team", {"x/v1", "Secret", "a", "u"}, {}).error().code,
            ErrorCode::kNotFound);
  (void)api->ReadWorkloads("team/..", "u&1", {});
  EXPECT_EQ(server_.requests().back().path,
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/team%2F../workloads?limit=10"
            "&labelSelector=kueue.x-k8s.io%2Fjob-uid%3Du%261");
  (void)api->ReadQueue("team/..", "q/1", {});
  EXPECT_EQ(server_.requests().back().path,
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/team%2F../localqueues/q%2F1");
  (void)api->ReadNamespace("team/..", {});
  EXPECT_EQ(server_.requests().back().path, "/api/v1/namespaces/team%2F..");
  (void)api->Stop({.kind = "Workload", .job_namespace = "team/..", .name = "job-train"}, "then",
                  {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/team%2F../workloads/job-train");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("active":false)"));
}

TEST_F(ObjectApisTest, TrialsAreJobsAndWorkloadsNoteThem) {
  const auto api = MakePrerunApi(*client_, *client_);
  const std::string jobs = "/apis/batch/v1/namespaces/team%2F../jobs";
  (void)api->ReadJob("team/..", "a/b", {});
  EXPECT_EQ(server_.requests().back().path, jobs + "/a%2Fb");
  (void)api->HasPriorityClass("a/b", {});
  EXPECT_EQ(server_.requests().back().path, "/apis/scheduling.k8s.io/v1/priorityclasses/a%2Fb");
  (void)api->Begin("team/..", "{}", {});
  EXPECT_EQ(server_.requests().back().method, "POST");
  EXPECT_EQ(server_.requests().back().path, jobs);
  (void)api->End({.uid = "u", .its_namespace = "team/..", .name = "t"}, {});
  EXPECT_EQ(server_.requests().back().method, "DELETE");
  EXPECT_EQ(server_.requests().back().path, jobs + "/t");
  EXPECT_THAT(server_.requests().back().body, HasSubstr(R"("preconditions":{"uid":"u"})"));
  const PrerunWorkload workload{.its_namespace = "team/..", .name = "job-train"};
  for (const bool stops : {false, true}) {
    (void)(stops ? api->Stop(workload, "t1", {}) : api->Note(workload, "t1", {}));
    const FakeRequest asked = server_.requests().back();
    EXPECT_EQ(asked.method, "PATCH");
    EXPECT_EQ(asked.path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/team%2F../workloads/job-train");
    EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
    EXPECT_EQ(asked.body.find(R"("active":false)") != std::string::npos, stops);
  }
}

TEST_F(ObjectApisTest, AvoidedNodesAreInOneConfigMapThatIsCreatedOnce) {
  const auto api = MakeRetryApi(*client_, *client_, "our/s");
  const std::string all = "/api/v1/namespaces/our%2Fs/configmaps";
  (void)api->ReadAvoidedNodes({});
  EXPECT_EQ(server_.requests().back().path, all + "/synergy-elsewhere");
  PublishedAvoidedNodes avoided;
  (void)api->WriteAvoidedNodes(avoided, {});
  EXPECT_EQ(server_.requests().back().method, "POST");
  EXPECT_EQ(server_.requests().back().path, all);
  EXPECT_THAT(server_.requests().back().body, HasSubstr(R"("name":"synergy-elsewhere")"));
  avoided.resource_version = "7";
  (void)api->WriteAvoidedNodes(avoided, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, all + "/synergy-elsewhere");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("resourceVersion":"7")"));
}

TEST_F(ObjectApisTest, StorageIsInOneConfigMapThatIsCreatedOnce) {
  const auto api = MakeStorageApi(*client_, *client_, "our/s");
  const std::string all = "/api/v1/namespaces/our%2Fs/configmaps";
  (void)api->ReadStorage({});
  EXPECT_EQ(server_.requests().back().path, all + "/synergy-storage");
  PublishedStorage published;
  (void)api->WriteStorage(published, {});
  EXPECT_EQ(server_.requests().back().method, "POST");
  EXPECT_EQ(server_.requests().back().path, all);
  EXPECT_THAT(server_.requests().back().body, HasSubstr(R"("name":"synergy-storage")"));
  published.resource_version = "7";
  (void)api->WriteStorage(published, {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, all + "/synergy-storage");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("resourceVersion":"7")"));
}

TEST_F(ObjectApisTest, ResourceSlicesAreThoseOfTheNode) {
  (void)MakeNodeApi(*client_)->ReadSliceDrivers("n/1", {});
  const FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "GET");
  EXPECT_EQ(asked.path,
            "/apis/resource.k8s.io/v1/resourceslices?resourceVersion=0"
            "&fieldSelector=spec.nodeName%3Dn%2F1");
}

TEST_F(ObjectApisTest, WritesAMeasuredProfileToAnObjectOfItsOwn) {
  MeasuredProfile measured;
  measured.workload = "bert";
  measured.gpu_product = "A100";
  measured.points = {{Cores(1), 2}};
  const auto api = MakeProfileApi(*client_);
  (void)api->Create("team/..", measured, {});
  const FakeRequest made = server_.requests().back();
  EXPECT_EQ(made.method, "POST");
  EXPECT_EQ(made.path, "/apis/synergy.io/v1alpha1/namespaces/team%2F../trainingprofiles");
  EXPECT_THAT(made.body, HasSubstr(R"("app.kubernetes.io/managed-by":"synergy-controller")"));

  ProfileObject object;
  object.uid = "u";
  object.profile_namespace = "team";
  object.name = "bert-1";
  (void)api->WriteMeasured(object, measured, {});
  const FakeRequest written = server_.requests().back();
  EXPECT_EQ(written.method, "PATCH");
  EXPECT_EQ(written.path,
            "/apis/synergy.io/v1alpha1/namespaces/team/trainingprofiles/bert-1/status");
  EXPECT_THAT(written.body, HasSubstr(R"("uid":"u")"));

  object.resource_version = "7";
  (void)api->WriteMemoryRaise(object, {.process = GiB(12), .times = 1}, {});
  const FakeRequest raised = server_.requests().back();
  EXPECT_EQ(raised.path, written.path);
  EXPECT_THAT(raised.body, HasSubstr(R"("resourceVersion":"7")"));

  (void)api->WritePacking(object, {{.with = "cnn", .good = true}}, {});
  const FakeRequest packed = server_.requests().back();
  EXPECT_EQ(packed.path, written.path);
  EXPECT_THAT(packed.body, HasSubstr(R"("resourceVersion":"7")"));

  (void)api->Delete(object, {});
  const FakeRequest deleted = server_.requests().back();
  EXPECT_EQ(deleted.method, "DELETE");
  EXPECT_EQ(deleted.path, "/apis/synergy.io/v1alpha1/namespaces/team/trainingprofiles/bert-1");
  EXPECT_THAT(deleted.body, HasSubstr(R"("preconditions":{"uid":"u"})"));
}

// As one does whose CustomResourceDefinition is older than the controller.
TEST_F(ObjectApisTest, ARaiseThatTheApiServerDropsIsAnErrorThatNamesTheRemedy) {
  MeasuredProfile measured;
  measured.workload = "bert";
  measured.revision = 1;
  measured.points = {{Cores(1), 2}};
  measured.memory = MeasuredMemory{.process = GiB(8), .confirmed = true};
  ProfileObject object;
  object.uid = "u";
  object.profile_namespace = "team";
  object.name = "bert-1";
  const MemoryRaise raise{.process = GiB(12), .too_small = GiB(9), .times = 1};
  std::string profile = wire::WriteNewMeasured("team", measured);
  profile.pop_back();
  const std::string status = wire::WriteMeasured("u", measured);
  profile += "," + status.substr(status.find(R"("status")"));
  const std::string path =
      "/apis/synergy.io/v1alpha1/namespaces/team/trainingprofiles/bert-1/status";
  const auto api = MakeProfileApi(*client_);
  server_.PutText(path, profile);
  const Result<> dropped = api->WriteMemoryRaise(object, raise, {});
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(dropped.error().message, HasSubstr("apply this version's CustomResourceDefinitions"));
  const std::string body = wire::WriteMemoryRaise(object, raise);
  const size_t member = body.find(R"("memoryRaise")");
  profile.insert(profile.find(R"("measured")"),
                 body.substr(member, body.size() - member - 2) + ",");
  server_.PutText(path, profile);
  const Result<> kept = api->WriteMemoryRaise(object, raise, {});
  EXPECT_TRUE(kept) << kept.error().message;
}

}  // namespace
}  // namespace synergy::kube
