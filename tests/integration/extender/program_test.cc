// The program's user interface: flags, errors, health, signals.

#include <csignal>
#include <cstdio>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/extender/extender_process.h"
#include "integration/extender/messages.h"
#include "support/raw_connection.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

TEST(ExtenderProgramTest, ErrorsNameTheFlagOrTheField) {
  const TemporaryFolder folder;
  const std::string bad_field = folder.Write("bad.yaml", "listen: 127.0.0.1:0\nlitsen: x\n");
  const std::string exec_user =
      folder.Write("exec",
                   "clusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\nusers: "
                   "[{name: u, user: {exec: {command: x}}}]\n"
                   "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--nonsense"}, "--nonsense"},
      {{}, "set --kubeconfig FILE"},
      {{"--kubeconfig", folder.Path("missing")}, folder.Path("missing")},
      {{"--kubeconfig", exec_user}, "exec"},
      {{"--config", bad_field}, "bad.yaml:2: litsen"},
      {{"--log-level", "loud"}, "use debug, info, warn or error"},
  };
  for (const auto& [arguments, expected] : cases) {
    const auto ended = ExtenderProcess::Run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr(expected));
  }
}

TEST(ExtenderProgramTest, ExplainsItself) {
  const auto help = ExtenderProcess::Run({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.output, HasSubstr("--kubeconfig"));
  EXPECT_THAT(ExtenderProcess::Run({"--version"}).output, HasSubstr("synergy-extender 0."));
}

TEST(ExtenderProgramTest, DoesNotStartOnATakenPort) {
  FakeApiServer server;
  ExtenderProcess first(server);
  const TemporaryFolder folder;
  const std::string kubeconfig = folder.Write(
      "kubeconfig",
      fmt::format(
          "clusters: [{{name: c, cluster: {{server: \"{}\"}}}}]\ncontexts: [{{name: x, context: "
          "{{cluster: c}}}}]\ncurrent-context: x\n",
          server.access().server));
  const auto second = ExtenderProcess::Run(
      {"--kubeconfig", kubeconfig, "--listen", fmt::format("127.0.0.1:{}", first.port())});
  EXPECT_EQ(second.code, 1) << second.output;
}

TEST(ExtenderProgramTest, IsReadyOnlyOnceEverythingHasBeenListed) {
  FakeApiServer server({}, false);
  ExtenderProcess extender(server);
  const auto answer = extender.Get("/readyz");
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("have not been listed yet"));
  EXPECT_EQ(extender.Get("/healthz").status, 200);
  server.Start();
  extender.AwaitReady();
}

TEST(ExtenderProgramTest, StopsBeingReadyWhenTheApiServerIsSilentForTooLong) {
  FakeApiServer server;
  const TemporaryFolder folder;
  ExtenderProcess extender(server, {"--config", folder.Write("config", "stalenessLimit: 3s\n")});
  extender.AwaitReady();
  server.Stop();
  extender.AwaitReady(false);
  // Each kind has a watch of its own; the program is not ready from the first that is too old.
  const std::string reason = extender.Get("/readyz").body;
  std::smatch kind;
  ASSERT_TRUE(std::regex_search(reason, kind, std::regex("no response on (\\w+) for"))) << reason;
  EXPECT_GT(extender.Metric(
                fmt::format(R"(synergy_cache_staleness_seconds{{resource="{}"}})", kind[1].str())),
            3);
  server.Start();
  extender.AwaitReady();
}

TEST(ExtenderProgramTest, ServesProbesWhereTheVerbsAreNot) {
  FakeApiServer server;
  ExtenderProcess extender(server, {"--http-listen", "127.0.0.1:0"});
  extender.AwaitReady();
  ASSERT_NE(extender.http_port(), 0);
  auto probes =
      *http::Client::Create({.base_url = fmt::format("http://127.0.0.1:{}", extender.http_port())});
  for (const std::string path : {"/healthz", "/readyz", "/metrics"})
    EXPECT_EQ(probes->Send({.path = path})->status, 200) << path;
  EXPECT_EQ(probes->Send({.path = "/debug/state"})->status, 404);
  for (const std::string path : {"/filter", "/prioritize", "/bind", "/preempt"})
    EXPECT_EQ(probes->Send({.method = "POST", .path = path, .body = "{}"})->status, 404) << path;
  extender.Signal(SIGTERM);
  EXPECT_EQ(extender.Wait(), 0);
}

TEST(ExtenderProgramTest, EndsWellOnSigtermWithConnectionsOpen) {
  FakeApiServer server;
  ExtenderProcess extender(server);
  extender.AwaitReady();
  RawConnection idle(extender.port());
  idle.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  idle.ReadAnswer();
  const RawConnection silent(extender.port());
  extender.Signal(SIGTERM);
  EXPECT_EQ(extender.Wait(), 0);
}

TEST(ExtenderProgramTest, ServesMetricsThatPromtoolAccepts) {
  FakeApiServer server;
  server.SetNodes({GpuNode("a")});
  server.SetPods({GpuPod("p")});
  ExtenderProcess extender(server);
  extender.AwaitReady();
  extender.Post("/filter", ExtenderArgs(GpuPod("p"), {"a"}));
  extender.Post("/filter", "nonsense");
  extender.Post("/bind", BindingArgs(GpuPod("p"), "a"));
  const TemporaryFolder folder;
  const std::string file = folder.Write("metrics", extender.Get("/metrics").body);
  EXPECT_EQ(std::system(("promtool check metrics < " + file).c_str()), 0);
  EXPECT_EQ(extender.Metric(R"(synergy_extender_request_duration_seconds_count{verb="filter"})"),
            2);
  EXPECT_EQ(extender.Metric(R"(synergy_extender_errors_total{reason="invalid",verb="filter"})"), 1);
  EXPECT_EQ(extender.Metric(R"(synergy_node_free{node="a",resource="nvidia.com/gpu"})"), 7);
  EXPECT_EQ(extender.Metric(R"(synergy_cache_objects{resource="nodes"})"), 1);
}

TEST(ExtenderProgramTest, ShowsItsState) {
  FakeApiServer server;
  server.SetNodes({GpuNode("a")});
  FakePod pod = GpuPod("p");
  pod.node = "a";
  server.SetPods({pod});
  ExtenderProcess extender(server);
  extender.AwaitReady();
  const std::string state = extender.Get("/debug/state").body;
  EXPECT_THAT(state, HasSubstr(R"("free":{"nvidia.com/gpu":7,"milliCpu":23000)"));
  EXPECT_THAT(state, HasSubstr(R"("pod":"default/p")"));
}

}  // namespace
}  // namespace synergy::testing
