// synergy-node-agent: measures the node's pods, and changes their control groups for limited times.
// See docs/internals/node-agent.md.

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "config/node_agent_config.h"
#include "core/clock.h"
#include "core/log.h"
#include "daemon/command_line.h"
#include "daemon/run.h"
#include "nodeagent/confinement.h"
#include "nodeagent/daemon.h"
#include "nodeagent/guarded/guardian.h"

namespace {

// Added to the daemon's grace period, because pending events are sent for up to a second.
constexpr std::chrono::seconds kLastWords{3};

// Confines this process to the pods' control groups. Call it before the guardian forks, so that
// both processes are confined.
void Confine(const synergy::config::NodeAgentConfig& config, synergy::Logger& log) {
  if (!config.confine_writes) return;
  std::error_code error;
  std::filesystem::create_directories(config.state_folder, error);
  std::vector<std::string> folders =
      synergy::nodeagent::FoldersOfPods(config.cgroup_folder, config.kubelet_cgroup_root);
  if (folders.empty()) {
    log.Warn("not confined: the pods' control groups are not there yet",
             {{"folder", config.cgroup_folder}});
    return;
  }
  folders.push_back(config.state_folder);
  if (const auto confined = synergy::nodeagent::ConfineWrites(folders); !confined)
    log.Warn("not confined to the pods' control groups", {{"why", confined.error().message}});
}

}  // namespace

int main(int argc, char** argv) {
  synergy::config::NodeAgentConfig config;
  bool thaw = false;
  synergy::daemon::CommandLine line(
      {.program = "synergy-node-agent",
       .description =
           "Reads the progress of this node's pods, measures their speed, and releases page "
           "cache so that their memory can shrink",
       .config_page = "docs/internals/node-agent.md",
       .example = "--kubeconfig ~/.kube/config --node-name node-1"});
  line.SetConfig(config, synergy::config::LoadNodeAgentConfig);
  line.AddCluster();
  line.Add("--listen", config.listen,
           "host:port to serve on; port 0 takes a free one (default :9411)");
  line.AddMetricsAuthorization(config.metrics_authorization);
  line.AddProbeSocket(config.probe_socket);
  line.AddSwitch("--thaw", thaw,
                 "Only resume the pods that a killed agent has suspended, until SIGTERM or SIGINT");
  line.AddWithVariable("--node-name", "NODE_NAME", config.node_name,
                       "The node whose pods this agent serves");

  const auto health = [&config] {
    return synergy::daemon::HealthAddress{config.listen, config.metrics_authorization};
  };
  if (const auto status = line.Parse(argc, argv, health)) return *status;
  synergy::Logger guardians(synergy::StderrSink(), synergy::SystemClock(), config.log_level,
                            config.log_format);
  const synergy::nodeagent::GuardianRules rules{.cgroup_folder = config.cgroup_folder,
                                                .state_folder = config.state_folder,
                                                .stop_grace = config.shutdown_grace + kLastWords};
  if (thaw) {
    Confine(config, guardians);
    return synergy::nodeagent::RunThawer(rules, guardians);
  }
  if (config.node_name.empty()) {
    return line.Refuse(
        {synergy::ErrorCode::kInvalid, "which node? Give --node-name, NODE_NAME or nodeName"});
  }
  const auto access = line.FindCluster();
  if (!access) return line.Refuse(access.error());
  Confine(config, guardians);
  return synergy::nodeagent::RunGuarded(
      rules, guardians, [&](synergy::nodeagent::TemporaryWriter& writer) {
        return synergy::daemon::Run(config.log_level, config.log_format, [&](synergy::Logger& log) {
          return synergy::nodeagent::Daemon::Start(config, *access, writer, synergy::SystemClock(),
                                                   log);
        });
      });
}
