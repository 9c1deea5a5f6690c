#include "http/proxy.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/proxy_tunnel.h"
#include "http/server/server.h"
#include "support/background.h"
#include "support/fake_listener.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace synergy::http {
namespace {

using std::chrono::milliseconds;
using synergy::testing::Background;
using synergy::testing::FakeConnection;
using synergy::testing::FakeListener;
using synergy::testing::FakeRequest;
using synergy::testing::FakeTls;
using synergy::testing::HttpAnswer;
using synergy::testing::ReadRequest;
using synergy::testing::TemporaryFolder;
using synergy::testing::TestAuthority;
using synergy::testing::TestCertificate;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "pa55word";

TEST(ProxyForTest, HostsThatNoProxyNamesAreReachedDirectly) {
  struct Case {
    const char* exempt;
    const char* url;
    bool direct;
  };
  const Case cases[] = {
      {"", "https://api.example.org:6443", false},
      {"*", "https://api.example.org", true},
      {"example.org", "https://example.org", true},
      {"example.org", "https://api.example.org", true},
      {"example.org", "https://badexample.org", false},
      {"EXAMPLE.org", "https://Api.Example.ORG", true},
      {".example.org", "https://api.example.org", true},
      {".example.org", "https://example.org", false},
      {"*.example.org", "https://api.example.org", true},
      {"*.example.org", "https://example.org", false},
      {"example.org:6443", "https://example.org:6443", true},
      {"example.org:6443", "https://example.org", false},
      {"example.org:443", "https://example.org", true},
      {"a.org, ,example.org ,", "https://example.org", true},
      {"10.1.2.3", "https://10.1.2.3:6443", true},
      {"10.1.2.3:443", "https://10.1.2.3:6443", false},
      {"10.1.2.3", "https://10.1.2.30", false},
      {"10.0.0.0/8", "https://10.200.0.1", true},
      {"10.0.0.0/8", "https://11.0.0.1", false},
      {"10.0.0.0/12", "https://10.15.0.1", true},
      {"10.0.0.0/12", "https://10.16.0.1", false},
      {"0.0.0.0/0", "https://203.0.113.9", true},
      {"10.0.0.0/33", "https://10.0.0.1", false},
      {"10.0.0.0/x", "https://10.0.0.1", false},
      {"10.0.0.0/8", "https://10.example.org", false},
      {"0.0.0.0/0", "https://[2001:db8::1]", false},
      {"2001:db8::1", "https://[2001:db8::1]:6443", true},
      {"[2001:db8::1]:6443", "https://[2001:db8::1]:6443", true},
      {"[2001:db8::1]:6443", "https://[2001:db8::1]", false},
      {"2001:db8::/33", "https://[2001:db8:7fff::1]", true},
      {"2001:db8::/33", "https://[2001:db8:8000::1]", false},
      {"", "https://localhost:6443", true},
      {"", "https://127.3.2.1:6443", true},
      {"", "https://[::1]:6443", true},
      {"", "https://localhost.example.org", false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(ProxyFor(each.url, {"https://p", "http://p", each.exempt}).empty(), each.direct)
        << each.exempt << " for " << each.url;
  }
}

TEST(ProxyForTest, EachSchemeHasItsOwnProxy) {
  const ProxyVariables variables{"http://secure:3128", "http://plain:3128", ""};
  EXPECT_EQ(ProxyFor("https://api", variables), "http://secure:3128");
  EXPECT_EQ(ProxyFor("http://api", variables), "http://plain:3128");
  EXPECT_EQ(ProxyFor("http://api", {"http://secure:3128", "", ""}), "");
}

TEST(ProxyTest, UrlsHaveDefaultsAndCredentials) {
  const auto short_form = ParseProxy("proxy:3128");
  ASSERT_TRUE(short_form) << short_form.error().message;
  EXPECT_EQ(short_form->ToText(), "http://proxy:3128");
  EXPECT_EQ(short_form->authorization, "");
  const auto long_form = ParseProxy("HTTPS://user:p%40ss@proxy/");
  ASSERT_TRUE(long_form) << long_form.error().message;
  EXPECT_EQ(long_form->ToText(), "https://proxy");
  EXPECT_EQ(long_form->url.port, 443);
  EXPECT_EQ(long_form->authorization, "Basic dXNlcjpwQHNz");  // the encoded text is user:p@ss
  EXPECT_EQ(ParseProxy("http://user@proxy")->authorization, "Basic dXNlcjo=");
}

TEST(ProxyTest, ErrorsOfUrlsShowNoCredentials) {
  for (const char* url :
       {"socks5://me:pa55word@proxy", "ftp://me:pa55word@proxy", "http://me:pa55word%4@proxy",
        "http://me:pa55word/x@proxy", "http://me:pa55word@", "http://me:pa55word@proxy:0",
        "http://me:pa55word@pro xy"}) {
    const auto proxy = ParseProxy(url);
    ASSERT_FALSE(proxy) << url;
    EXPECT_EQ(proxy.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(proxy.error().message, AllOf(HasSubstr("write http://"), Not(HasSubstr(kSecret))));
  }
  EXPECT_THAT(ParseProxy("socks5://p").error().message, HasSubstr("SOCKS proxies are not"));
}

// A proxy that connects to any port of 127.0.0.1, and records the requests.
class LocalProxy {
 public:
  // `refusal`: the answer to every request; if empty, the proxy refuses none.
  explicit LocalProxy(const std::optional<FakeTls>& tls = {}, std::string refusal = {})
      : listener_(tls), refusal_(std::move(refusal)), accepts_([this] { Serve(); }) {}
  ~LocalProxy() { Stop(); }

  uint16_t port() const { return listener_.port(); }
  std::vector<FakeRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // Returns when all connections have ended.
  void Stop() {
    listener_.Close();
    accepts_.Join();
    relays_.clear();
  }

 private:
  void Serve() {
    while (std::shared_ptr<FakeConnection> connection = listener_.Accept()) {
      relays_.emplace_back([this, connection] { Lead(*connection); });
    }
  }

  void Lead(FakeConnection& connection) {
    if (!connection.Handshake()) return;
    const std::optional<FakeRequest> request = ReadRequest(connection);
    if (!request) return;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(*request);
    }
    if (!refusal_.empty()) {
      connection.Write(refusal_);
    } else if (request->method == "CONNECT") {
      connection.Write("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
      const std::string port = request->path.substr(request->path.rfind(':') + 1);
      connection.RelayTo(static_cast<uint16_t>(std::stoi(port)));
    } else {
      connection.Write(HttpAnswer(200, "forwarded"));
    }
  }

  FakeListener listener_;
  const std::string refusal_;
  mutable std::mutex mutex_;
  std::vector<FakeRequest> requests_;
  // used only by accepts_ until it has ended
  std::vector<Background> relays_;
  Background accepts_;
};

class ProxiedClientTest : public ::testing::Test {
 protected:
  ProxiedClientTest() {
    const TestCertificate certificate = authority_.Issue("server", {"IP:127.0.0.1"});
    auto created =
        Server::Create({.certificate_file = folder_.Write("tls.crt", certificate.certificate_pem),
                        .key_file = folder_.Write("tls.key", certificate.key_pem)});
    EXPECT_TRUE(created) << created.error().message;
    server_ = *std::move(created);
    server_->Handle("GET", "/hello", [this](const Request& request) {
      saw_credentials_ = saw_credentials_ || !request.header("proxy-authorization").empty();
      return Response{200, "text/plain", "hello"};
    });
    EXPECT_TRUE(server_->Start());
  }

  std::string Authority() const { return "127.0.0.1:" + std::to_string(server_->port()); }

  std::unique_ptr<Client> Make(const std::string& proxy) {
    auto client = Client::Create({.base_url = "https://" + Authority(),
                                  .tls = {.ca_pem = authority_.certificate_pem()},
                                  .proxy = proxy});
    EXPECT_TRUE(client) << client.error().message;
    return *std::move(client);
  }

  std::string Url(const LocalProxy& proxy, const std::string& scheme = "http") const {
    return scheme + "://me:" + kSecret + "@127.0.0.1:" + std::to_string(proxy.port());
  }

  TemporaryFolder folder_;
  TestAuthority authority_;
  std::atomic<bool> saw_credentials_ = false;
  std::unique_ptr<Server> server_;
};

TEST_F(ProxiedClientTest, AServerIsReachedThroughATunnelThatIsUsedAgain) {
  LocalProxy proxy;
  std::unique_ptr<Client> client = Make(Url(proxy));
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->Send({.path = "/hello"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
  }
  client.reset();
  proxy.Stop();
  const std::vector<FakeRequest> requests = proxy.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].method, "CONNECT");
  EXPECT_EQ(requests[0].path, Authority());
  EXPECT_EQ(requests[0].headers.at("host"), Authority());
  EXPECT_EQ(requests[0].headers.at("proxy-authorization"), "Basic bWU6cGE1NXdvcmQ=");
  EXPECT_FALSE(saw_credentials_);
}

TEST_F(ProxiedClientTest, ATunnelMayBeginWithTls) {
  const TestCertificate certificate = authority_.Issue("proxy", {"IP:127.0.0.1"});
  LocalProxy proxy{FakeTls{certificate, {}}};
  std::unique_ptr<Client> client = Make(Url(proxy, "https"));
  for (int i = 0; i < 2; ++i) {
    const auto answer = client->Send({.path = "/hello"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
  }
  client.reset();
  proxy.Stop();
  EXPECT_EQ(proxy.requests().size(), 1u);
}

TEST_F(ProxiedClientTest, CredentialsOnlyGoToAProxyThatIsTrusted) {
  LocalProxy proxy{FakeTls{TestAuthority("other").Issue("proxy", {"IP:127.0.0.1"}), {}}};
  const auto answer = Make(Url(proxy, "https"))->Send({.path = "/hello"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("proxy https://127.0.0.1:"));
  EXPECT_THAT(answer.error().message, HasSubstr("TLS handshake: "));
  proxy.Stop();
  EXPECT_TRUE(proxy.requests().empty());
}

TEST_F(ProxiedClientTest, AProxyForwardsPlainRequestsByTheirFullUrl) {
  LocalProxy proxy;
  auto client =
      Client::Create({.base_url = "http://api.example.org:8080/prefix", .proxy = Url(proxy)});
  ASSERT_TRUE(client) << client.error().message;
  const auto answer = (*client)->Send({.path = "/api?limit=1"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "forwarded");
  client->reset();
  proxy.Stop();
  const std::vector<FakeRequest> requests = proxy.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].path, "http://api.example.org:8080/prefix/api");
  EXPECT_EQ(requests[0].query, "limit=1");
  EXPECT_EQ(requests[0].headers.at("host"), "api.example.org:8080");
  EXPECT_EQ(requests[0].headers.at("proxy-authorization"), "Basic bWU6cGE1NXdvcmQ=");
}

TEST_F(ProxiedClientTest, ARefusalIsAnErrorWithoutCredentials) {
  const LocalProxy proxy({},
                         "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
  const auto answer = Make(Url(proxy))->Send({.method = "POST", .path = "/hello", .body = "x"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(answer.error().message, "proxy http://127.0.0.1:" + std::to_string(proxy.port()) +
                                        ": does not connect to " + Authority() +
                                        ": 407 Proxy Authentication Required");
}

TEST_F(ProxiedClientTest, ProxiesThatAreNoneAreUnavailable) {
  for (const char* answer : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 2", "\r\n\r\n",
                             "HTTP/1.1 200 OK\r\n\r\nand more before the handshake"}) {
    const LocalProxy proxy({}, answer);
    const auto got = Make(Url(proxy))->Send({.path = "/hello"});
    ASSERT_FALSE(got) << answer;
    EXPECT_EQ(got.error().code, ErrorCode::kUnavailable) << answer;
  }
  FakeListener absent;
  absent.Close();
  const auto got = Make("http://me:pa55word@127.0.0.1:" + std::to_string(absent.port()))
                       ->Send({.path = "/hello"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(got.error().message, AllOf(HasSubstr("proxy http://127.0.0.1:"),
                                         HasSubstr("cannot connect"), Not(HasSubstr(kSecret))));
}

TEST_F(ProxiedClientTest, ASilentProxyEndsWithTheTimeToConnect) {
  FakeListener proxy;
  std::unique_ptr<FakeConnection> kept;
  const Background accepts([&] { kept = proxy.Accept(); });
  auto client = Client::Create({.base_url = "https://" + Authority(),
                                .tls = {.skip_verify = true},
                                .proxy = proxy.url(),
                                .connect_timeout = milliseconds(50)});
  ASSERT_TRUE(client) << client.error().message;
  const auto answer = (*client)->Send({.path = "/hello"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("does not connect to"));
}

TEST_F(ProxiedClientTest, AMalformedProxyIsAnErrorOfTheClient) {
  const auto client = Client::Create({.base_url = "https://h", .proxy = "socks5://p"});
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace synergy::http
