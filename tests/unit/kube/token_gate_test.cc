#include "kube/token_gate.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_api_server.h"
#include "support/fake_clock.h"
#include "support/recorded_log.h"
#include "support/silent_log.h"

namespace synergy::kube {
namespace {

using std::chrono::seconds;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeClock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReader = "system:serviceaccount:synergy-system:reader";
constexpr const char* kAudience = "progress.synergy.io";

// Accepts tokens by their audience and user: "AUDIENCE/USER".
class FakeAccessApi final : public AccessApi {
 public:
  Result<std::optional<wire::TokenUser>> ReviewToken(const std::string& token,
                                                     const std::string& audience) override {
    asked.push_back(token);
    if (down) return Fail(ErrorCode::kUnavailable, "nobody is there");
    if (revoked || !token.starts_with(audience + "/")) return std::optional<wire::TokenUser>();
    return wire::TokenUser{token.substr(audience.size() + 1), "", "", ""};
  }
  Result<bool> MayGet(const wire::TokenUser& user, const std::string& path) override {
    if (down_for_rights) return Fail(ErrorCode::kUnavailable, "nobody is there");
    return user.name == "prometheus" && path == "/metrics";
  }

  std::vector<std::string> asked;
  bool down = false;
  bool revoked = false;
  bool down_for_rights = false;
};

class TokenGateTest : public ::testing::Test {
 protected:
  static std::string For(const std::string& user) { return std::string(kAudience) + "/" + user; }

