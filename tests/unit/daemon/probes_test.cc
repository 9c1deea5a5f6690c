
#include "daemon/probes.h"

#include <future>
#include <memory>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

class ServeProbesTest : public CheckHealthTest {
 protected:
  // The name differs from that of another run of this test.
  const std::string name = fmt::format("synergy-test-{}", ::getpid());
  std::string not_ready = "nothing is listed yet";
  const Probes probes{.not_ready = [this] { return not_ready; }, .metrics = nullptr};
};

TEST_F(ServeProbesTest, AnswersForHealthAndReadinessOnAUnixSocket) {
  const auto server = ServeProbes(name, probes, log);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_TRUE(CheckProbes(name, "/healthz"));
  const Result<> unready = CheckProbes(name, "/readyz");
  ASSERT_FALSE(unready);
  EXPECT_THAT(unready.error().message, HasSubstr("503: not ready: nothing is listed yet"));
  not_ready = "";
  EXPECT_TRUE(CheckProbes(name, "/readyz"));
  EXPECT_FALSE(CheckProbes(name, "/metrics"));
}

TEST_F(ServeProbesTest, AnswersWhileTheProgramsPortIsFull) {
  http::ServerOptions options = *ListenOn("127.0.0.1:0", log);
  options.exempt_loopback = false;
  options.max_connections = 1;
  options.max_waiting = 0;
  std::promise<void> end;
  const std::shared_future<void> ended = end.get_future().share();
  std::promise<void> taken;
  auto server = *http::Server::Create(std::move(options));
  server->Handle("GET", "/slow", [&](const http::Request&) {
    taken.set_value();
    ended.wait();
    return Text(200, "");
  });
  AddProbes(*server, probes);
  ASSERT_TRUE(server->Start());
  const auto probe_server = ServeProbes(name, probes, log);
  ASSERT_TRUE(probe_server);
  const std::string listen = fmt::format("127.0.0.1:{}", server->port());
  std::thread slow([&] { EXPECT_TRUE(CheckHealth(listen, false, "/slow")); });
  taken.get_future().wait();
  EXPECT_FALSE(CheckHealth(listen, false));
  EXPECT_TRUE(CheckProbes(name, "/healthz"));
  end.set_value();
  slow.join();
}

TEST_F(ServeProbesTest, ErrorsNameTheSocket) {
  const auto server = ServeProbes(name, probes, log);
  ASSERT_TRUE(server);
  const auto second = ServeProbes(name, probes, log);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("@" + name));
  EXPECT_THAT(ServeProbes(std::string(200, 'a'), probes, log).error().message,
              HasSubstr("is longer than 107 bytes"));
  EXPECT_THAT(CheckProbes("synergy-test-nobody", "/healthz").error().message,
              HasSubstr("cannot connect to the Unix socket @synergy-test-nobody"));
  EXPECT_EQ(*ServeProbes("", probes, log), nullptr);
}

}  // namespace
}  // namespace synergy::daemon
