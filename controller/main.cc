// synergy-controller: the companion of synergy-extender. See docs/companion.md.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "config/controller_config.h"
#include "config/kubeconfig.h"
#include "controller/program.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/version.h"

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
  std::string enforcement;
  std::string log_level;
  std::string log_format;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", fmt::format("synergy-controller {} ({})", synergy::Version(),
                                                synergy::Commit()));
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "How to reach the API server; in-cluster credentials without it");
  app.add_option("--context", flags.context,
                 "Context of the kubeconfig; its current one without it");
  app.add_option("--config", flags.config,
                 "Configuration file (YAML, docs/operating-companion.md)");
  app.add_option("--listen", flags.listen,
                 "host:port to answer admission reviews on; port 0 takes a free one (default "
                 ":9443)");
  app.add_option("--http-listen", flags.http_listen,
                 "host:port of /healthz, /readyz and /metrics (default 127.0.0.1:8889)");
  CLI::Option* certificate = app.add_option("--tls-cert-file", flags.tls_certificate_file,
                                            "Certificate of the webhook (PEM)");
  CLI::Option* key = app.add_option("--tls-private-key-file", flags.tls_key_file, "Its key (PEM)");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--gpu-resource", flags.gpu_resource,
                 "Managed GPU resource (default nvidia.com/gpu)");
  app.add_option("--enforcement", flags.enforcement, "shared or strict (default shared)");
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error (default info)");
  app.add_option("--log-format", flags.log_format, "text or json (default text)");
  app.footer(
      "Flags win over the configuration file. Example:\n"
      "  synergy-controller --kubeconfig ~/.kube/config --tls-cert-file tls.crt "
      "--tls-private-key-file tls.key");
}

// What `parse` makes of a flag that was given.
template <class Parse, class Out>
synergy::Result<> Apply(const std::string& flag, Parse parse, Out& out) {
  if (flag.empty()) return {};
  const auto parsed = parse(flag);
  if (!parsed) return synergy::Fail(parsed.error());
  out = *parsed;
  return {};
}

synergy::Result<synergy::config::ControllerConfig> Configure(const Flags& flags) {
  synergy::config::ControllerConfig config;
  if (!flags.config.empty()) {
    auto loaded = synergy::config::LoadControllerConfig(flags.config);
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
  for (const auto& applied :
       {Apply(flags.enforcement, synergy::ParseEnforcement, config.enforcement),
        Apply(flags.log_level, synergy::ParseLogLevel, config.log_level),
        Apply(flags.log_format, synergy::ParseLogFormat, config.log_format)}) {
    if (!applied) return synergy::Fail(applied.error());
  }
  if (config.tls_key_file.empty()) {
    return synergy::Fail(synergy::ErrorCode::kInvalid,
                         "the API server calls webhooks over TLS only: give --tls-cert-file and "
                         "--tls-private-key-file");
  }
  return config;
}

int Complain(const synergy::Error& error) {
  fmt::print(stderr, "synergy-controller: {}\n", error.message);
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The companion: admission of GPU pods and TrainingProfiles");
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
  auto program = synergy::controller::Program::Start(*config, *access, synergy::SystemClock(), log);
  if (!program) {
    log.Error("cannot start", {{"error", program.error().message}});
    return EXIT_FAILURE;
  }
  log.Info("serving", {{"webhook", config->listen},
                       {"port", (*program)->webhook_port()},
                       {"http", config->http_listen},
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
