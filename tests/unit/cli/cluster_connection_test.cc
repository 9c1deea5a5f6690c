#include "cli/cluster/cluster_connection.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/background.h"
#include "support/fake_api_server.h"
#include "support/fake_listener.h"
#include "support/temporary_folder.h"

namespace synergy::cli::testing {
namespace {

using synergy::testing::Background;
using synergy::testing::FakeApiServer;
using synergy::testing::FakeConnection;
using synergy::testing::FakeListener;
using synergy::testing::FakeRequest;
using synergy::testing::HttpAnswer;
using synergy::testing::ReadRequest;
using ::testing::HasSubstr;
using ::testing::Not;

// Sets an environment variable, and restores it in the destructor.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class ClusterConnectionTest : public ::testing::Test {
 protected:
  // Writes a kubeconfig for this server. `cluster`: additional fields of the cluster.
  std::string Kubeconfig(const std::string& server, const std::string& cluster = "") {
    return folder_.Write("config",
                         "{current-context: a, contexts: [{name: a, context: {cluster: k}}], "
                         "clusters: [{name: k, cluster: {server: \"" +
                             server + "\"" + cluster + "}}]}");
  }

  Result<Connection> With(const std::vector<std::string>& words) {
    ClusterArguments arguments;
    CLI::App app;
    AddClusterOptions(app, arguments);
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return Connect(arguments);
  }

  synergy::testing::TemporaryFolder folder_;
  FakeApiServer server_;
};

TEST_F(ClusterConnectionTest, OptionsChooseTheUser) {
  const auto connection =
      With({"--kubeconfig", Kubeconfig(server_.access().server), "--token", "secret", "--as",
            "jane", "--as-group", "dev", "--as-group", "ops", "--as-uid", "7", "-n", "team"});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_EQ(connection->pod_namespace, "team");
  ASSERT_TRUE(connection->client->Get("/api/v1/nodes?limit=1"));
  const std::vector<FakeRequest> requests = server_.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].headers.at("authorization"), "Bearer secret");
  EXPECT_EQ(requests[0].headers.at("impersonate-user"), "jane");
  EXPECT_EQ(requests[0].headers.at("impersonate-uid"), "7");
  EXPECT_EQ(requests[0].headers.at("impersonate-group"), "ops");  // the last of both groups
}

TEST_F(ClusterConnectionTest, OthersConnectWithTheirTokensAlone) {
  ClusterArguments arguments;
  arguments.kubeconfig = folder_.Write(
      "own",
      "{current-context: a, contexts: [{name: a, context: {cluster: k, user: "
      "u}}], clusters: [{name: k, cluster: {server: \"" +
          server_.access().server + "\"}}], users: [{name: u, user: {token: mine, as: root}}]}");
  const auto connect = FindServer(arguments);
  ASSERT_TRUE(connect) << connect.error().message;
  const auto connection = (*connect)("theirs");
  ASSERT_TRUE(connection) << connection.error().message;
  ASSERT_TRUE(connection->client->Get("/api/v1/nodes?limit=1"));
  const std::vector<FakeRequest> requests = server_.requests();
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].headers.at("authorization"), "Bearer theirs");
  EXPECT_FALSE(requests[0].headers.contains("impersonate-user"));
  EXPECT_FALSE((*connect)("")) << "a request without a token is anonymous";
}

TEST_F(ClusterConnectionTest, AServerNeedsNoKubeconfig) {
  const Environment home("HOME", folder_.Path("nowhere"));
  const Environment none("KUBECONFIG", "");
  const auto connection = With({"-s", server_.access().server});
  ASSERT_TRUE(connection) << connection.error().message;
  EXPECT_TRUE(connection->client->Get("/api/v1/nodes?limit=1"));
  const auto nothing = With({});
  ASSERT_FALSE(nothing);
  EXPECT_THAT(nothing.error().message, HasSubstr("no cluster: set --kubeconfig FILE"));
}

