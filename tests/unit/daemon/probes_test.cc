
#include "daemon/probes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

namespace synergy::daemon {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<http::Server> Serve(http::ServerOptions options, std::string dead) {
  auto server = *http::Server::Create(std::move(options));
  AddProbes(*server, {.dead = [dead] { return dead; },
                      .not_ready = [] { return std::string("nothing is listed yet"); },
                      .metrics = [] { return std::string(); }});
  EXPECT_TRUE(server->Start());
  return server;
}

class CheckHealthTest : public ::testing::Test {
 protected:
  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kWarn, LogFormat::kText};
};

TEST_F(CheckHealthTest, ReachesServersThatListenOnAllAddresses) {
  const auto server = Serve(*ListenOn(":0", log), "");
  EXPECT_TRUE(CheckHealth(fmt::format(":{}", server->port()), false));
  EXPECT_TRUE(CheckHealth(fmt::format("0.0.0.0:{}", server->port()), false));
  EXPECT_TRUE(CheckHealth(fmt::format("127.0.0.1:{}", server->port()), false));
}

TEST_F(CheckHealthTest, DoesNotMindAServersOwnCertificate) {
  const synergy::testing::TemporaryFolder folder;
  http::ServerOptions options = *ListenOn("127.0.0.1:0", log);
  const auto certificate = synergy::testing::TestAuthority().Issue("somebody", {"DNS:elsewhere"});
  options.certificate_file = folder.Write("tls.crt", certificate.certificate_pem);
  options.key_file = folder.Write("tls.key", certificate.key_pem);
  const auto server = Serve(std::move(options), "");
  EXPECT_TRUE(CheckHealth(fmt::format("127.0.0.1:{}", server->port()), true));
}

TEST_F(CheckHealthTest, ReportsTheMessageOfAnUnhealthyProgram) {
  const auto server = Serve(*ListenOn("127.0.0.1:0", log), "looking at the GPUs hangs");
  const Result<> healthy = CheckHealth(fmt::format("127.0.0.1:{}", server->port()), false);
  ASSERT_FALSE(healthy);
  EXPECT_THAT(healthy.error().message, HasSubstr("503: looking at the GPUs hangs"));
}

TEST_F(CheckHealthTest, FailsIfNothingListens) {
  EXPECT_FALSE(CheckHealth("127.0.0.1:1", false));
  EXPECT_FALSE(CheckHealth("nowhere", false));
}

}  // namespace
}  // namespace synergy::daemon
