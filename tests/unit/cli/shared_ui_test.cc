#include "cli/page/shared_ui.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "support/fake_clock.h"
#include "support/fake_objects.h"
#include "support/recorded_log.h"

namespace synergy::cli::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kEverywhere = "";

// An API server with one pod in each of two namespaces. Only users with rights for all namespaces
// see the pods' node.
class TwoTeams {
 public:
  // Answers a request with this token.
  Result<std::string> Answer(const std::string& token, const std::string& method,
                             const std::string& path) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(token + " " + method + " " + path);
    if (down_) return Fail(ErrorCode::kUnavailable, "away");
    if (!rights_.contains(token)) return Fail(ErrorCode::kDenied, "401: Unauthorized");
    if (path.ends_with("/selfsubjectreviews")) return "{}";
    const std::string all = path.substr(0, path.find('?'));
    constexpr std::string_view kNamespaces = "/namespaces/";
    std::string team;
    if (const size_t at = all.find(kNamespaces); at != std::string::npos) {
      const size_t begin = at + kNamespaces.size();
      team = all.substr(begin, all.find('/', begin) - begin);
    }
    const std::set<std::string>& may = rights_.at(token);
    if (!may.contains(kEverywhere) && !may.contains(team))
      return Fail(ErrorCode::kDenied, "403: cannot list resource");
    if (all.ends_with("/nodes")) return List(ToJson(Node(), 1));
    if (all.ends_with("/pods")) {
      if (team.empty()) return List(PodOf("a") + "," + PodOf("b"));
      return List(team == "team-a" ? PodOf("a") : team == "team-b" ? PodOf("b") : "");
    }
    if (all.ends_with("/pods/train-a")) return PodOf("a");
    if (all.ends_with("/pods/train-b")) return PodOf("b");
    if (all.ends_with("/events") || all.ends_with("/trainingprofiles")) return List("");
    return Fail(ErrorCode::kNotFound, "404: there is none");
  }

  void Allow(const std::string& token, const std::string& team) {
    const std::lock_guard lock(mutex_);
    rights_[token].insert(team);
  }
  void Revoke(const std::string& token) {
    const std::lock_guard lock(mutex_);
    rights_.erase(token);
  }
  void SetDown(bool down) {
    const std::lock_guard lock(mutex_);
    down_ = down;
  }
  // Returns the requests since the last call, as "TOKEN METHOD PATH".
  std::vector<std::string> TakeAsked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }

 private:
  static std::string List(const std::string& items) {
    return R"({"metadata":{"resourceVersion":"1"},"items":[)" + items + "]}";
  }
  static synergy::testing::FakeNode Node() {
    return {.name = "node-1",
            .allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"})"};
  }
  static std::string PodOf(const std::string& team) {
    return ToJson(synergy::testing::FakePod{.name = "train-" + team,
                                            .pod_namespace = "team-" + team,
                                            .node = "node-1",
                                            .phase = "Running",
                                            .requests_json = R"({"cpu":"2","nvidia.com/gpu":"1"})"},
                  1);
  }

  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> rights_;  // namespaces by token
  std::vector<std::string> asked_;
  bool down_ = false;
};

class UsersClient final : public kube::ApiClient {
 public:
  UsersClient(TwoTeams& teams, std::string token) : teams_(teams), token_(std::move(token)) {}

  Result<std::string> Get(const std::string& path, std::stop_token) override {
    return teams_.Answer(token_, "GET", path);
  }
  Result<std::string> GetWith(const std::string& path, const Headers&, std::stop_token) override {
    return teams_.Answer(token_, "GET", path);
  }
  Result<std::string> Post(const std::string& path, const std::string&, std::stop_token) override {
    return teams_.Answer(token_, "POST", path);
  }
  Result<std::string> Patch(const std::string& path, const std::string&, const std::string&,
                            std::stop_token) override {
    return teams_.Answer(token_, "PATCH", path);
  }
  Result<std::string> Delete(const std::string& path, const std::string&,
                             std::stop_token) override {
    return teams_.Answer(token_, "DELETE", path);
  }
  Result<> Watch(const std::string&, std::chrono::milliseconds,
                 const std::function<bool(std::string_view)>&, std::stop_token) override {
    return Fail(ErrorCode::kInvalid, "the page watches nothing");
  }

 private:
  TwoTeams& teams_;
  const std::string token_;
};

