#include "daemon/command_line.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "core/version.h"
#include "daemon/probes.h"

namespace synergy::daemon {

CommandLine::CommandLine(const Usage& usage) : app_(usage.description), program_(usage.program) {
  app_.set_version_flag("--version", fmt::format("{} {} ({})", usage.program, Version(), Commit()));
  Add("--config", config_file_, fmt::format("Configuration file (YAML, {})", usage.config_page));
  AddSwitch("--check-health", check_health_,
            "Check that the program that runs with these flags is alive; exit 0: alive, 1: not");
  AddSwitch("--check-ready", check_ready_,
            "Check that this program is ready; exit 0: ready, 1: not");
  app_.footer(fmt::format("Flags override the configuration file. Example:\n  {} {}", usage.program,
                          usage.example));
}

void CommandLine::Add(const std::string& name, std::string& out, const std::string& help) {
  app_.add_option(name, out, help);
}

void CommandLine::AddWithVariable(const std::string& name, const std::string& variable,
                                  std::string& out, const std::string& help) {
  app_.add_option(name, out, help)->envname(variable);
}

void CommandLine::AddSwitch(const std::string& name, bool& out, const std::string& help) {
  app_.add_flag(name, out, help);
}

void CommandLine::AddTls(std::string& certificate_file, std::string& key_file) {
  CLI::Option* certificate =
      app_.add_option("--tls-cert-file", certificate_file, "Serve TLS with this certificate (PEM)");
  CLI::Option* key =
      app_.add_option("--tls-private-key-file", key_file, "Key of the certificate (PEM)");
  certificate->needs(key);
  key->needs(certificate);
}

void CommandLine::AddGpuResource(std::string& out) {
  Add("--gpu-resource", out,
      "Resource name of the GPUs that Synergy manages (default nvidia.com/gpu)");
}

void CommandLine::AddProbeSocket(std::string& out) {
  Add("--probe-socket", out,
      "Also answer --check-health and --check-ready on an abstract Unix socket of this name, which "
      "requests from the network cannot block (default: none)");
  probe_socket_ = &out;
}

void CommandLine::AddMetricsAuthorization(bool& out) {
  AddSwitch("--metrics-authorization", out,
            "Serve /metrics over TLS, with authorization by bearer token");
}

void CommandLine::AddCluster() {
  Add("--kubeconfig", kubeconfig_,
      "Kubeconfig for the API server; default: in-cluster credentials");
  Add("--context", context_, "Context of the kubeconfig; default: its current one");
}

void CommandLine::AddLog(LogLevel& level, LogFormat& format) {
  Add("--log-level", level, ParseLogLevel, "debug, info, warn or error (default info)");
  Add("--log-format", format, ParseLogFormat, "text or json (default text)");
}

std::optional<int> CommandLine::Parse(int argc, const char* const* argv,
                                      const std::function<HealthAddress()>& health) {
  argc_ = argc;
  argv_ = argv;
  try {
    ApplyFlags();
  } catch (const CLI::ParseError& error) {
    return app_.exit(error) == 0 ? EXIT_SUCCESS : kUsageError;
  }
  if (const Result<> read = Reread(); !read) return Refuse(read.error());
  if (!check_health_ && !check_ready_) return std::nullopt;
  const std::string path = check_ready_ ? "/readyz" : "/healthz";
  const HealthAddress address = health();
  const Result<> healthy = probe_socket_ != nullptr && !probe_socket_->empty()
                               ? CheckProbes(*probe_socket_, path)
                               : CheckHealth(address.listen, address.tls, path);
  return healthy ? EXIT_SUCCESS : Refuse(healthy.error(), EXIT_FAILURE);
}

Result<> CommandLine::Reread() {
  if (config_file_.empty()) return {};
  if (const Result<> loaded = load_(config_file_); !loaded) return loaded;
  ApplyFlags();
  return {};
}

// Flags are the same every time, so only the first call can fail.
void CommandLine::ApplyFlags() { app_.parse(argc_, argv_); }

Result<config::ClusterAccess> CommandLine::FindCluster() const {
  return config::FindClusterAccess(kubeconfig_, context_);
}

int CommandLine::Refuse(const Error& error, int status) const {
  fmt::print(stderr, "{}: {}\n", program_, error.message);
  return status;
}

}  // namespace synergy::daemon
