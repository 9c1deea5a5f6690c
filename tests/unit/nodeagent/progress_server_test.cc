#include "nodeagent/progress/progress_server.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "http/client.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "wire/agents/progress.h"

namespace synergy::nodeagent {
namespace {

using testing::TestAuthority;
using testing::TestCertificate;

class ProgressServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const TestCertificate own = authority_.Issue("agent", {"DNS:agent.svc"});
    config::NodeAgentConfig config;
    config.progress_listen = "127.0.0.1:0";
    config.tls_certificate_file = folder_.Write("tls.crt", own.certificate_pem);
    config.tls_key_file = folder_.Write("tls.key", own.key_pem);
    config.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem());
    config.client_name = "controller.svc";
    auto started = ProgressServer::Start(
        config, [this] { return progress_; }, [this] { ++renewed_; }, log_.log);
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }

  Result<http::ClientResponse> Get(const TestCertificate& shown,
                                   const std::string& turns = "none") {
    auto client =
        http::Client::Create({.base_url = "https://127.0.0.1:" + std::to_string(server_->port()),
                              .tls = {.ca_pem = authority_.certificate_pem(),
                                      .certificate_pem = shown.certificate_pem,
                                      .key_pem = shown.key_pem,
                                      .server_name = "agent.svc"}});
    EXPECT_TRUE(client) << client.error().message;
    return (*client)->Send({.path = "/progress", .headers = {{"Synergy-Turns", turns}}});
  }

  testing::TemporaryFolder folder_;
  TestAuthority authority_;
  testing::SilentLog log_;
  NodeProgress progress_{"n1",
                         WallTime(std::chrono::seconds(5)),
                         WallTime(std::chrono::seconds(9)),
                         {{.uid = "u1", .pod_namespace = "team", .name = "train", .rate = 2.5}}};
  int renewed_ = 0;
  std::unique_ptr<ProgressServer> server_;
};

TEST_F(ProgressServerTest, AnswersTheController) {
  const auto answer = Get(authority_.Issue("any", {"DNS:controller.svc"}));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  const auto reported = wire::ReadNodeProgress(answer->body);
  ASSERT_TRUE(reported) << reported.error().message;
  EXPECT_EQ(*reported, progress_);
}

TEST_F(ProgressServerTest, ARequestRenewsTurnsByItsHeader) {
  const TestCertificate controller = authority_.Issue("any", {"DNS:controller.svc"});
  ASSERT_TRUE(Get(controller));
  ASSERT_TRUE(Get(controller, "renewed"));
  EXPECT_EQ(renewed_, 0);
  ASSERT_TRUE(Get(controller, "renew"));
  EXPECT_EQ(renewed_, 1);
}

TEST_F(ProgressServerTest, RejectsOtherClients) {
  EXPECT_FALSE(Get({}, "renew"));
  EXPECT_FALSE(Get(authority_.Issue("any", {"DNS:agent.svc"}), "renew"));
  EXPECT_EQ(renewed_, 0);
}

}  // namespace
}  // namespace synergy::nodeagent
