#include "cli/page/shared_ui.h"

#include <algorithm>
#include <utility>

#include "cli/page/page.h"

namespace synergy::cli {
namespace {

constexpr const char* kSelfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr const char* kSelfReview =
    R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";

constexpr const char* kCure =
    "enter a token of this cluster on the page (kubectl create token ACCOUNT), or send "
    "`Authorization: Bearer TOKEN`. The API server's service proxy removes that header: use "
    "`kubectl "
    "port-forward` or an ingress";

// Admits users with valid tokens. The API server checks at each read what a user may read.
kube::Judge JudgeBySelfReview(ConnectByToken connect) {
  return [connect = std::move(connect)](const std::string& token) -> Result<kube::Access> {
    const auto connection = connect(token);
    if (!connection) return Fail(connection.error());
    const auto reviewed = connection->client->Post(kSelfReviews, kSelfReview);
    if (reviewed) return kube::Access::kAllowed;
    if (reviewed.error().code == ErrorCode::kDenied) return kube::Access::kUnknown;
    return Fail(reviewed.error());
  };
}

}  // namespace

SharedUi::SharedUi(ConnectByToken connect, ControllerAddress controller, const Clock& clock,
                   Logger& log, Limits limits)
    : connect_(std::move(connect)),
      controller_(std::move(controller)),
      clock_(clock),
      limits_(limits),
      // An old answer does no harm, because the API server checks the token again at each read.
      gate_(JudgeBySelfReview(connect_), clock, log, {.forgive = std::chrono::hours(1)}) {}

void SharedUi::AddRoutes(http::Server& server) {
  server.Handle("GET", "/", [](const http::Request&) {
    return http::Response{200, "text/html; charset=utf-8", ClusterPage()};
  });
  server.Handle("GET", "/state",
                [this](const http::Request& request) { return Answer(request, &UiServer::State); });
  server.Handle("GET", "/explain", [this](const http::Request& request) {
    return Answer(request, &UiServer::Explain);
  });
  // The handler also ends idle sessions: the kubelet's probes call it even while the page is not
  // used.
  server.Handle("GET", "/healthz", [this](const http::Request&) {
    const std::lock_guard lock(mutex_);
    EndIdleSessions();
    return http::Response{200, "text/plain; charset=utf-8", "ok\n"};
  });
}

size_t SharedUi::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

http::Response SharedUi::Answer(const http::Request& request, Question question) {
  const std::string token = kube::BearerToken(request);
  if (auto refusal = kube::RefusalOf(gate_.Check(token), kCure)) return *std::move(refusal);
  const auto ui = Begin(token);
  if (!ui) return {503, "text/plain; charset=utf-8", ui.error().message + "\n"};
  http::Response response = (ui->get()->*question)(request);
  End(token, ui->get());
  return response;
}

Result<std::shared_ptr<UiServer>> SharedUi::Begin(const std::string& token) {
  const std::lock_guard lock(mutex_);
  EndIdleSessions();
  if (requests_ >= limits_.most_at_once)
    return Fail(ErrorCode::kOverloaded, "too many users request the page now: try again");
  auto found = sessions_.find(token);
  if (found == sessions_.end()) {
    auto connection = connect_(token);
    if (!connection) return Fail(connection.error());
    if (sessions_.size() >= limits_.most_sessions) {
      sessions_.erase(std::min_element(
          sessions_.begin(), sessions_.end(),
          [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
    }
    auto ui = std::make_shared<UiServer>(*std::move(connection), controller_, clock_);
    found = sessions_.emplace(token, Session{std::move(ui), clock_.Now()}).first;
  }
  Session& session = found->second;
  if (session.requests >= limits_.most_of_session)
    return Fail(ErrorCode::kOverloaded, "too many requests with this token are in progress");
  session.used = clock_.Now();
  ++session.requests;
  ++requests_;
  return session.ui;
}

void SharedUi::End(const std::string& token, const UiServer* ui) {
  const std::lock_guard lock(mutex_);
  --requests_;
  const auto found = sessions_.find(token);
  // Another session with the token may have begun meanwhile.
  if (found != sessions_.end() && found->second.ui.get() == ui) --found->second.requests;
}

void SharedUi::EndIdleSessions() {
  const Instant now = clock_.Now();
  std::erase_if(sessions_, [&](const auto& session) {
    return session.second.requests == 0 && now - session.second.used >= limits_.idle;
  });
}

}  // namespace synergy::cli
