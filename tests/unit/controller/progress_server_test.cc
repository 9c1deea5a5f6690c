#include "controller/progress/progress_server.h"

#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";

PodProgress AtIteration(const std::string& name, int64_t iteration) {
  PodProgress pod;
  pod.uid = "uid-" + name;
  pod.pod_namespace = "team";
  pod.name = name;
  pod.iteration = iteration;
  return pod;
}

class ProgressServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const synergy::testing::TestAuthority authority;
    const auto own = authority.Issue("server");
    config::ControllerConfig config;
    config.own_namespace = "synergy-system";
    config.progress.listen = "127.0.0.1:0";
    config.tls_certificate_file = folder_.Write("tls.crt", own.certificate_pem);
    config.tls_key_file = folder_.Write("tls.key", own.key_pem);
    auto server = ProgressServer::Start(config, answers_, *api_client_, clock_, silent_.log);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    client_ =
        *http::Client::Create({.base_url = fmt::format("https://127.0.0.1:{}", server_->port()),
                               .tls = {.ca_pem = authority.certificate_pem()}});
    store_.Observe("n1", {}, {AtIteration("a", 7)}, clock_.Present());
  }

  // Sets the API server's answer about every token.
  void TheTokenIsOf(const std::string& user) {
    api_.PutText(kTokenReviews,
                 fmt::format(R"({{"status":{{"authenticated":true,"user":{{"username":"{}"}},)"
                             R"("audiences":["progress.synergy.io"]}}}})",
                             user));
  }

  http::ClientResponse Ask(const std::string& header, const std::string& token) {
    http::ClientRequest request{.path = "/progress"};
    if (!header.empty()) request.headers.emplace_back(header, token);
    auto answer = client_->Send(request);
    EXPECT_TRUE(answer) << answer.error().message;
    return *std::move(answer);
  }

  synergy::testing::TemporaryFolder folder_;
  synergy::testing::FakeClock clock_;
  synergy::testing::SilentLog silent_;
  synergy::testing::FakeApiServer api_;
  std::unique_ptr<kube::ApiClient> api_client_ = *kube::ApiClient::Create(api_.access());
  ProgressStore store_;
  ProgressAnswers answers_{store_, clock_};
  std::unique_ptr<ProgressServer> server_;
  std::unique_ptr<http::Client> client_;
};

TEST_F(ProgressServerTest, AnswersTheReadersAccount) {
  TheTokenIsOf("system:serviceaccount:synergy-system:synergy-controller-progress");
  const auto answer = Ask("Synergy-Token", "abc");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(wire::ReadClusterProgress(answer.body)->pods.at(0).pod.iteration, 7);
  ASSERT_EQ(api_.requests(kTokenReviews).size(), 1U);
  EXPECT_THAT(api_.requests(kTokenReviews)[0].body,
              HasSubstr(R"("spec":{"token":"abc","audiences":["progress.synergy.io"]})"));
}

TEST_F(ProgressServerTest, RejectsOtherAccountsWithTheRemedy) {
  const auto helps = AllOf(HasSubstr("kubectl create token synergy-controller-progress "
                                     "--namespace synergy-system --audience progress.synergy.io"),
                           Not(HasSubstr("iteration")));
  const auto none = Ask("", "");
  EXPECT_EQ(none.status, 401);
  EXPECT_THAT(none.body, helps);
  EXPECT_EQ(Ask("Authorization", "Bearer abc").status, 401);
  TheTokenIsOf("system:serviceaccount:synergy-system:synergy-controller");
  const auto other = Ask("Synergy-Token", "abc");
  EXPECT_EQ(other.status, 403);
  EXPECT_THAT(other.body, helps);
}

TEST_F(ProgressServerTest, RejectsAllReadersWithoutTheApiServer) {
  api_.Stop();
  const auto answer = Ask("Synergy-Token", "abc");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, Not(HasSubstr("abc")));
  EXPECT_EQ(client_->Send({.path = "/metrics"})->status, 404);
}

TEST(ProgressAnswersTest, SharesAnAnswerWithinASecond) {
  synergy::testing::FakeClock clock;
  ProgressStore store;
  ProgressAnswers answers(store, clock);
  const auto iteration = [&](std::string_view query) {
    const auto body = answers.Answer({.method = "GET", .path = "/progress", .query = query}).body;
    return wire::ReadClusterProgress(body)->pods.at(0).pod.iteration;
  };
  store.Observe("n1", {}, {AtIteration("a", 1)}, clock.Present());
  EXPECT_EQ(iteration(""), 1);
  store.Observe("n1", {}, {AtIteration("a", 2)}, clock.Present());
  clock.Advance(ProgressAnswers::kShared - std::chrono::milliseconds(1));
  EXPECT_EQ(iteration(""), 1);
  EXPECT_EQ(iteration("namespace=team"), 2) << "another question";
  store.Observe("n1", {}, {AtIteration("a", 3)}, clock.Present());
  EXPECT_EQ(iteration("namespace=team"), 2);
  clock.Advance(ProgressAnswers::kShared);
  EXPECT_EQ(iteration("namespace=team"), 3);
}

}  // namespace
}  // namespace synergy::controller
