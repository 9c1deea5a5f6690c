#include <atomic>
#include <filesystem>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/server/server.h"
#include "support/background.h"
#include "support/fake_listener.h"
#include "support/raw_connection.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace synergy::http {
namespace {

using std::chrono::seconds;
using synergy::testing::Background;
using synergy::testing::FakeListener;
using synergy::testing::FakeTls;
using synergy::testing::HttpAnswer;
using synergy::testing::RawConnection;
using synergy::testing::ReadRequest;
using synergy::testing::TemporaryFolder;
using synergy::testing::TestAuthority;
using synergy::testing::TestCertificate;
using ::testing::HasSubstr;

Result<ClientResponse> Get(const std::string& url, const ClientTls& tls) {
  const auto client = Client::Create({.base_url = url, .tls = tls});
  if (!client) return Fail(client.error());
  return (*client)->Send({.path = "/hello"});
}

class TlsServerTest : public ::testing::Test {
 protected:
  void Start(const TestCertificate& certificate) {
    ServerOptions options;
    options.certificate_file = folder_.Write("tls.crt", certificate.certificate_pem);
    options.key_file = folder_.Write("tls.key", certificate.key_pem);
    options.on_problem = [this](std::string_view problem) {
      const std::lock_guard lock(mutex_);
      problems_.emplace_back(problem);
    };
    options.on_failed_handshake = [this] { ++failed_handshakes_; };
    auto created = Server::Create(options);
    ASSERT_TRUE(created) << created.error().message;
    server_ = std::move(*created);
    server_->Handle("GET", "/hello",
                    [](const Request&) { return Response{200, "text/plain", "hello"}; });
    server_->Handle("POST", "/size", [](const Request& request) {
      return Response{200, "text/plain", std::to_string(request.body.size())};
    });
    ASSERT_TRUE(server_->Start());
  }

  std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + std::to_string(server_->port());
  }
  size_t problems() {
    const std::lock_guard lock(mutex_);
    return problems_.size();
  }

  TemporaryFolder folder_;
  TestAuthority authority_;
  std::atomic<int> failed_handshakes_ = 0;
  std::mutex mutex_;
  std::vector<std::string> problems_;
  std::unique_ptr<Server> server_;
};

TEST_F(TlsServerTest, AClientThatTrustsTheAuthorityIsServed) {
  Start(authority_.Issue("server"));
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto answer = Get(url(host), {.ca_pem = authority_.certificate_pem()});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, "hello");
  }
}

TEST_F(TlsServerTest, SelfSignedCertificateServesUnverifyingClients) {
  server_ = *Server::Create({.self_signed = true});
  server_->Handle("GET", "/hello",
                  [](const Request&) { return Response{200, "text/plain", "hello"}; });
  ASSERT_TRUE(server_->Start());
  EXPECT_EQ(Get(url(), {.skip_verify = true})->body, "hello");
  EXPECT_FALSE(Get(url(), {.ca_pem = authority_.certificate_pem()}));
  EXPECT_GT(server_->CertificateExpiry(), SystemClock().WallNow() + std::chrono::hours(24 * 365));
}

