#include "controller/progress/progress_puller.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server/server.h"
#include "support/fake_clock.h"
#include "support/managed_pods.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ManagedPod;
using testing::NodeOfFour;
using ::testing::Not;
using testing::TestAuthority;
using testing::TestCertificate;

// Tests node agents at 127.0.0.1, 127.0.0.2 and so on, all on the same port.
class ProgressPullerTest : public ::testing::Test {
 protected:
  ProgressPullerTest() {
    for (const char* node : {"n1", "n2"}) state_.UpsertNode(NodeOfFour(node));
    state_.UpsertPod(ManagedPod("first", "n1", 3));
    state_.UpsertPod(ManagedPod("second", "n2", 3));
  }

  void StartAgent(const std::string& address, http::Handler answer,
                  const std::string& name = "agent.svc") {
    const TestCertificate own = authority_.Issue("agent", {"DNS:" + name});
    http::ServerOptions options;
    options.host = address;
    options.port = port_;
    options.certificate_file = folder_.Write(address + ".crt", own.certificate_pem);
    options.key_file = folder_.Write(address + ".key", own.key_pem);
    options.client_ca_file = folder_.Write("ca.crt", authority_.certificate_pem());
    options.client_name = "controller.svc";
    auto server = http::Server::Create(std::move(options));
    ASSERT_TRUE(server) << server.error().message;
    (*server)->Handle("GET", "/progress", std::move(answer));
    ASSERT_TRUE((*server)->Start());
    port_ = (*server)->port();
    servers_[address] = *std::move(server);
  }

  void Know(const std::string& uid, const std::string& node, const std::string& address) {
    agents_.Upsert({uid, node, address, true});
  }

  std::unique_ptr<ProgressPuller> MakePuller(std::function<bool()> renews_turns = [] {
    return false;
  }) {
    PullSettings settings;
    settings.port = port_;
    settings.tls = {.ca_pem = authority_.certificate_pem(),
                    .certificate_pem = own_.certificate_pem,
                    .key_pem = own_.key_pem,
                    .server_name = "agent.svc"};
    settings.timeout = std::chrono::milliseconds(500);
    settings.renews_turns = std::move(renews_turns);
    auto puller = ProgressPuller::Create(agents_, store_, failures_, state_, metrics_, clock_,
                                         log_.log, settings);
    EXPECT_TRUE(puller) << puller.error().message;
    return *std::move(puller);
  }

  void PullAll(ProgressPuller& puller) {
    clock_.Advance(seconds(10));
    puller.PullDue({});
  }

  static http::Handler Serves(const std::string& node, const std::string& uid) {
    return [node, uid](const http::Request&) {
      const NodeProgress progress{node, {}, {}, {{.uid = uid, .rate = 2.5}}};
      return http::Response{.body = wire::WriteNodeProgress(progress)};
    };
  }

  std::string Outcomes(const std::string& outcome) const {
    const std::string text = metrics_.Render();
    const std::string name =
        "synergy_controller_progress_pulls_total{outcome=\"" + outcome + "\"} ";
    const size_t at = text.find(name);
    if (at == std::string::npos) return "0";
    return text.substr(at + name.size(), text.find('\n', at) - at - name.size());
  }

  TestAuthority authority_;
  TestCertificate own_ = authority_.Issue("controller", {"DNS:controller.svc"});
  testing::TemporaryFolder folder_;
  testing::FakeClock clock_;
  testing::SilentLog log_;
  ClusterState state_;
  AgentDirectory agents_{clock_, seconds(10)};
  ProgressStore store_;
  FailureReports failures_;
  metrics::ControllerMetrics metrics_;
  std::map<std::string, std::unique_ptr<http::Server>> servers_;
  uint16_t port_ = 0;
};

