#include "controller/progress/progress_puller.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "controller/progress/turn_renewal.h"
#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

// How often a thread checks whether an agent is due, and how often old figures are dropped.
constexpr Duration kLook = std::chrono::milliseconds(250);
constexpr Duration kForget = std::chrono::seconds(5);

std::string UrlOf(const std::string& address, uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format("https://{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port);
}

std::string_view Outcome(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUnavailable:
      return "unreachable";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kInvalid:
    case ErrorCode::kTooLarge:
      return "unreadable";
    default:
      return "refused";
  }
}

Result<std::unique_ptr<http::Client>> MakeClient(const PullSettings& settings, size_t kept) {
  http::ClientOptions options;
  options.base_url = UrlOf("127.0.0.1", settings.port);  // placeholder; each agent has its own
  options.tls = settings.tls;
  options.connect_timeout = options.read_timeout = settings.timeout;
  options.transfer_timeout = 2 * settings.timeout;
  options.max_idle_connections = kept;
  options.max_response_bytes = wire::kLongestNodeProgress;
  return http::Client::Create(std::move(options));
}

}  // namespace

Result<std::unique_ptr<ProgressPuller>> ProgressPuller::Create(
    AgentDirectory& agents, ProgressStore& store, FailureReports& failures,
    const ClusterState& state, metrics::ControllerMetrics& metrics, const Clock& clock, Logger& log,
    const PullSettings& settings) {
  auto keeping = MakeClient(settings, 1);
  if (!keeping) return Fail(keeping.error());
  auto closing = MakeClient(settings, 0);
  if (!closing) return Fail(closing.error());
  return std::unique_ptr<ProgressPuller>(
      new ProgressPuller(agents, store, failures, state, metrics, clock, log, settings,
                         *std::move(keeping), *std::move(closing)));
}

ProgressPuller::ProgressPuller(AgentDirectory& agents, ProgressStore& store,
                               FailureReports& failures, const ClusterState& state,
                               metrics::ControllerMetrics& metrics, const Clock& clock, Logger& log,
                               const PullSettings& settings, std::unique_ptr<http::Client> keeping,
                               std::unique_ptr<http::Client> closing)
    : agents_(agents),
      store_(store),
      failures_(failures),
      state_(state),
      metrics_(metrics),
      clock_(clock),
      log_(log),
      settings_(settings),
      keeping_(std::move(keeping)),
      closing_(std::move(closing)) {}

void ProgressPuller::Start() {
  for (size_t i = 0; i < settings_.threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) {
      while (clock_.SleepFor(kLook, stop)) PullDue(stop);
    });
  }
  threads_.emplace_back([this](const std::stop_token& stop) {
    while (clock_.SleepFor(kForget, stop)) store_.Forget(*state_.Snapshot(), clock_.Now());
  });
}

void ProgressPuller::PullDue(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<Agent> agent = agents_.TakeDue();
    if (!agent) return;
    Pull(*std::move(agent), stop);
  }
}

void ProgressPuller::Pull(Agent agent, const std::stop_token& stop) {
  const Result<> asked = Ask(agent, stop);
  if (stop.stop_requested()) return;
  metrics_.CountProgressPull(asked ? "ok" : Outcome(asked.error()));
  // The agent's last figures stay in the store until they are too old.
  if (!asked && agent.failures == 0) {
    log_.Warn("cannot read progress from a node agent",
              {{"node", agent.node}, {"error", asked.error().message}});
  }
  agent.failures = asked ? 0 : agent.failures + 1;
  agents_.GiveBack(std::move(agent));
}

Result<> ProgressPuller::Ask(Agent& agent, const std::stop_token& stop) {
  if (agent.client == nullptr) {
    const bool keep = agents_.size() <= settings_.kept_connections;
    auto made = (keep ? keeping_ : closing_)->For(UrlOf(agent.address, settings_.port));
    if (!made) return Fail(made.error());
    agent.client = *std::move(made);
  }
  http::ClientRequest request{.path = "/progress"};
  if (settings_.renews_turns()) request.headers.emplace_back(kTurnsHeader, kRenewTurns);
  const Result<http::ClientResponse> answer = agent.client->Send(request, stop);
  if (!answer) return Fail(answer.error());
  if (answer->status != 200)
    return Fail(ErrorCode::kDenied, fmt::format("status {}", answer->status));
  Result<NodeProgress> reported = wire::ReadNodeProgress(answer->body);
  if (!reported) return Fail(reported.error());
  AcceptedProgress accepted =
      AcceptReports(std::move(reported->pods), agent.node, *state_.Snapshot());
  metrics_.CountProgressDropped("not_here", accepted.not_here);
  metrics_.CountProgressDropped("not_managed", accepted.not_managed);
  failures_.Observe(agent.node, std::move(reported->ended), clock_.Now(),
                    std::move(reported->xids));
  store_.Observe(agent.node, reported->since, std::move(accepted.pods), clock_.Present());
  return {};
}

AcceptedProgress AcceptReports(std::vector<PodProgress> reported, const std::string& node,
                               const ClusterSnapshot& cluster) {
  AcceptedProgress accepted;
  const auto index = cluster.Find(node);
  for (PodProgress& progress : reported) {
    const Pod* pod = nullptr;
    if (index) {
      for (const auto& on_node : cluster.node(*index).detail->pods) {
        if (on_node->uid == progress.uid) pod = on_node.get();
      }
    }
    if (pod == nullptr) {
      ++accepted.not_here;
    } else if (!pod->fungible) {
      ++accepted.not_managed;
    } else {
      progress.pod_namespace = pod->pod_namespace;
      progress.name = pod->name;
      accepted.pods.push_back(std::move(progress));
    }
  }
  return accepted;
}

}  // namespace synergy::controller