TEST_F(TlsServerTest, AConnectionIsUsedAgainAndLargeBodiesArriveWhole) {
  Start(authority_.Issue("server"));
  const auto client =
      Client::Create({.base_url = url(), .tls = {.ca_pem = authority_.certificate_pem()}});
  ASSERT_TRUE(client);
  for (const size_t size : {size_t{3}, size_t{10} << 20, size_t{0}, size_t{100'000}}) {
    const auto answer =
        (*client)->Send({.method = "POST", .path = "/size", .body = std::string(size, 'x')});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body, std::to_string(size));
  }
}

TEST_F(TlsServerTest, AServerOfAnotherAuthorityIsRefused) {
  Start(authority_.Issue("server"));
  const TestAuthority other("other authority");
  const auto answer = Get(url(), {.ca_pem = other.certificate_pem()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("certificate verify failed"));
  EXPECT_FALSE(Get(url(), {}));  // not one of the system's authorities either
  EXPECT_TRUE(Get(url(), {.skip_verify = true}));
}

TEST_F(TlsServerTest, AClientFollowsTheFileOfTheAuthorityThatItTrusts) {
  Start(authority_.Issue("server"));
  const TestAuthority other("other authority");
  const std::string file = folder_.Write("ca.crt", other.certificate_pem());
  const auto client = Client::Create(
      {.base_url = url(), .tls = {.ca_pem = other.certificate_pem(), .ca_file = file}});
  ASSERT_TRUE(client);
  EXPECT_FALSE((*client)->Send({.path = "/hello"}));
  folder_.Write("ca.crt", "half a file");
  EXPECT_FALSE((*client)->Send({.path = "/hello"}));
  folder_.Write("ca.crt", authority_.certificate_pem());
  EXPECT_TRUE((*client)->Send({.path = "/hello"}));
}

// The file is empty while it is being written. Without an authority the system's authorities would
// be trusted.
TEST_F(TlsServerTest, AFileOfTheAuthorityThatIsEmptyChangesNothing) {
  Start(authority_.Issue("server"));
  const auto client = Client::Create(
      {.base_url = url(),
       .tls = {.ca_pem = authority_.certificate_pem(), .ca_file = folder_.Write("ca.crt", "")}});
  ASSERT_TRUE(client);
  EXPECT_TRUE((*client)->Send({.path = "/hello"}));
}

TEST_F(TlsServerTest, AServerOfAnotherNameIsRefusedUnlessItIsTheNameAskedFor) {
  Start(authority_.Issue("kubernetes", {"DNS:kubernetes.default.svc"}));
  const auto refused = Get(url(), {.ca_pem = authority_.certificate_pem()});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("IP address mismatch"));
  const auto answer =
      Get(url(), {.ca_pem = authority_.certificate_pem(), .server_name = "kubernetes.default.svc"});
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(TlsServerTest, APlainRequestToATlsPortIsNotServed) {
  Start(authority_.Issue("server"));
  const auto answer = Get("http" + url().substr(5), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
}

TEST_F(TlsServerTest, AChangedCertificateIsUsedForTheNextConnection) {
  Start(authority_.Issue("server"));
  const TestAuthority next("next authority");
  const TestCertificate certificate = next.Issue("server");
  folder_.Write("tls.key", certificate.key_pem);
  folder_.Write("tls.crt", certificate.certificate_pem);
  const auto answer = Get(url(), {.ca_pem = next.certificate_pem()});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_FALSE(Get(url(), {.ca_pem = authority_.certificate_pem()}));
  EXPECT_EQ(problems(), 0U);
}

TEST_F(TlsServerTest, ACertificateThatCannotBeUsedIsReportedAndTheOldOneStays) {
  Start(authority_.Issue("server"));
  const ClientTls tls{.ca_pem = authority_.certificate_pem()};
  folder_.Write("tls.crt", "this is no certificate");
  ASSERT_TRUE(Get(url(), tls));
  ASSERT_TRUE(Get(url(), tls));
  EXPECT_EQ(problems(), 1U);
  std::filesystem::remove(folder_.Path("tls.key"));
  ASSERT_TRUE(Get(url(), tls));
  EXPECT_EQ(problems(), 2U);
  // This is an incomplete change: the key belongs to the next certificate, which is not there yet.
  const TestAuthority next("next authority");
  const TestCertificate certificate = next.Issue("server");
  folder_.Write("tls.key", certificate.key_pem);
  ASSERT_TRUE(Get(url(), tls));
  folder_.Write("tls.crt", certificate.certificate_pem);
  EXPECT_TRUE(Get(url(), {.ca_pem = next.certificate_pem()}));
}

TEST_F(TlsServerTest, CertificateExpiryIsThatOfTheCertificateInUse) {
  const TestCertificate certificate = authority_.Issue("server");
  Start(certificate);
  const auto expiry = server_->CertificateExpiry();
  ASSERT_TRUE(expiry);
  EXPECT_GT(*expiry, WallTime{});
  folder_.Write("tls.crt", "this is no certificate");
  EXPECT_EQ(server_->CertificateExpiry(), expiry);
}

TEST_F(TlsServerTest, CountsFailedHandshakes) {
  Start(authority_.Issue("server"));
  ASSERT_TRUE(Get(url(), {.ca_pem = authority_.certificate_pem()}));
  EXPECT_EQ(failed_handshakes_, 0);
  RawConnection broken(server_->port());
  broken.Send("this is no handshake");
  broken.ReadToEnd();
  server_->Stop(seconds(10));
  EXPECT_EQ(failed_handshakes_, 1);
}

TEST_F(TlsServerTest, AClientThatIsSilentInTheHandshakeDoesNotDelayTheEnd) {
  Start(authority_.Issue("server"));
  RawConnection silent(server_->port());
  // the server accepts it after the other connection
  ASSERT_TRUE(Get(url(), {.ca_pem = authority_.certificate_pem()}));
  const auto start = std::chrono::steady_clock::now();
  server_->Stop(seconds(60));
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  EXPECT_TRUE(silent.IsClosed());
}

TEST(ServerCertificateTest, ACertificateThatCannotBeUsedIsAnError) {
  const TemporaryFolder folder;
  const TestAuthority authority;
  const TestCertificate one = authority.Issue("one");
  const TestCertificate two = authority.Issue("two");
  ServerOptions options;
  options.certificate_file = folder.Path("missing.crt");
  EXPECT_FALSE(Server::Create(options));  // without a key
  options.key_file = folder.Write("two.key", two.key_pem);
  auto created = Server::Create(options);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("missing.crt"));
  options.certificate_file = folder.Write("one.crt", one.certificate_pem);
  created = Server::Create(options);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("two.key"));
  EXPECT_THAT(created.error().message, HasSubstr("key values mismatch"));
}

// Tests clients' certificates with a server of the test's own, because ours requests none.
class ClientCertificateTest : public ::testing::Test {
 protected:
  Result<ClientResponse> Call(const ClientTls& tls) {
    const Background server([this] {
      const auto connection = listener_.Accept();
      if (!connection->Handshake()) return;
      if (ReadRequest(*connection)) connection->Write(HttpAnswer(200, "welcome"));
    });
    auto client = Client::Create({.base_url = listener_.url(), .tls = tls});
    EXPECT_TRUE(client) << client.error().message;
    return (*client)->Send({.method = "POST", .path = "/", .body = "x"});
  }

  TestAuthority authority_;
  FakeListener listener_{FakeTls{authority_.Issue("server"), authority_.certificate_pem()}};
};

TEST_F(ClientCertificateTest, AClientWithACertificateIsWelcome) {
  const TestCertificate mine = authority_.Issue("client", {});
  const auto answer = Call({.ca_pem = authority_.certificate_pem(),
                            .certificate_pem = mine.certificate_pem,
                            .key_pem = mine.key_pem});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "welcome");
}