  FakeAccessApi api_;
  FakeClock clock_;
  testing::RecordedLog lines_;
  Logger log_{lines_, clock_, LogLevel::kDebug, LogFormat::kText};
  TokenGate gate_{JudgeByUser(api_, kReader, kAudience), clock_, log_, {.most_kept = 3}};
};

TEST_F(TokenGateTest, OneAccountComesInByTokensForThatAudience) {
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
  EXPECT_EQ(gate_.Check(For("system:serviceaccount:synergy-system:other")), Access::kForbidden);
  EXPECT_EQ(gate_.Check(std::string("another.audience/") + kReader), Access::kUnknown);
}

TEST_F(TokenGateTest, NoTokenAndOneThatIsTooLongAreNobodysUnasked) {
  EXPECT_EQ(gate_.Check(""), Access::kUnknown);
  EXPECT_EQ(gate_.Check(For(std::string(20000, 'x'))), Access::kUnknown);
  // The API server treats a header with one of these as an anonymous request.
  for (const char* token : {" ", "a b", "a\n", "a\tb", "\xc3\xa4"})
    EXPECT_EQ(gate_.Check(token), Access::kUnknown) << token;
  EXPECT_TRUE(api_.asked.empty());
}

TEST_F(TokenGateTest, AnAnswerCountsForAWhile) {
  for (int time = 0; time < 3; ++time) {
    EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
    EXPECT_EQ(gate_.Check("nobody's"), Access::kUnknown);
  }
  EXPECT_EQ(api_.asked.size(), 2U);
  clock_.Advance(seconds(10));
  EXPECT_EQ(gate_.Check("nobody's"), Access::kUnknown);
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
  EXPECT_EQ(api_.asked.size(), 3U) << "a refusal ends sooner";
  clock_.Advance(seconds(50));
  api_.down = true;
  EXPECT_FALSE(gate_.Check(For(kReader))) << "a minute after it was allowed";
}

TEST_F(TokenGateTest, ManyBadTokensDoNotEvictAGoodOne) {
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
  for (int token = 0; token < 100; ++token)
    EXPECT_EQ(gate_.Check("guess-" + std::to_string(token)), Access::kUnknown);
  EXPECT_EQ(gate_.kept(), 4U);
  api_.asked.clear();
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
  EXPECT_EQ(gate_.Check("guess-99"), Access::kUnknown);
  EXPECT_TRUE(api_.asked.empty());
  EXPECT_EQ(gate_.Check("guess-0"), Access::kUnknown);
  EXPECT_THAT(api_.asked, ElementsAre("guess-0"));
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(gate_.Check("guess-1"), Access::kUnknown);
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
  EXPECT_EQ(gate_.kept(), 2U) << "what has ended is kept no more";
}

TEST_F(TokenGateTest, FailureIsLoggedOnceAndNotCached) {
  api_.down = true;
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(gate_.Check(For(kReader)).error().code, ErrorCode::kUnavailable);
  ASSERT_EQ(lines_.lines().size(), 1U);
  EXPECT_THAT(lines_.lines()[0], HasSubstr("cannot review tokens"));
  EXPECT_THAT(lines_.lines()[0], Not(HasSubstr(kReader)));
  EXPECT_EQ(gate_.kept(), 0U);
  api_.down = false;
  EXPECT_EQ(gate_.Check(For(kReader)), Access::kAllowed);
}

TEST_F(TokenGateTest, ForgivesAnOutageForTheConfiguredTime) {
  TokenGate gate(JudgeByUser(api_, kReader, kAudience), clock_, log_, {.forgive = seconds(30)});
  EXPECT_EQ(gate.Check(For(kReader)), Access::kAllowed);
  EXPECT_EQ(gate.Check("nobody's"), Access::kUnknown);
  api_.down = true;
  clock_.Advance(seconds(89));
  EXPECT_EQ(gate.Check(For(kReader)), Access::kAllowed);
  EXPECT_FALSE(gate.Check("nobody's"));
  clock_.Advance(seconds(1));
  EXPECT_FALSE(gate.Check(For(kReader)));
  // This lasts only until there is an answer again.
  api_.down = false;
  EXPECT_EQ(gate.Check(For(kReader)), Access::kAllowed);
  clock_.Advance(seconds(60));
  api_.revoked = true;
  EXPECT_EQ(gate.Check(For(kReader)), Access::kUnknown);
  api_.down = true;
  clock_.Advance(seconds(10));
  EXPECT_FALSE(gate.Check(For(kReader)));
}

// A review takes seconds while the API server is away, and Prometheus waits ten.
TEST_F(TokenGateTest, AnOutageIsAskedAboutNowAndThen) {
  TokenGate gate(JudgeByUser(api_, kReader, kAudience), clock_, log_,
                 {.forgive = seconds(600), .keep_failed = seconds(10)});
  EXPECT_EQ(gate.Check(For(kReader)), Access::kAllowed);
  api_.down = true;
  clock_.Advance(seconds(60));
  api_.asked.clear();
  for (int second = 0; second < 100; ++second) {
    EXPECT_EQ(gate.Check(For(kReader)), Access::kAllowed);
    clock_.Advance(seconds(1));
  }
  EXPECT_EQ(api_.asked.size(), 10U);
  EXPECT_FALSE(gate.Check("nobody's")) << "that waits for an answer";
  api_.down = false;
  api_.revoked = true;
  clock_.Advance(seconds(10));
  EXPECT_EQ(gate.Check(For(kReader)), Access::kUnknown);
}

TEST_F(TokenGateTest, SomeAreJudgedAtOnceAndMoreAreRefused) {
  std::optional<Result<Access>> inner;
  TokenGate* outer = nullptr;
  TokenGate gate(
      [&](const std::string&) -> Result<Access> {
        inner = outer->Check("another");
        return Access::kAllowed;
      },
      clock_, log_, {.most_at_once = 1});
  outer = &gate;
  EXPECT_EQ(gate.Check("one"), Access::kAllowed);
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->error().code, ErrorCode::kOverloaded);
  EXPECT_EQ(gate.Check("one"), Access::kAllowed) << "it has ended";
}

TEST_F(TokenGateTest, PathIsOpenToAccountsThatMayGetIt) {
  TokenGate gate(JudgeByPath(api_, "/metrics"), clock_, log_);
  EXPECT_EQ(gate.Check("/prometheus"), Access::kAllowed);
  EXPECT_EQ(gate.Check("/trainer"), Access::kForbidden);
  EXPECT_EQ(gate.Check("unknown"), Access::kUnknown);
  api_.down_for_rights = true;
  EXPECT_FALSE(gate.Check("/another"));
}

TEST(RefusalTest, NamesTheRemedy) {
  EXPECT_EQ(RefusalOf(Access::kAllowed, "do so"), std::nullopt);
  EXPECT_EQ(RefusalOf(Access::kUnknown, "do so")->status, 401);
  EXPECT_THAT(RefusalOf(Access::kUnknown, "do so")->body, HasSubstr("do so"));
  EXPECT_EQ(RefusalOf(Access::kForbidden, "do so")->status, 403);
  EXPECT_THAT(RefusalOf(Access::kForbidden, "do so")->body, HasSubstr("do so"));
  const auto unavailable = RefusalOf(Fail(ErrorCode::kUnavailable, "nobody is there"), "do so");
  EXPECT_EQ(unavailable->status, 503);
  EXPECT_THAT(unavailable->body, HasSubstr("nobody is there"));
}

// Tests the API server's own answers, from 1.34.
class GuardMetricsTest : public ::testing::Test {
 protected:
  static constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
  static constexpr const char* kAccessReviews =
      "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  void Answer(const std::string& token_review, const std::string& access_review) {
    server_.PutText(kTokenReviews, token_review);
    server_.PutText(kAccessReviews, access_review);
  }