class SharedUiTest : public ::testing::Test {
 protected:
  explicit SharedUiTest(SharedUi::Limits limits = {})
      : ui_(
            [this](const std::string& token) -> Result<Connection> {
              return Connection{std::make_unique<UsersClient>(teams_, token),
                                wire::ObjectReader("nvidia.com/gpu"),
                                "default",
                                {}};
            },
            {}, clock_, log_, limits) {
    teams_.Allow("admin", kEverywhere);
    teams_.Allow("viewer", "team-a");
    ui_.AddRoutes(*server_);
    EXPECT_TRUE(server_->Start());
    client_ =
        *http::Client::Create({.base_url = "http://127.0.0.1:" + std::to_string(server_->port())});
  }

  static std::string VersionOf(const std::string& answer) {
    constexpr std::string_view kBegin = R"({"version":)";
    EXPECT_THAT(answer, StartsWith(kBegin));
    return answer.substr(kBegin.size(), answer.find(',') - kBegin.size());
  }
  // Sends a request; without a token it has no header for one.
  http::ClientResponse Get(const std::string& path, const std::string& token = "") {
    http::ClientRequest request{.method = "GET", .path = path};
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    auto answer = client_->Send(request);
    EXPECT_TRUE(answer) << answer.error().message;
    return *std::move(answer);
  }

  TwoTeams teams_;
  synergy::testing::FakeClock clock_;
  synergy::testing::RecordedLog lines_;
  Logger log_{lines_, clock_, LogLevel::kDebug, LogFormat::kText};
  SharedUi ui_;
  std::unique_ptr<http::Server> server_ = *http::Server::Create({});
  std::unique_ptr<http::Client> client_;
};

constexpr const char* kPaths[] = {"/state", "/state?namespace=team-a",
                                  "/explain?namespace=team-a&name=train-a"};

TEST_F(SharedUiTest, NothingIsReadWithoutAValidToken) {
  Get("/state", "admin");
  teams_.TakeAsked();
  for (const char* path : kPaths) {
    const auto none = Get(path);
    EXPECT_EQ(none.status, 401) << path;
    EXPECT_THAT(none.body, AllOf(HasSubstr("service proxy"), HasSubstr("port-forward"),
                                 Not(HasSubstr("train"))));
    // The API server would treat these as anonymous requests.
    for (const char* empty : {" ", "two words", "\xc3\xa4"})
      EXPECT_EQ(Get(path, empty).status, 401) << path;
  }
  EXPECT_THAT(teams_.TakeAsked(), IsEmpty());
  for (const char* path : kPaths) EXPECT_EQ(Get(path, "wrong").status, 401) << path;
  const auto asked = teams_.TakeAsked();
  EXPECT_EQ(asked.size(), 1U) << "the answer is kept";
  EXPECT_THAT(asked, Each(HasSubstr("/selfsubjectreviews")));
}

TEST_F(SharedUiTest, ThePageNeedsNoTokenAndHasNoData) {
  Get("/state", "admin");
  const auto page = Get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(StartsWith("<!DOCTYPE html>"), Not(HasSubstr("train-a")),
                               Not(HasSubstr("node-1"))));
  EXPECT_EQ(Get("/healthz").status, 200);
}

TEST_F(SharedUiTest, RightsForAllNamespacesShowAll) {
  EXPECT_THAT(Get("/state", "admin").body, AllOf(HasSubstr(R"("nodes":{"node-1":)"),
                                                 HasSubstr("train-a"), HasSubstr("train-b")));
}

TEST_F(SharedUiTest, AUserOfOneNamespaceSeesNothingOfAnother) {
  Get("/state", "admin");
  const auto everywhere = Get("/state", "viewer");
  EXPECT_EQ(everywhere.status, 403);
  const auto own = Get("/state?namespace=team-a", "viewer");
  EXPECT_EQ(own.status, 200);
  EXPECT_THAT(own.body,
              AllOf(HasSubstr("train-a"), HasSubstr(R"("nodes":{})"), Not(HasSubstr("train-b"))));
  EXPECT_EQ(Get("/state?namespace=team-b", "viewer").status, 403);
  EXPECT_EQ(Get("/state?namespace=team-b/pods", "viewer").status, 400);
  const auto explained = Get("/explain?namespace=team-a&name=train-a", "viewer");
  EXPECT_EQ(explained.status, 200);
  EXPECT_THAT(explained.body, AllOf(HasSubstr("nodes are not shown"), Not(HasSubstr("train-b"))));
  EXPECT_EQ(Get("/explain?namespace=team-b&name=train-b", "viewer").status, 403);
}

