// Measures what one poll of all node agents costs a replica of the controller, and the memory for
// the answers. The agents are one process with one TLS server on all of 127.0.0.0/8.
//
// pulls_bench [AGENTS]     prints JSON

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/progress/progress_puller.h"
#include "core/check.h"
#include "daemon/run.h"
#include "http/server/server.h"
#include "support/fake_clock.h"
#include "support/managed_pods.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"
#include "wire/agents/progress.h"

namespace synergy::bench {
namespace {

using std::chrono::seconds;

constexpr int kPodsOnNode = 8;
constexpr size_t kThreads = 8;

PodProgress Sample(int node, int pod) {
  PodProgress progress;
  progress.uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", node, pod);
  progress.pod_namespace = "research";
  progress.name = fmt::format("train-{}-{}", node, pod);
  progress.container = "train";
  progress.format = "tqdm";
  progress.iteration = 120345;
  progress.total = 500000;
  progress.loss = 1.2345;
  progress.rate = 12.345;
  progress.overall_rate = 11.987;
  progress.iterations = 120345;
  progress.last = WallTime(seconds(1700000000));
  progress.remaining = seconds(30756);
  progress.cpu = CpuUse{seconds(30000), seconds(10), seconds(20)};
  return progress;
}

double CpuSeconds() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return of(use.ru_utime) + of(use.ru_stime);
}

double ResidentMegabytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

struct Certificates {
  testing::TestAuthority authority;
  testing::TemporaryFolder folder;
  testing::TestCertificate agent = authority.Issue("agent", {"DNS:agent.svc"});
  testing::TestCertificate controller = authority.Issue("controller", {"DNS:controller.svc"});
};

// Starts the agents in another process. Returns its port and its id.
std::pair<uint16_t, pid_t> StartAgents(const Certificates& certificates, size_t agents) {
  int ends[2];
  SYNERGY_CHECK(::pipe(ends) == 0, "a pipe can be made");
  const pid_t child = ::fork();
  uint16_t port = 0;
  if (child == 0) {
    NodeProgress progress{"n0", {}, {}, {}};
    for (int pod = 0; pod < kPodsOnNode; ++pod) progress.pods.push_back(Sample(0, pod));
    const std::string body = wire::WriteNodeProgress(progress);
    http::ServerOptions options;
    options.host = "0.0.0.0";
    options.max_connections = agents + 100;
    options.certificate_file = certificates.folder.Path("agent.crt");
    options.key_file = certificates.folder.Path("agent.key");
    options.client_ca_file = certificates.folder.Path("ca.crt");
    options.client_name = "controller.svc";
    auto server = http::Server::Create(options);
    SYNERGY_CHECK(server.has_value(), "the agents have a server");
    (*server)->Handle("GET", "/progress",
                      [&body](const http::Request&) { return http::Response{.body = body}; });
    SYNERGY_CHECK((*server)->Start().has_value(), "the agents' server starts");
    port = (*server)->port();
    SYNERGY_CHECK(::write(ends[1], &port, sizeof(port)) == sizeof(port), "the port is sent");
    ::pause();
    std::_Exit(0);
  }
  SYNERGY_CHECK(::read(ends[0], &port, sizeof(port)) == sizeof(port), "the port is known");
  return {port, child};
}

struct Cost {
  double wall = 0;
  double cpu = 0;
  double resident = 0;  // MB more than before the poll
};

class Bench {
 public:
  Bench(const Certificates& certificates, uint16_t port, size_t agents, size_t kept) {
    state_.UpsertNode(testing::NodeOfFour("n0"));
    for (int pod = 0; pod < kPodsOnNode; ++pod) {
      Pod managed = testing::ManagedPod(fmt::format("train-{}", pod), "n0", 1);
      managed.uid = Sample(0, pod).uid;
      state_.UpsertPod(std::move(managed));
    }
    for (size_t i = 0; i < agents; ++i) {
      agents_.Upsert({fmt::format("agent-{}", i), "n0",
                      fmt::format("127.1.{}.{}", i / 250, i % 250 + 1), true});
    }
    controller::PullSettings settings;
    settings.port = port;
    settings.tls = {.ca_pem = certificates.authority.certificate_pem(),
                    .certificate_pem = certificates.controller.certificate_pem,
                    .key_pem = certificates.controller.key_pem,
                    .server_name = "agent.svc"};
    settings.kept_connections = kept;
    auto puller = controller::ProgressPuller::Create(agents_, store_, failures_, state_, metrics_,
                                                     clock_, log_.log, settings);
    SYNERGY_CHECK(puller.has_value(), "the certificates are good");
    puller_ = *std::move(puller);
  }