TEST_F(ProgressPullerTest, AcceptsReportsOfEachAgentForItsOwnNodeOnly) {
  StartAgent("127.0.0.1", Serves("n1", "first"));
  // this agent reports a pod that is not on its node
  StartAgent("127.0.0.2", Serves("n1", "first"));
  Know("a1", "n1", "127.0.0.1");
  Know("a2", "n2", "127.0.0.2");
  PullAll(*MakePuller());
  const auto known = store_.Of("first", clock_.Now());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->node, "n1");
  EXPECT_EQ(known->pod.rate, 2.5);
  EXPECT_EQ(known->pod.name, "first");
  EXPECT_EQ(Outcomes("ok"), "2");
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("synergy_controller_progress_dropped_total{reason=\"not_here\"} 1"));
}

TEST_F(ProgressPullerTest, QueriesRenewTurnsWhileThatIsRequested) {
  std::vector<std::string> headers;
  StartAgent("127.0.0.1", [&headers](const http::Request& request) {
    headers.push_back(request.header("Synergy-Turns"));
    return http::Response{.body = "{}"};
  });
  Know("a1", "n1", "127.0.0.1");
  bool renews = false;
  const auto puller = MakePuller([&renews] { return renews; });
  PullAll(*puller);
  renews = true;
  PullAll(*puller);
  EXPECT_THAT(headers, ElementsAre("", "renew"));
}

TEST_F(ProgressPullerTest, ConnectionsAreKeptFromOnePullToTheNext) {
  std::atomic<int> asked = 0;
  StartAgent("127.0.0.1", [&asked](const http::Request&) {
    ++asked;
    return http::Response{.body = "{}"};
  });
  Know("a1", "n1", "127.0.0.1");
  const auto puller = MakePuller();
  for (int i = 0; i < 3; ++i) PullAll(*puller);
  EXPECT_EQ(asked, 3);
  // Replaces the server's certificate: new connections would refuse it.
  const TestCertificate strange = TestAuthority("other").Issue("agent", {"DNS:agent.svc"});
  folder_.Write("127.0.0.1.crt", strange.certificate_pem);
  folder_.Write("127.0.0.1.key", strange.key_pem);
  PullAll(*puller);
  EXPECT_EQ(Outcomes("ok"), "4");
}

TEST_F(ProgressPullerTest, KeepsTheLastReportOfAnUnreachableAgent) {
  StartAgent("127.0.0.1", Serves("n1", "first"));
  Know("a1", "n1", "127.0.0.1");
  const auto puller = MakePuller();
  PullAll(*puller);
  servers_.clear();
  PullAll(*puller);
  EXPECT_EQ(Outcomes("unreachable"), "1");
  const auto known = store_.Of("first", clock_.Now());
  ASSERT_TRUE(known);
  EXPECT_EQ(known->age, seconds(10));
}

TEST_F(ProgressPullerTest, AnAnswerThatMakesNoSenseIsCountedAndLeftOut) {
  StartAgent("127.0.0.1", [](const http::Request&) { return http::Response{.body = "[]"}; });
  StartAgent("127.0.0.2", [](const http::Request&) {
    return http::Response{.body = std::string(wire::kLongestNodeProgress + 1, ' ')};
  });
  StartAgent("127.0.0.3", [](const http::Request&) { return http::Response{.status = 503}; });
  Know("a1", "n1", "127.0.0.1");
  Know("a2", "n2", "127.0.0.2");
  Know("a3", "n2", "127.0.0.3");
  PullAll(*MakePuller());
  EXPECT_EQ(Outcomes("unreadable"), "2");
  EXPECT_EQ(Outcomes("refused"), "1");
  EXPECT_EQ(store_.extent(clock_.Now()).pods, 0U);
}

TEST_F(ProgressPullerTest, AServerOfAnotherNameIsNoAgent) {
  StartAgent("127.0.0.1", Serves("n1", "first"), "other.svc");
  Know("a1", "n1", "127.0.0.1");
  PullAll(*MakePuller());
  EXPECT_EQ(Outcomes("unreachable"), "1");
  EXPECT_FALSE(store_.Of("first", clock_.Now()));
}

}  // namespace
}  // namespace synergy::controller