TEST_F(SharedUiTest, AllReadsAreWithTheUsersToken) {
  Get("/state", "admin");
  teams_.TakeAsked();
  for (const char* path : kPaths) Get(path, "viewer");
  EXPECT_THAT(teams_.TakeAsked(), AllOf(Not(IsEmpty()), Each(StartsWith("viewer "))));
}

TEST_F(SharedUiTest, ARevokedTokenShowsNothing) {
  EXPECT_EQ(Get("/state?namespace=team-a", "viewer").status, 200);
  teams_.Revoke("viewer");
  clock_.Advance(UiServer::kRefresh);
  const auto before_its_review = Get("/state?namespace=team-a", "viewer");
  EXPECT_EQ(before_its_review.status, 403);
  EXPECT_THAT(before_its_review.body, Not(HasSubstr("train-a")));
  clock_.Advance(minutes(1));
  EXPECT_EQ(Get("/state?namespace=team-a", "viewer").status, 401);
}

TEST_F(SharedUiTest, AnotherSessionDoesNotContinueTheChangesOfTheFirst) {
  const std::string version = VersionOf(Get("/state", "admin").body);
  EXPECT_THAT(Get("/state?since=" + version, "admin").body, HasSubstr(R"("patches":[])"));
  clock_.Advance(SharedUi::Limits().idle);
  EXPECT_THAT(Get("/state?since=" + version, "admin").body, HasSubstr(R"("state":{)"));
}

TEST_F(SharedUiTest, AnIdleSessionEnds) {
  Get("/state", "admin");
  clock_.Advance(SharedUi::Limits().idle - seconds(1));
  Get("/healthz");
  EXPECT_EQ(ui_.sessions(), 1U);
  clock_.Advance(seconds(1));
  Get("/healthz");
  EXPECT_EQ(ui_.sessions(), 0U);
}

TEST_F(SharedUiTest, AnAbsentApiServerIsReportedWithoutTokens) {
  teams_.SetDown(true);
  const auto answer = Get("/state", "admin");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, Not(HasSubstr("admin")));
  const std::vector<std::string> lines = lines_.lines();
  EXPECT_THAT(lines, AllOf(Not(IsEmpty()), Each(Not(HasSubstr("admin")))));
}

TEST_F(SharedUiTest, NothingOfThePageCanBeChanged) {
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    for (const char* path : {"/", "/state", "/explain", "/healthz"}) {
      const auto answer = client_->Send(
          {.method = method, .path = path, .headers = {{"Authorization", "Bearer admin"}}});
      ASSERT_TRUE(answer);
      EXPECT_GE(answer->status, 400) << method << path;
    }
  }
  EXPECT_THAT(teams_.TakeAsked(), IsEmpty());
}

class FewSessionsTest : public SharedUiTest {
 protected:
  FewSessionsTest() : SharedUiTest({.most_sessions = 2}) {}
};

TEST_F(FewSessionsTest, TheOneThatHasBeenIdleForLongestEnds) {
  const char* const tokens[] = {"first", "second", "third"};
  std::map<std::string, std::string> versions;
  for (const char* token : tokens) {
    teams_.Allow(token, kEverywhere);
    versions[token] = VersionOf(Get("/state", token).body);
    clock_.Advance(seconds(1));
  }
  EXPECT_EQ(ui_.sessions(), 2U);
  for (const char* token : {"second", "third"}) {
    EXPECT_THAT(Get("/state?since=" + versions[token], token).body, HasSubstr("patches")) << token;
  }
  EXPECT_THAT(Get("/state?since=" + versions["first"], "first").body, HasSubstr(R"("state":{)"));
}

class BusySessionTest : public SharedUiTest {
 protected:
  BusySessionTest() : SharedUiTest({.most_of_session = 0}) {}
};

TEST_F(BusySessionTest, FurtherRequestsWithTheTokenAreRefused) {
  const auto answer = Get("/state", "admin");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("with this token"));
}

class BusyPageTest : public SharedUiTest {
 protected:
  BusyPageTest() : SharedUiTest({.most_at_once = 0}) {}
};

TEST_F(BusyPageTest, FurtherRequestsAreRefused) {
  const auto answer = Get("/state", "admin");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("too many users"));
  EXPECT_EQ(ui_.sessions(), 0U);
}

}  // namespace
}  // namespace synergy::cli::testing
