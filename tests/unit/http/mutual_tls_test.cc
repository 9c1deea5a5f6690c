#include <atomic>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/client.h"
#include "http/server/server.h"
#include "support/child_process.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace synergy::http {
namespace {

using synergy::testing::Eventually;
using synergy::testing::TemporaryFolder;
using synergy::testing::TestAuthority;
using synergy::testing::TestCertificate;
using ::testing::HasSubstr;

// Tests a server that serves only the client "controller.synergy.svc" of its authority.
class MutualTlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const TestCertificate own = authority_.Issue("server");
    options_.certificate_file = folder_.Write("tls.crt", own.certificate_pem);
    options_.key_file = folder_.Write("tls.key", own.key_pem);
    options_.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem());
    options_.client_name = "controller.synergy.svc";
    options_.on_problem = [this](std::string_view) { ++problems_; };
    options_.on_failed_handshake = [this] { ++refused_; };
    auto created = Server::Create(options_);
    ASSERT_TRUE(created) << created.error().message;
    server_ = *std::move(created);
    server_->Handle("GET", "/hello",
                    [](const Request&) { return Response{200, "text/plain", "hello"}; });
    ASSERT_TRUE(server_->Start());
  }

  Result<ClientResponse> Get(const TestCertificate& shown) {
    const auto client =
        Client::Create({.base_url = "https://127.0.0.1:" + std::to_string(server_->port()),
                        .tls = {.ca_pem = authority_.certificate_pem(),
                                .certificate_pem = shown.certificate_pem,
                                .key_pem = shown.key_pem}});
    EXPECT_TRUE(client) << client.error().message;
    return (*client)->Send({.path = "/hello"});
  }

  TemporaryFolder folder_;
  TestAuthority authority_;
  TestAuthority other_{"other authority"};
  ServerOptions options_;
  std::atomic<int> problems_ = 0;
  std::atomic<int> refused_ = 0;
  std::unique_ptr<Server> server_;
};

TEST_F(MutualTlsTest, TheClientOfThatNameIsServed) {
  const auto answer = Get(authority_.Issue("any", {"DNS:other.svc", "DNS:controller.synergy.svc"}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(refused_, 0);
}

TEST_F(MutualTlsTest, RefusesOtherClients) {
  const TestCertificate strangers[] = {
      {},  // no certificate
      other_.Issue("controller.synergy.svc", {"DNS:controller.synergy.svc"}),
      authority_.Issue("any", {"DNS:node-agent.synergy.svc"}),
      authority_.Issue("any", {"DNS:*.synergy.svc"}),
      authority_.Issue("controller.synergy.svc", {}),  // the subject is not a DNS name
  };
  for (const TestCertificate& stranger : strangers) {
    const auto answer = Get(stranger);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable) << answer.error().message;
  }
  // The client sees that it was refused slightly before the server has counted it.
  EXPECT_TRUE(Eventually([this] { return refused_ == 5; })) << refused_;
}

TEST_F(MutualTlsTest, AChangedAuthorityCountsForTheNextConnection) {
  const TestCertificate old = authority_.Issue("any", {"DNS:controller.synergy.svc"});
  const TestCertificate next = other_.Issue("any", {"DNS:controller.synergy.svc"});
  ASSERT_TRUE(Get(old));
  ASSERT_FALSE(Get(next));
  folder_.Write("ca.crt", other_.certificate_pem());
  EXPECT_TRUE(Get(next));
  EXPECT_FALSE(Get(old));
  EXPECT_EQ(problems_, 0);
  // An incomplete change of the files admits no new client, and excludes none.
  folder_.Write("ca.crt", "");
  EXPECT_TRUE(Get(next));
  EXPECT_FALSE(Get(old));
  EXPECT_EQ(problems_, 1);
}

TEST_F(MutualTlsTest, AClientForAnotherServerShowsTheSameCertificate) {
  const TestCertificate mine = authority_.Issue("any", {"DNS:controller.synergy.svc"});
  const auto first = Client::Create({.base_url = "https://192.0.2.1",
                                     .tls = {.ca_pem = authority_.certificate_pem(),
                                             .certificate_pem = mine.certificate_pem,
                                             .key_pem = mine.key_pem}});
  ASSERT_TRUE(first);
  const auto other = (*first)->For("https://127.0.0.1:" + std::to_string(server_->port()));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE((*other)->Send({.path = "/hello"}));
  EXPECT_FALSE((*first)->For("ftp://127.0.0.1"));
}

TEST_F(MutualTlsTest, AnAuthorityThatCannotBeUsedIsAnError) {
  options_.client_ca_file = folder_.Write("none.crt", "this is no certificate");
  const auto created = Server::Create(options_);
  ASSERT_FALSE(created);
  EXPECT_THAT(created.error().message, HasSubstr("none.crt"));
}

TEST_F(MutualTlsTest, IncompleteClientVerificationIsAnError) {
  ServerOptions without_name = options_;
  without_name.client_name.clear();
  EXPECT_FALSE(Server::Create(without_name));
  ServerOptions without_authority = options_;
  without_authority.client_ca_file.clear();
  EXPECT_FALSE(Server::Create(without_authority));
  ServerOptions without_tls = options_;
  without_tls.certificate_file.clear();
  without_tls.key_file.clear();
  EXPECT_FALSE(Server::Create(without_tls));
}

}  // namespace
}  // namespace synergy::http
