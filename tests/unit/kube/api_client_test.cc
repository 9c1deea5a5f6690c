#include "kube/api_client.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/background.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"

namespace synergy::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using synergy::testing::Background;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeTls;
using synergy::testing::TemporaryFolder;
using synergy::testing::TestAuthority;
using synergy::testing::TestCertificate;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<ApiClient> Connect(const config::ClusterAccess& access,
                                   ApiClientOptions options = {}) {
  auto client = ApiClient::Create(access, std::move(options));
  EXPECT_TRUE(client) << client.error().message;
  return std::move(*client);
}

std::string SentToken(const FakeApiServer& server) {
  return server.requests().back().headers["authorization"];
}

TEST(ApiClientTest, GetReturnsTheBody) {
  FakeApiServer server;
  server.SetPods({{.name = "p"}});
  const auto client = Connect(server.access(), {.user_agent = "synergy-test"});
  const auto body = client->Get("/api/v1/namespaces/default/pods/p");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_THAT(*body, HasSubstr(R"("uid":"uid-p")"));
  auto request = server.requests().front();
  EXPECT_EQ(request.headers["user-agent"], "synergy-test");
  EXPECT_EQ(request.headers["accept"], "application/json");
  EXPECT_EQ(request.headers.count("authorization"), 0U);
}

TEST(ApiClientTest, EveryRequestImpersonatesTheUser) {
  FakeApiServer server;
  config::ClusterAccess access = server.access();
  access.as = {.user = "jane", .uid = "u1", .groups = {"dev"}, .extra = {{"example.org/a", "b"}}};
  const auto client = Connect(access);
  (void)client->Get("/a");
  (void)client->Post("/b", "{}");
  auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  for (auto& request : requests) {
    EXPECT_EQ(request.headers["impersonate-user"], "jane");
    EXPECT_EQ(request.headers["impersonate-uid"], "u1");
    EXPECT_EQ(request.headers["impersonate-group"], "dev");
    EXPECT_EQ(request.headers["impersonate-extra-example.org%2fa"], "b");
  }
}

TEST(ApiClientTest, PostAndPatchSendTheirBody) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  (void)client->Post("/a", "{1}");
  (void)client->Patch("/b", "application/merge-patch+json", "{2}");
  auto requests = server.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].headers["content-type"], "application/json");
  EXPECT_EQ(requests[0].body, "{1}");
  EXPECT_EQ(requests[1].method, "PATCH");
  EXPECT_EQ(requests[1].headers["content-type"], "application/merge-patch+json");
  EXPECT_EQ(requests[1].body, "{2}");
}

TEST(ApiClientTest, StatusesBecomeErrorsWithTheServersMessage) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  const std::vector<std::pair<int, ErrorCode>> cases = {
      {400, ErrorCode::kInvalid},     {401, ErrorCode::kDenied},     {403, ErrorCode::kDenied},
      {404, ErrorCode::kNotFound},    {409, ErrorCode::kConflict},   {410, ErrorCode::kGone},
      {422, ErrorCode::kInvalid},     {429, ErrorCode::kOverloaded}, {500, ErrorCode::kUnavailable},
      {503, ErrorCode::kUnavailable}, {504, ErrorCode::kTimeout},    {302, ErrorCode::kInvalid},
  };
  for (const auto& [status, code] : cases) {
    server.FailNext("POST", "/some/path", status);
    const auto answer = client->Post("/some/path?secret=1", "{}");
    ASSERT_FALSE(answer) << status;
    EXPECT_EQ(answer.error().code, code) << status;
    EXPECT_EQ(answer.error().message,
              "POST /some/path: status " + std::to_string(status) + ": Trouble: as told");
  }
}

