// synergy-extender: kube-scheduler's extender for GPU pods. See docs/extender.md.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "config/config_file.h"
#include "config/kubeconfig.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/version.h"
#include "extender/program.h"

namespace {

constexpr int kUsageError = 2;

struct Flags {
  std::string kubeconfig;
  std::string context;
  std::string config;
  std::string listen;
  std::string http_listen;
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::string gpu_resource;
  std::string log_level;
  std::string log_format;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag(
      "--version", fmt::format("synergy-extender {} ({})", synergy::Version(), synergy::Commit()));
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "How to reach the API server; in-cluster credentials without it");
  app.add_option("--context", flags.context,
                 "Context of the kubeconfig; its current one without it");
  app.add_option("--config", flags.config, "Configuration file (YAML, docs/extender.md)");
  app.add_option("--listen", flags.listen,
                 "host:port to serve on; port 0 takes a free one (default 127.0.0.1:8888)");
  app.add_option("--http-listen", flags.http_listen,
                 "host:port of /healthz, /readyz and /metrics beside the verbs (default: none)");
  CLI::Option* certificate = app.add_option("--tls-cert-file", flags.tls_certificate_file,
                                            "Serve TLS with this certificate (PEM)");
  CLI::Option* key = app.add_option("--tls-private-key-file", flags.tls_key_file, "Its key (PEM)");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--gpu-resource", flags.gpu_resource,
                 "Managed GPU resource (default nvidia.com/gpu)");
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error (default info)");
  app.add_option("--log-format", flags.log_format, "text or json (default text)");
  app.footer(
      "Flags win over the configuration file. Example:\n"
      "  synergy-extender --kubeconfig ~/.kube/config --listen 127.0.0.1:8888");
}

synergy::Result<synergy::config::ExtenderConfig> Configure(const Flags& flags) {
  synergy::config::ExtenderConfig config;
  if (!flags.config.empty()) {
    auto loaded = synergy::config::LoadExtenderConfig(flags.config);
    if (!loaded) return loaded;
    config = *std::move(loaded);
  }
  if (!flags.listen.empty()) config.listen = flags.listen;
  if (!flags.http_listen.empty()) config.http_listen = flags.http_listen;
  if (!flags.tls_key_file.empty()) {
    config.tls_certificate_file = flags.tls_certificate_file;
    config.tls_key_file = flags.tls_key_file;
  }
  if (!flags.gpu_resource.empty()) config.gpu_resource = flags.gpu_resource;
  if (!flags.log_level.empty()) {
    const auto level = synergy::ParseLogLevel(flags.log_level);
    if (!level) return synergy::Fail(level.error());
    config.log_level = *level;
  }
  if (!flags.log_format.empty()) {
    const auto format = synergy::ParseLogFormat(flags.log_format);
    if (!format) return synergy::Fail(format.error());
    config.log_format = *format;
  }
  return config;
}

int Complain(const synergy::Error& error) {
  fmt::print(stderr, "synergy-extender: {}\n", error.message);
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("kube-scheduler's extender for GPU pods: filter, prioritize, bind and preempt");
  Flags flags;
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  const auto config = Configure(flags);
  if (!config) return Complain(config.error());
  const auto access = synergy::config::FindClusterAccess(flags.kubeconfig, flags.context);
  if (!access) return Complain(access.error());

  // Blocked before any thread starts, so that this thread alone waits for them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  synergy::Logger log(synergy::StderrSink(), synergy::SystemClock(), config->log_level,
                      config->log_format);
  auto program = synergy::extender::Program::Start(*config, *access, synergy::SystemClock(), log);
  if (!program) {
    log.Error("cannot start", {{"error", program.error().message}});
    return EXIT_FAILURE;
  }
  log.Info("serving", {{"listen", config->listen},
                       {"port", (*program)->port()},
                       {"http_port", (*program)->http_port()},
                       {"api_server", access->server},
                       {"version", synergy::Version()},
                       {"commit", synergy::Commit()}});
  int signal = 0;
  sigwait(&signals, &signal);
  log.Info("shutting down", {{"signal", signal}});
  (*program)->Stop();
  log.Info("stopped");
  return EXIT_SUCCESS;
}
