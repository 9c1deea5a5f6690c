#include "kube/apis/pod_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"

namespace synergy::kube {
namespace {

using synergy::testing::FakeApiServer;
using ::testing::HasSubstr;
using ::testing::Not;

class PodApiTest : public ::testing::Test {
 protected:
  PodApiTest() { server_.SetPods({{.name = "p", .pod_namespace = "team", .uid = "u1"}}); }

  Result<> Bind(const std::string& uid = "u1") {
    return pods_->Bind({"team", "p", uid}, "node-1", {});
  }

  FakeApiServer server_;
  std::unique_ptr<ApiClient> client_ = *ApiClient::Create(server_.access());
  std::unique_ptr<PodApi> pods_ = MakePodApi(*client_, wire::ObjectReader("nvidia.com/gpu"));
};

TEST_F(PodApiTest, ABoundPodIsOnItsNode) {
  const Result<> bound = Bind();
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(server_.bindings().size(), 1U);
  EXPECT_EQ(server_.bindings()[0].pod, "team/p");
  EXPECT_EQ(server_.bindings()[0].uid, "u1");
  EXPECT_EQ(server_.bindings()[0].node, "node-1");
  const auto pod = pods_->Get("team", "p");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->node, "node-1");
  EXPECT_EQ(pod->uid, "u1");
  EXPECT_EQ(pod->requests.main.cpu, Cores(1));
}

TEST_F(PodApiTest, APodIsBoundOnlyOnce) {
  ASSERT_TRUE(Bind());
  const Result<> again = Bind();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(again.error().message, HasSubstr("already assigned"));
}

TEST_F(PodApiTest, ANamesakeIsNotBound) {
  const Result<> bound = Bind("u0");
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kConflict);
}

TEST_F(PodApiTest, APodThatIsGoneIsNotFound) {
  server_.RemovePod("team/p");
  EXPECT_EQ(Bind().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(pods_->Get("team", "p").error().code, ErrorCode::kNotFound);
}

TEST_F(PodApiTest, WithoutAnAnswerItIsNotKnownWhetherThePodIsBound) {
  for (const bool carried_out : {false, true}) {
    server_.DropNext("POST", "/binding", carried_out);
    const Result<> bound = Bind();
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().code, ErrorCode::kTimeout);
    EXPECT_EQ(pods_->Get("team", "p")->node, carried_out ? "node-1" : "");
  }
  EXPECT_EQ(server_.requests("/binding").size(), 2U);  // no binding was sent twice
}

TEST_F(PodApiTest, AServerThatIsDownHasNotBoundThePod) {
  server_.Stop();
  EXPECT_EQ(Bind().error().code, ErrorCode::kUnavailable);
}

TEST_F(PodApiTest, AResizeIsOursAndOfTheRequestsAlone) {
  Pod pod = *pods_->Get("team", "p");
  ManagedContainer fungible;
  fungible.container = "train";
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  (void)pods_->Resize(pod, {Gpus(1), Cores(2), GiB(4)});
  const synergy::testing::FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/api/v1/namespaces/team/pods/p/resize?fieldManager=synergy");
  EXPECT_EQ(asked.headers.at("content-type"), "application/strategic-merge-patch+json");
  EXPECT_THAT(asked.body, HasSubstr(R"("name":"train","resources":{"requests":{"cpu":"2")"));
}

TEST_F(PodApiTest, AnnotationsAreMergedIntoThePodThatWasMeant) {
  (void)pods_->Annotate(*pods_->Get("team", "p"), {{"a/b", "c"}});
  const synergy::testing::FakeRequest asked = server_.requests().back();
  EXPECT_EQ(asked.method, "PATCH");
  EXPECT_EQ(asked.path, "/api/v1/namespaces/team/pods/p?fieldManager=synergy");
  EXPECT_EQ(asked.headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(asked.body, R"({"metadata":{"uid":"u1","annotations":{"a/b":"c"}}})");
}

TEST_F(PodApiTest, TheNodeAgentAnnotatesByTheStatusInItsOwnName) {
  (void)AnnotateByStatus(*client_, {"team", "p", "u1"}, {{"a/b", "c"}}, {});
  EXPECT_EQ(server_.requests().back().path,
            "/api/v1/namespaces/team/pods/p/status?fieldManager=synergy-node-agent");
}

TEST_F(PodApiTest, WriteChecksTheVersionOnlyOnRequest) {
  Pod pod = *pods_->Get("team", "p");
  pod.resource_version = 17;
  (void)pods_->Annotate(pod, {}, Precondition::kUnchanged);
  EXPECT_THAT(server_.requests().back().body, HasSubstr(R"("resourceVersion":"17")"));
  (void)pods_->Annotate(pod, {}, Precondition::kSamePod);
  EXPECT_THAT(server_.requests().back().body, Not(HasSubstr("resourceVersion")));
}

TEST_F(PodApiTest, NamesCannotLeaveTheirPlaceInThePath) {
  (void)pods_->Bind({"../../secrets", "p/../q?x#y", "u"}, "n", {});
  EXPECT_EQ(server_.requests().back().path,
            "/api/v1/namespaces/..%2F..%2Fsecrets/pods/p%2F..%2Fq%3Fx%23y/binding");
}

}  // namespace
}  // namespace synergy::kube