// In TLS 1.3 the client learns this only after it has sent its request, which the server never
// reads.
TEST_F(ClientCertificateTest, RejectedClientGetsAnErrorThatIsSafeToRetry) {
  auto answer = Call({.ca_pem = authority_.certificate_pem()});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
  EXPECT_THAT(answer.error().message, HasSubstr("alert certificate required"));

  const TestCertificate strange = TestAuthority("other authority").Issue("client", {});
  answer = Call({.ca_pem = authority_.certificate_pem(),
                 .certificate_pem = strange.certificate_pem,
                 .key_pem = strange.key_pem});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
}

TEST_F(ClientCertificateTest, AClientFollowsTheFilesOfItsCertificate) {
  const TemporaryFolder folder;
  const TestCertificate strange = TestAuthority("other authority").Issue("client", {});
  const TestCertificate mine = authority_.Issue("client", {});
  const auto client =
      Client::Create({.base_url = listener_.url(),
                      .tls = {.ca_pem = authority_.certificate_pem(),
                              .certificate_pem = strange.certificate_pem,
                              .key_pem = strange.key_pem,
                              .certificate_file = folder.Write("tls.crt", strange.certificate_pem),
                              .key_file = folder.Write("tls.key", strange.key_pem)}});
  ASSERT_TRUE(client);
  const auto call = [&] {
    const Background server([this] {
      const auto connection = listener_.Accept();
      if (!connection->Handshake()) return;
      if (ReadRequest(*connection)) connection->Write(HttpAnswer(200, "welcome"));
    });
    return (*client)->Send({.method = "POST", .path = "/", .body = "x"});
  };
  EXPECT_FALSE(call());
  folder.Write("tls.crt", mine.certificate_pem);
  EXPECT_FALSE(call()) << "with the other one's key";
  folder.Write("tls.key", mine.key_pem);
  EXPECT_TRUE(call());
}

TEST_F(ClientCertificateTest, BadPemIsAnError) {
  const TestCertificate mine = authority_.Issue("client", {});
  const TestCertificate other = authority_.Issue("client", {});
  const auto fails = [](const ClientTls& tls) {
    return !Client::Create({.base_url = "https://127.0.0.1", .tls = tls});
  };
  EXPECT_TRUE(fails({.ca_pem = "nonsense"}));
  EXPECT_TRUE(
      fails({.ca_pem = authority_.certificate_pem() + "-----BEGIN CERTIFICATE-----\nbroken\n"}));
  EXPECT_TRUE(fails({.certificate_pem = mine.certificate_pem}));
  EXPECT_TRUE(fails({.certificate_pem = "nonsense", .key_pem = mine.key_pem}));
  EXPECT_TRUE(fails({.certificate_pem = mine.certificate_pem, .key_pem = "nonsense"}));
  EXPECT_TRUE(fails({.certificate_pem = mine.certificate_pem, .key_pem = other.key_pem}));
  EXPECT_FALSE(fails({.certificate_pem = mine.certificate_pem, .key_pem = mine.key_pem}));
}

// On the socket, the end of a TLS stream looks like data, and so do session tickets.
TEST(TlsClientTest, AConnectionThatTheServerEndedIsNotUsedAgain) {
  const TestAuthority authority;
  FakeListener listener(FakeTls{authority.Issue("server"), ""});
  std::latch closed(1);
  const Background server([&] {
    auto first = listener.Accept();
    first->Handshake();
    for (int i = 0; i < 2; ++i) {
      ReadRequest(*first);
      first->Write(HttpAnswer(200, "first"));
    }
    first.reset();
    closed.count_down();
    const auto second = listener.Accept();
    second->Handshake();
    ReadRequest(*second);
    second->Write(HttpAnswer(200, "second"));
  });
  const auto client =
      Client::Create({.base_url = listener.url(), .tls = {.ca_pem = authority.certificate_pem()}});
  ASSERT_TRUE(client);
  ASSERT_TRUE((*client)->Send({.path = "/"}));
  ASSERT_TRUE((*client)->Send({.path = "/"}));
  closed.wait();
  const auto answer = (*client)->Send({.method = "POST", .path = "/", .body = "x"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "second");
}

}  // namespace
}  // namespace synergy::http