TEST_F(ClusterConnectionTest, ASlowAnswerEndsWithTheRequestTimeout) {
  FakeListener listener;
  std::unique_ptr<FakeConnection> kept;
  const Background server([&] {
    kept = listener.Accept();
    ReadRequest(*kept);
  });
  const auto connection =
      With({"--kubeconfig", Kubeconfig(listener.url()), "--request-timeout", "20ms"});
  ASSERT_TRUE(connection) << connection.error().message;
  const auto answer = connection->client->Get("/api/v1/nodes");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(With({"--kubeconfig", Kubeconfig(listener.url()), "--request-timeout", "0"}));
  const auto malformed =
      With({"--kubeconfig", Kubeconfig(listener.url()), "--request-timeout", "soon"});
  ASSERT_FALSE(malformed);
  EXPECT_THAT(malformed.error().message, HasSubstr("--request-timeout: \"soon\" is not"));
}

// A proxy that records the first request, and answers it itself.
class ClusterProxyTest : public ClusterConnectionTest {
 protected:
  // Returns the request that the proxy got; empty if it got none.
  std::string AskedOf(const std::string& server, const std::string& cluster,
                      const std::optional<std::string>& exempt = {}) {
    FakeListener proxy;
    std::string asked;
    Background serves([&] {
      if (const auto connection = proxy.Accept()) {
        if (const auto request = ReadRequest(*connection)) asked = request->path;
        connection->Write(HttpAnswer(200, R"({"metadata":{},"items":[]})"));
      }
    });
    const std::string url = "http://me:pa55word@127.0.0.1:" + std::to_string(proxy.port());
    std::optional<Environment> http;
    std::optional<Environment> no;
    if (exempt) {
      http.emplace("HTTP_PROXY", url);
      no.emplace("NO_PROXY", *exempt);
    }
    const std::string field = cluster.empty() ? "" : ", " + cluster + ": \"" + url + "\"";
    const auto connection =
        With({"--kubeconfig", Kubeconfig(server, field), "--request-timeout", "100ms"});
    EXPECT_TRUE(connection) << connection.error().message;
    const auto answer = connection->client->Get("/api/v1/nodes");
    EXPECT_THAT(answer ? "" : answer.error().message, Not(HasSubstr("pa55word")));
    proxy.Close();
    serves.Join();
    return asked;
  }
};

TEST_F(ClusterProxyTest, TheKubeconfigsProxyIsUsedEvenForThisMachine) {
  const std::string server = server_.access().server;
  EXPECT_EQ(AskedOf(server, "proxy-url"), server + "/api/v1/nodes");
}

TEST_F(ClusterProxyTest, TheEnvironmentsProxyHasExceptions) {
  // An address reserved for documentation, at which nothing answers.
  const std::string server = "http://192.0.2.1:8080";
  EXPECT_EQ(AskedOf(server, "", "192.0.2.2"), server + "/api/v1/nodes");
  EXPECT_EQ(AskedOf(server, "", "192.0.2.0/24"), "");
  EXPECT_EQ(AskedOf(server_.access().server, "", ""), "");
}

TEST_F(ClusterConnectionTest, AMalformedProxyIsAnErrorWithoutItsCredentials) {
  const auto connection =
      With({"--kubeconfig", Kubeconfig("https://h", ", proxy-url: \"socks5://me:pa55word@p\"")});
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(connection.error().message, HasSubstr("SOCKS proxies are not supported"));
  EXPECT_THAT(connection.error().message, Not(HasSubstr("pa55word")));
}

TEST(ClusterOptionsTest, AnOptionThatACommandHasForSomethingElseStaysAsItIs) {
  CLI::App app;
  std::string file;
  app.add_option("--cluster", file);
  ClusterArguments arguments;
  AddClusterOptions(app, arguments);
  app.parse("--cluster a.json --user u");
  EXPECT_EQ(file, "a.json");
  EXPECT_EQ(arguments.access.cluster, "");
  EXPECT_EQ(arguments.access.user, "u");
}

}  // namespace
}  // namespace synergy::cli::testing
