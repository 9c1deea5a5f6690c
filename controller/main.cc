// synergy-controller: sizes, measures and resizes pods. See docs/internals/controller.md.

#include "config/controller_config.h"
#include "controller/daemon.h"
#include "core/clock.h"
#include "daemon/command_line.h"
#include "daemon/run.h"

int main(int argc, char** argv) {
  synergy::config::ControllerConfig config;
  synergy::daemon::CommandLine line(
      {.program = "synergy-controller",
       .description = "Sizes GPU pods when they are created, measures workloads, changes CPU and "
                      "memory of running pods, and orders the jobs in Kueue's queues",
       .config_page = "docs/internals/controller.md",
       .example = "--kubeconfig ~/.kube/config --tls-cert-file tls.crt "
                  "--tls-private-key-file tls.key"});
  line.SetConfig(config, synergy::config::LoadControllerConfig);
  line.AddCluster();
  line.Add(
      "--listen", config.listen,
      "host:port of the webhook for admission reviews; port 0 takes a free one (default :9443)");
  line.Add("--http-listen", config.http_listen,
           "host:port of /healthz, /readyz and /metrics (default 127.0.0.1:8889)");
  line.AddMetricsAuthorization(config.metrics_authorization);
  line.AddProbeSocket(config.probe_socket);
  line.AddTls(config.tls_certificate_file, config.tls_key_file);
  line.AddGpuResource(config.gpu_resource);
  line.Add("--enforcement", config.enforcement, synergy::ParseEnforcement,
           "shared or strict (default shared)");

  const auto health = [&config] {
    return synergy::daemon::HealthAddress{config.http_listen, config.metrics_authorization};
  };
  if (const auto status = line.Parse(argc, argv, health)) return *status;
  if (config.tls_key_file.empty()) {
    return line.Refuse({synergy::ErrorCode::kInvalid,
                        "the API server calls webhooks over TLS only: set --tls-cert-file and "
                        "--tls-private-key-file"});
  }
  const auto access = line.FindCluster();
  if (!access) return line.Refuse(access.error());
  return synergy::daemon::Run(config.log_level, config.log_format, [&](synergy::Logger& log) {
    return synergy::controller::Daemon::Start(config, *access, synergy::SystemClock(), log);
  });
}
