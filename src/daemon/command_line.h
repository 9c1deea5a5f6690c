#pragma once

// The command line of a daemon: a configuration file, flags that override it, and the flags that
// every daemon has (--config, --log-level, --log-format, --check-health, --check-ready, --version).
// Uses CLI11.
//
// Threading: the main thread. Failures: prints usage errors on standard error.

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "config/kubeconfig.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::daemon {

constexpr int kUsageError = 2;

// The address at which the program answers GET /healthz and /readyz.
struct HealthAddress {
  std::string listen;  // as in the configuration
  bool tls = false;
};

struct Usage {
  std::string program;
  std::string description;
  std::string config_page;  // the page that describes the configuration file
  std::string example;      // example arguments
};

// The variables that flags set must outlive the CommandLine.
class CommandLine {
 public:
  explicit CommandLine(const Usage& usage);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // If --config names a file, reads its settings with `load` before applying the flags.
  template <class Config>
  void SetConfig(Config& config, Result<Config> (*load)(const std::string& file)) {
    load_ = [&config, load](const std::string& file) -> Result<> {
      Result<Config> loaded = load(file);
      if (!loaded) return Fail(loaded.error());
      config = *std::move(loaded);
      return {};
    };
    AddLog(config.log_level, config.log_format);
  }

  // Adds --NAME TEXT, which is stored unchanged.
  void Add(const std::string& name, std::string& out, const std::string& help);
  // Does the same; without the flag, uses the environment variable `variable`.
  void AddWithVariable(const std::string& name, const std::string& variable, std::string& out,
                       const std::string& help);
  // Adds --NAME TEXT, which `parse` converts or refuses.
  template <class Out, class Parse>
  void Add(const std::string& name, Out& out, Parse parse, const std::string& help) {
    app_.add_option(
            name,
            [&out, parse, name](const CLI::results_t& texts) {
              auto parsed = parse(texts.front());
              if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
              out = *std::move(parsed);
              return true;
            },
            help)
        ->type_name("TEXT");
  }
  // Adds --NAME, which sets `out` to true.
  void AddSwitch(const std::string& name, bool& out, const std::string& help);
  // Adds --tls-cert-file and --tls-private-key-file, which require each other.
  void AddTls(std::string& certificate_file, std::string& key_file);
  // Adds --gpu-resource.
  void AddGpuResource(std::string& out);
  // Adds --probe-socket.
  void AddProbeSocket(std::string& out);
  // Adds --metrics-authorization.
  void AddMetricsAuthorization(bool& out);
  // Adds --kubeconfig and --context, for FindCluster().
  void AddCluster();

  // Returns nullopt if the program should continue. Otherwise the request was handled, or the error
  // was reported, and the result is the exit status. `health`: the address at which a program with
  // the same flags answers.
  std::optional<int> Parse(int argc, const char* const* argv,
                           const std::function<HealthAddress()>& health);
  // Applies the file and the flags again, to the same variables.
  Result<> Reread();
  Result<config::ClusterAccess> FindCluster() const;
  // Reports the error and returns `status`.
  int Refuse(const Error& error, int status = kUsageError) const;

 private:
  void AddLog(LogLevel& level, LogFormat& format);
  void ApplyFlags();

  CLI::App app_;
  std::string program_;
  std::string config_file_;
  std::string kubeconfig_;
  std::string context_;
  const std::string* probe_socket_ = nullptr;  // the argument of AddProbeSocket()
  bool check_health_ = false;
  bool check_ready_ = false;
  int argc_ = 0;
  const char* const* argv_ = nullptr;
  std::function<Result<>(const std::string& file)> load_;
};

}  // namespace synergy::daemon
