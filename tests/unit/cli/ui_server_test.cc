#include "cli/page/ui_server.h"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"

namespace synergy::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class UiServerTest : public ::testing::Test {
 protected:
  UiServerTest() {
    api_.SetNodes(
        {{.name = "n1",
          .allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"})"}});
    api_.SetPods({Trainer("a")});
    ui_.AddRoutes(*server_, "/secret");
    EXPECT_TRUE(server_->Start());
    client_ =
        *http::Client::Create({.base_url = "http://127.0.0.1:" + std::to_string(server_->port())});
  }

  static synergy::testing::FakePod Trainer(const std::string& name) {
    return {.name = name,
            .node = "n1",
            .phase = "Running",
            .requests_json = R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu":"1"})"};
  }

  http::ClientResponse Get(const std::string& path) {
    auto answer = client_->Send({.method = "GET", .path = path});
    EXPECT_TRUE(answer) << answer.error().message;
    return *std::move(answer);
  }
  static std::string VersionOf(const std::string& answer) {
    constexpr std::string_view kBegin = R"({"version":)";
    EXPECT_THAT(answer, StartsWith(kBegin));
    return answer.substr(kBegin.size(), answer.find(',') - kBegin.size());
  }
  void LetTimePass() { clock_.Advance(UiServer::kRefresh); }
  size_t Asked(const std::string& path) const { return api_.requests(path).size(); }

  synergy::testing::FakeApiServer api_;
  synergy::testing::FakeClock clock_;
  UiServer ui_{
      {*kube::ApiClient::Create(api_.access()), wire::ObjectReader("nvidia.com/gpu"), "default"},
      {},
      clock_};
  std::unique_ptr<http::Server> server_ = *http::Server::Create({});
  std::unique_ptr<http::Client> client_;
};

TEST_F(UiServerTest, ServesNothingWithoutTheSecretPath) {
  for (const char* path : {"/", "/state", "/explain?namespace=default&name=a", "/other/state"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
  }
  EXPECT_TRUE(api_.requests().empty());
}

TEST_F(UiServerTest, ThePageAsksForTheCluster) {
  const auto page = Get("/secret/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page.body, HasSubstr(R"({"format":1,"kind":"cluster"})"));
}

TEST_F(UiServerTest, TheStateIsFollowedByDifferences) {
  const std::string first = Get("/secret/state").body;
  EXPECT_THAT(first, HasSubstr(R"(,"state":{"nodes":{"n1":)"));
  api_.PutPod(Trainer("b"));
  LetTimePass();
  EXPECT_THAT(Get("/secret/state?since=" + VersionOf(first)).body,
              HasSubstr(R"(,"patches":[{"pods":{"uid-b":{)"));
  EXPECT_THAT(Get("/secret/state?since=nonsense").body, HasSubstr(R"("state":{"nodes")"));
}

TEST_F(UiServerTest, ANamespaceHasItsPodsAndNoNodes) {
  api_.PutPod({.name = "b",
               .pod_namespace = "other",
               .requests_json = R"({"cpu":"2","nvidia.com/gpu":"1"})"});
  const std::string all = Get("/secret/state").body;
  LetTimePass();
  const std::string own = Get("/secret/state?namespace=default&since=" + VersionOf(all)).body;
  EXPECT_THAT(own, AllOf(HasSubstr(R"("state":{"nodes":{},)"), HasSubstr("uid-a"),
                         Not(HasSubstr("uid-b"))));
  LetTimePass();
  EXPECT_THAT(Get("/secret/state?since=" + VersionOf(own)).body,
              AllOf(HasSubstr(R"("state":{)"), HasSubstr("uid-b"), HasSubstr("n1")));
  for (const char* query : {"?namespace=..", "?namespace=a/pods", "?namespace=a%2Fpods"})
    EXPECT_EQ(Get(std::string("/secret/state") + query).status, 400) << query;
}

TEST_F(UiServerTest, ManyRequestsShareOneRead) {
  for (int page = 0; page < 5; ++page) Get("/secret/state");
  EXPECT_EQ(api_.requests("/api/v1/nodes").size(), 1U);
  LetTimePass();
  Get("/secret/state");
  EXPECT_EQ(api_.requests("/api/v1/nodes").size(), 2U);
}

TEST_F(UiServerTest, AbsentApisAreReadOncePerPage) {
  constexpr const char* kProgress =
      "/api/v1/namespaces/synergy-system/serviceaccounts/synergy-controller-progress/token";
  constexpr const char* kPolicies = "/apis/synergy.io/v1alpha1/roundpolicies";
  const std::string state = Get("/secret/state").body;
  EXPECT_THAT(state, HasSubstr("no progress: there is no service"));
  EXPECT_THAT(state, Not(HasSubstr("queues")));
  for (int time = 0; time < 20; ++time) {
    LetTimePass();
    Get("/secret/state?since=1");
  }
  EXPECT_EQ(Asked(kProgress), 1U);
  EXPECT_EQ(Asked(kPolicies), 1U);
  EXPECT_EQ(Asked("/apis/kueue.x-k8s.io/v1beta2/workloads"), 0U);
  LetTimePass();
  Get("/secret/state");
  EXPECT_EQ(Asked(kProgress), 2U);
  EXPECT_EQ(Asked(kPolicies), 2U);
}

TEST_F(UiServerTest, FailedReadIsShownAndTriedAgain) {
  api_.FailNext("GET", "/apis/synergy.io/v1alpha1/roundpolicies", 500);
  EXPECT_THAT(Get("/secret/state").body, HasSubstr("no queues: "));
  const size_t asked = Asked("/apis/synergy.io/v1alpha1/roundpolicies");
  clock_.Advance(UiServer::kSlowRefresh);
  EXPECT_THAT(Get("/secret/state?since=1").body, Not(HasSubstr("no queues")));
  EXPECT_EQ(Asked("/apis/synergy.io/v1alpha1/roundpolicies"), asked + 1);
}

TEST_F(UiServerTest, APodIsExplained) {
  const auto response = Get("/secret/explain?namespace=default&name=a");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("n1"));
  EXPECT_EQ(Get("/secret/explain?namespace=default&name=gone").status, 404);
}

TEST_F(UiServerTest, InvalidNamesReachNoPath) {
  for (const char* query : {"", "?namespace=default", "?name=a", "?namespace=default&name=a%2F..",
                            "?namespace=default&name=..", "?namespace=x/pods&name=a"}) {
    EXPECT_EQ(Get(std::string("/secret/explain") + query).status, 400) << query;
  }
  EXPECT_TRUE(api_.requests().empty());
}

TEST_F(UiServerTest, FaultOfTheApiServerIsReportedAndPasses) {
  api_.FailNext("GET", "/api/v1/pods", 403);
  const auto response = Get("/secret/state");
  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, HasSubstr("403"));
  LetTimePass();
  api_.FailNext("GET", "/api/v1/pods", 500);
  EXPECT_EQ(Get("/secret/state").status, 502);
  EXPECT_EQ(Get("/secret/state").status, 200);
}

TEST_F(UiServerTest, NothingCanBeChanged) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    for (const char* path : {"/secret/", "/secret/state", "/secret/explain"}) {
      const auto answer = client_->Send({.method = method, .path = path});
      ASSERT_TRUE(answer);
      EXPECT_GE(answer->status, 400) << method << path;
    }
  }
}

}  // namespace
}  // namespace synergy::cli::testing
