#include "kube/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"

namespace synergy::kube {
namespace {

using synergy::testing::FakeApiServer;
using ::testing::HasSubstr;

class BindingsTest : public ::testing::Test {
 protected:
  BindingsTest() {
    server_.SetPods({{.name = "p", .pod_namespace = "team", .uid = "u1"}});
    client_ = std::move(*ApiClient::Create(server_.access()));
  }

  Result<> Bind(const std::string& uid = "u1") {
    return BindPod(*client_, {"team", "p", uid}, "node-1");
  }

  FakeApiServer server_;
  std::unique_ptr<ApiClient> client_;
  json::ObjectReader reader_{"nvidia.com/gpu"};
};

TEST_F(BindingsTest, ABoundPodIsOnItsNode) {
  const Result<> bound = Bind();
  ASSERT_TRUE(bound) << bound.error().message;
  ASSERT_EQ(server_.bindings().size(), 1U);
  EXPECT_EQ(server_.bindings()[0].pod, "team/p");
  EXPECT_EQ(server_.bindings()[0].uid, "u1");
  EXPECT_EQ(server_.bindings()[0].node, "node-1");
  const auto pod = GetPod(*client_, reader_, "team", "p");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->node, "node-1");
  EXPECT_EQ(pod->uid, "u1");
  EXPECT_EQ(pod->requests.main.cpu, Cores(1));
}

TEST_F(BindingsTest, APodIsBoundOnlyOnce) {
  ASSERT_TRUE(Bind());
  const Result<> again = Bind();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_THAT(again.error().message, HasSubstr("already assigned"));
}

TEST_F(BindingsTest, ANamesakeIsNotBound) {
  const Result<> bound = Bind("u0");
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code, ErrorCode::kConflict);
}

TEST_F(BindingsTest, APodThatIsGoneIsNotFound) {
  server_.RemovePod("team/p");
  EXPECT_EQ(Bind().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(GetPod(*client_, reader_, "team", "p").error().code, ErrorCode::kNotFound);
}

TEST_F(BindingsTest, WithoutAnAnswerItIsNotKnownWhetherThePodIsBound) {
  for (const bool carried_out : {false, true}) {
    server_.DropNext("POST", "/binding", carried_out);
    const Result<> bound = Bind();
    ASSERT_FALSE(bound);
    EXPECT_EQ(bound.error().code, ErrorCode::kTimeout);
    EXPECT_EQ(GetPod(*client_, reader_, "team", "p")->node, carried_out ? "node-1" : "");
  }
  EXPECT_EQ(server_.requests("/binding").size(), 2U);  // none was sent twice
}

TEST_F(BindingsTest, AServerThatIsDownHasNotBoundThePod) {
  server_.Stop();
  EXPECT_EQ(Bind().error().code, ErrorCode::kUnavailable);
}

TEST_F(BindingsTest, NamesCannotLeaveTheirPlaceInThePath) {
  (void)BindPod(*client_, {"../../secrets", "p/../q?x#y", "u"}, "n");
  EXPECT_EQ(server_.requests().back().path,
            "/api/v1/namespaces/..%2F..%2Fsecrets/pods/p%2F..%2Fq%3Fx%23y/binding");
}

}  // namespace
}  // namespace synergy::kube