TEST(ApiClientTest, RetriesAnOverloadedServerAfterRetryAfter) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  server.OverloadNext("POST", "/busy", 0, 2);
  const auto answer = client->Post("/busy", "{}");
  EXPECT_EQ(server.requests("/busy").size(), 3U);
  EXPECT_EQ(answer.error().code, ErrorCode::kNotFound) << "as the server answers by itself";

  server.OverloadNext("POST", "/always", 0, 100);
  EXPECT_EQ(client->Post("/always", "{}").error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(server.requests("/always").size(), 4U);

  server.OverloadNext("POST", "/tomorrow", 86400, 1);
  EXPECT_EQ(client->Post("/tomorrow", "{}").error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(server.requests("/tomorrow").size(), 1U);

  // A caller without remaining time does not wait, whether it is stopped before the answer or
  // after.
  server.OverloadNext("POST", "/soon", 5, 1);
  std::stop_source stop;
  const Background stopper([&] {
    EXPECT_TRUE(server.WaitForRequests("/soon", 1));
    stop.request_stop();
  });
  const ErrorCode code = client->Post("/soon", "{}", stop.get_token()).error().code;
  EXPECT_TRUE(code == ErrorCode::kOverloaded || code == ErrorCode::kCancelled) << ToString(code);
  EXPECT_EQ(server.requests("/soon").size(), 1U);
}

TEST(ApiClientTest, ATokenIsSentAndNeverShown) {
  FakeApiServer server;
  config::ClusterAccess access = server.access();
  access.token = "very-secret";
  const auto client = Connect(access);
  const auto answer = client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer very-secret");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, Not(HasSubstr("very-secret")));
}

// By then another replica may lead.
TEST(ApiClientTest, AWriteIsSentAgainOnlyWhileItMayBe) {
  FakeApiServer server;
  bool may = true;
  const auto client = Connect(server.access(), {.may_repeat_writes = [&may] { return may; }});
  const auto patch = [&] {
    server.OverloadNext("PATCH", "/a", 0, 1);
    const size_t before = server.requests().size();
    (void)client->Patch("/a", "application/merge-patch+json", "{}");
    return server.requests().size() - before;
  };
  EXPECT_EQ(patch(), 2U);
  may = false;
  EXPECT_EQ(patch(), 1U);
  server.OverloadNext("GET", "/a", 0, 1);
  const size_t before = server.requests().size();
  (void)client->Get("/a");
  EXPECT_EQ(server.requests().size() - before, 2U) << "a read changes nothing";
}

TEST(ApiClientTest, ATokenFileIsReadAgainWhenItChanges) {
  const TemporaryFolder folder;
  FakeApiServer server;
  config::ClusterAccess access = server.access();
  access.token_file = folder.Write("token", "first\n");
  const auto client = Connect(access);
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer first");
  folder.Write("token", "second");
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer second");
  // While the file is replaced, it may be empty.
  folder.Write("token", "");
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer second");
  std::filesystem::remove(access.token_file);
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer second");
}

TEST(ApiClientTest, ATokenFileIsReadAgainAfterTheTokenWasRefused) {
  const TemporaryFolder folder;
  FakeApiServer server;
  config::ClusterAccess access = server.access();
  access.token_file = folder.Write("token", "first");
  const auto client = Connect(access);
  (void)client->Get("/nothing");
  // The file's date and size do not show this change.
  const auto before = std::filesystem::last_write_time(access.token_file);
  std::ofstream(access.token_file, std::ios::in | std::ios::out) << "other";
  std::filesystem::last_write_time(access.token_file, before);
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer first");
  server.FailNext("GET", "/nothing", 401);
  EXPECT_EQ(client->Get("/nothing").error().code, ErrorCode::kDenied);
  (void)client->Get("/nothing");
  EXPECT_EQ(SentToken(server), "Bearer other");
}

TEST(ApiClientTest, AMissingTokenFileIsAnErrorFromTheStart) {
  config::ClusterAccess access;
  access.server = "http://127.0.0.1:1";
  access.token_file = "/nowhere/token";
  const auto client = ApiClient::Create(access);
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("token file /nowhere/token"));
}

TEST(ApiClientTest, MutualTlsWorksWithDataFromMemory) {
  const TestAuthority authority;
  FakeApiServer server(FakeTls{authority.Issue("server"), authority.certificate_pem()});
  server.SetNodes({{.name = "n"}});
  const TestCertificate mine = authority.Issue("me", {});
  config::ClusterAccess access = server.access();
  access.ca_pem = authority.certificate_pem();
  access.certificate_pem = mine.certificate_pem;
  access.key_pem = mine.key_pem;
  const auto body = Connect(access)->Get("/api/v1/nodes");
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_THAT(*body, HasSubstr("uid-n"));

  access.certificate_pem.clear();
  access.key_pem.clear();
  const auto anonymous = Connect(access)->Get("/api/v1/nodes");
  ASSERT_FALSE(anonymous);
  EXPECT_EQ(anonymous.error().code, ErrorCode::kUnavailable);

  access.ca_pem = TestAuthority("other authority").certificate_pem();
  const auto untrusted = Connect(access)->Get("/api/v1/nodes");
  ASSERT_FALSE(untrusted);
  EXPECT_THAT(untrusted.error().message, HasSubstr("certificate verify failed"));
}