  int Ask(const std::string& authorization) {
    const http::Request request{
        .method = "GET", .path = "/metrics", .header = [&](std::string_view name) {
          return name == "Authorization" ? authorization : std::string();
        }};
    const auto refusal = GuardMetrics(*client_, clock_, silent_.log)(request);
    return refusal ? refusal->status : 200;
  }

  FakeApiServer server_;
  FakeClock clock_;
  synergy::testing::SilentLog silent_;
  std::unique_ptr<ApiClient> client_ = *ApiClient::Create(server_.access());
};

constexpr const char* kPrometheus =
    R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":"abc"},)"
    R"("status":{"authenticated":true,"audiences":["https://kubernetes.default.svc"],)"
    R"("user":{"username":"system:serviceaccount:monitoring:prometheus","uid":"u1",)"
    R"("groups":["system:serviceaccounts","system:authenticated"],)"
    R"("extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]}}}})";

TEST_F(GuardMetricsTest, TheApiServerIsAskedForTheTokenAndTheRight) {
  Answer(kPrometheus, R"({"status":{"allowed":true,"reason":"RBAC"}})");
  EXPECT_EQ(Ask("Bearer abc"), 200);
  ASSERT_EQ(server_.requests(kTokenReviews).size(), 1U);
  EXPECT_THAT(server_.requests(kTokenReviews)[0].body, HasSubstr(R"("spec":{"token":"abc"})"));
  ASSERT_EQ(server_.requests(kAccessReviews).size(), 1U);
  EXPECT_THAT(
      server_.requests(kAccessReviews)[0].body,
      HasSubstr(R"("spec":{"user":"system:serviceaccount:monitoring:prometheus","uid":"u1",)"
                R"("groups":["system:serviceaccounts","system:authenticated"],)"
                R"("extra":{"authentication.kubernetes.io/credential-id":["JTI=1"]},)"
                R"("nonResourceAttributes":{"path":"/metrics","verb":"get"}})"));
}

TEST_F(GuardMetricsTest, RefusesOtherAccounts) {
  Answer(kPrometheus, R"({"status":{"allowed":false}})");
  EXPECT_EQ(Ask("Bearer abc"), 403);
  Answer(kPrometheus, R"({"status":{"allowed":true,"denied":true}})");
  EXPECT_EQ(Ask("Bearer abc"), 403);
  Answer(R"({"status":{"user":{},"error":"[invalid bearer token]"}})", "{}");
  EXPECT_EQ(Ask("Bearer abc"), 401);
  EXPECT_EQ(Ask(""), 401);
  EXPECT_EQ(Ask("Basic YTpi"), 401);
  Answer(R"({"status":{"authenticated":"yes"}})", "{}");
  EXPECT_EQ(Ask("Bearer abc"), 503);
  server_.FailNext("POST", kTokenReviews, 403);
  EXPECT_EQ(Ask("Bearer abc"), 503) << "the program may not ask, whoever asks it";
}

TEST_F(GuardMetricsTest, ATokenForAnotherAudienceIsNobodys) {
  const auto api = MakeAccessApi(*client_);
  const auto review = [&](const std::string& audiences) {
    server_.PutText(kTokenReviews,
                    R"({"status":{"authenticated":true,"user":{"username":"reader"},)"
                    R"("audiences":)" +
                        audiences + "}}");
    return *api->ReviewToken("abc", kAudience);
  };
  ASSERT_TRUE(review(R"(["progress.synergy.io"])"));
  EXPECT_EQ(review(R"(["progress.synergy.io"])")->name, "reader");
  EXPECT_FALSE(review(R"(["https://kubernetes.default.svc"])"));
  EXPECT_FALSE(review("[]")) << "its authenticator has not looked at audiences";
  EXPECT_THAT(server_.requests(kTokenReviews)[0].body,
              HasSubstr(R"("audiences":["progress.synergy.io"])"));
}

}  // namespace
}  // namespace synergy::kube
