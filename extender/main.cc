// synergy-extender: kube-scheduler's extender for GPU pods. See docs/internals/extender.md.

#include "config/extender_config.h"
#include "core/clock.h"
#include "daemon/command_line.h"
#include "daemon/run.h"
#include "extender/daemon.h"

int main(int argc, char** argv) {
  synergy::config::ExtenderConfig config;
  synergy::daemon::CommandLine line(
      {.program = "synergy-extender",
       .description =
           "kube-scheduler's extender for GPU pods: filter, prioritize, bind and preempt",
       .config_page = "docs/internals/extender.md",
       .example = "--kubeconfig ~/.kube/config --listen 127.0.0.1:8888"});
  line.SetConfig(config, synergy::config::LoadExtenderConfig);
  line.AddCluster();
  line.Add("--listen", config.listen,
           "host:port to serve on; port 0 takes a free one (default 127.0.0.1:8888)");
  line.Add(
      "--http-listen", config.http_listen,
      "also serve /healthz, /readyz and /metrics on this host:port (default: only on --listen)");
  line.AddMetricsAuthorization(config.metrics_authorization);
  line.AddProbeSocket(config.probe_socket);
  line.AddTls(config.tls_certificate_file, config.tls_key_file);
  line.AddGpuResource(config.gpu_resource);

  const auto health = [&config]() -> synergy::daemon::HealthAddress {
    if (!config.http_listen.empty()) return {config.http_listen, config.metrics_authorization};
    return {config.listen, !config.tls_key_file.empty()};
  };
  if (const auto status = line.Parse(argc, argv, health)) return *status;
  const auto access = line.FindCluster();
  if (!access) return line.Refuse(access.error());
  return synergy::daemon::Run(config.log_level, config.log_format, [&](synergy::Logger& log) {
    return synergy::extender::Daemon::Start(config, *access, synergy::SystemClock(), log);
  });
}