TEST(ApiClientTest, AServerThatIsDownIsUnavailableAndComesBack) {
  FakeApiServer server({}, /*started=*/false);
  const auto client = Connect(server.access());
  const auto refused = client->Get("/api/v1/nodes");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("GET /api/v1/nodes: cannot connect"));
  for (int i = 0; i < 2; ++i) {
    server.Start();
    EXPECT_TRUE(client->Get("/api/v1/nodes"));
    server.Stop();
    EXPECT_FALSE(client->Get("/api/v1/nodes"));
  }
}

TEST(ApiClientTest, AServerThatDoesNotAnswerIsATimeout) {
  FakeApiServer server;
  const auto client = Connect(server.access(), {.request_timeout = milliseconds(50)});
  server.IgnoreNext("GET", "/api/v1/nodes");
  const auto answer = client->Get("/api/v1/nodes");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST(ApiClientTest, ManyCallersAtOnceAllGetTheirAnswers) {
  FakeApiServer server;
  std::vector<synergy::testing::FakePod> pods;
  for (int i = 0; i < 64; ++i) pods.push_back({.name = "p" + std::to_string(i)});
  server.SetPods(pods);
  const auto client = Connect(server.access());
  std::atomic<int> right = 0;
  {
    std::vector<Background> callers;
    for (int i = 0; i < 64; ++i) {
      callers.emplace_back([&, name = "p" + std::to_string(i)] {
        for (int j = 0; j < 5; ++j) {
          const auto body = client->Get("/api/v1/namespaces/default/pods/" + name);
          if (body && body->find("\"uid-" + name + "\"") != std::string::npos) ++right;
        }
      });
    }
  }
  EXPECT_EQ(right, 64 * 5);
}

constexpr char kWatch[] = "/api/v1/pods?watch=1&timeoutSeconds=60&resourceVersion=100";

TEST(ApiClientTest, WatchGivesLinesAfterItReportsThatItIsOpen) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  std::vector<std::string> lines;
  const Result<> ended = client->Watch(kWatch, seconds(60),
                                       [&](std::string_view line) {
                                         if (lines.empty()) {
                                           EXPECT_TRUE(server.WaitForWatches("pods", 1));
                                           server.SendLine("pods", "one\n\ntwo");
                                         }
                                         lines.emplace_back(line);
                                         if (line == "two") server.EndWatches();
                                         return true;
                                       },
                                       {});
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_THAT(lines, ElementsAre("", "one", "two"));
}

TEST(ApiClientTest, AWatchEndsWhenItsReaderHasEnough) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  EXPECT_TRUE(client->Watch(kWatch, seconds(60), [](std::string_view) { return false; }, {}));
  EXPECT_TRUE(server.WaitForWatches("pods", 0));
}

TEST(ApiClientTest, AWatchThatIsRefusedIsAnError) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  server.FailNext("GET", "watch=1", 410);
  const Result<> ended =
      client->Watch(kWatch, seconds(60), [](std::string_view) { return ADD_FAILURE(), true; }, {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kGone);
}

TEST(ApiClientTest, ABrokenWatchKeepsTheHalfLineToItself) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  std::vector<std::string> lines;
  const Result<> ended = client->Watch(kWatch, seconds(60),
                                       [&](std::string_view line) {
                                         lines.emplace_back(line);
                                         server.BreakWatchesInALine();
                                         return true;
                                       },
                                       {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(lines, ElementsAre(""));
}

TEST(ApiClientTest, ALineWithoutEndIsRefused) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  const Result<> ended =
      client->Watch(kWatch, seconds(60),
                    [&](std::string_view line) {
                      EXPECT_EQ(line, "");
                      server.SendLine("pods", std::string(size_t{33} << 20, 'x'));
                      return true;
                    },
                    {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(ended.error().message,
              AllOf(HasSubstr("GET /api/v1/pods: "), HasSubstr("a line is longer than")));
}

TEST(ApiClientTest, ASilentWatchIsStoppedAtOnce) {
  FakeApiServer server;
  const auto client = Connect(server.access());
  std::stop_source stop;
  std::latch open(1);
  const Background stopper([&] {
    open.wait();
    stop.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  const Result<> ended = client->Watch(
      kWatch, seconds(60), [&](std::string_view) { return open.count_down(), true; },
      stop.get_token());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
}

}  // namespace
}  // namespace synergy::kube