  // Polls every agent once, and returns the costs.
  Cost Round() {
    clock_.Advance(seconds(10));
    const double resident = ResidentMegabytes();
    const double cpu = CpuSeconds();
    const auto start = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([this](const std::stop_token& stop) { puller_->PullDue(stop); });
      for (std::jthread& thread : threads) thread.join();
    }
    return {Seconds(std::chrono::steady_clock::now() - start).count(), CpuSeconds() - cpu,
            ResidentMegabytes() - resident};
  }

  std::string Metrics() const { return metrics_.Render(); }

 private:
  testing::FakeClock clock_;
  testing::SilentLog log_;
  ClusterState state_;
  controller::AgentDirectory agents_{clock_, seconds(10)};
  controller::ProgressStore store_;
  controller::FailureReports failures_;
  metrics::ControllerMetrics metrics_;
  std::unique_ptr<controller::ProgressPuller> puller_;
};

double StoreMegabytes(size_t nodes) {
  const double before = ResidentMegabytes();
  controller::ProgressStore store;
  for (size_t node = 0; node < nodes; ++node) {
    std::vector<PodProgress> pods;
    for (int pod = 0; pod < kPodsOnNode; ++pod) pods.push_back(Sample(static_cast<int>(node), pod));
    store.Observe(fmt::format("node-{}", node), {}, std::move(pods), {});
  }
  return ResidentMegabytes() - before;
}

void Print(const char* name, const Cost& cost, size_t agents, bool last = false) {
  fmt::print(
      "  \"{}\": {{\"pullsPerSecond\": {:.0f}, \"cpuSeconds\": {:.2f}, \"megabytes\": "
      "{:.1f}}}{}\n",
      name, static_cast<double>(agents) / cost.wall, cost.cpu, cost.resident, last ? "" : ",");
}

int Run(size_t agents) {
  daemon::RaiseDescriptorLimit();
  Certificates certificates;
  certificates.folder.Write("agent.crt", certificates.agent.certificate_pem);
  certificates.folder.Write("agent.key", certificates.agent.key_pem);
  certificates.folder.Write("ca.crt", certificates.authority.certificate_pem());
  const auto [port, child] = StartAgents(certificates, agents);
  fmt::print("{{\n  \"agents\": {}, \"podsOnEach\": {}, \"threads\": {},\n", agents, kPodsOnNode,
             kThreads);
  fmt::print("  \"bookMegabytes\": {:.1f},\n", StoreMegabytes(agents));
  std::string outcomes;
  {
    Bench anew(certificates, port, agents, 0);
    anew.Round();
    Print("anew", anew.Round(), agents);
    outcomes = anew.Metrics();
  }
  {
    Bench kept(certificates, port, agents, agents);
    Print("first", kept.Round(), agents);
    Print("kept", kept.Round(), agents, true);
    outcomes += kept.Metrics();
  }
  fmt::print("}}\n");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const std::string all = fmt::format("pulls_total{{outcome=\"ok\"}} {}\n", 2 * agents);
  const size_t first = outcomes.find(all);
  return first != std::string::npos && outcomes.find(all, first + 1) != std::string::npos
             ? EXIT_SUCCESS
             : EXIT_FAILURE;
}

}  // namespace
}  // namespace synergy::bench

int main(int count, char** arguments) {
  return synergy::bench::Run(count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 5000);
}
