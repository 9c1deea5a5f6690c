#pragma once

// The command line of a program that runs on: a configuration file, flags that win over it, and
// what every such program has (--config, --log-level, --log-format, --check-health, --version).
// CLI11 is behind it.
//
// Threading: the main thread. Failures of usage are told on standard error.

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

// Where the program answers GET /healthz.
struct HealthAddress {
  std::string listen;  // as in the configuration
  bool tls = false;
};

struct Usage {
  std::string program;
  std::string description;
  std::string config_page;  // that describes the configuration file
  std::string example;      // arguments
};

// The variables that flags set outlive the CommandLine.
class CommandLine {
 public:
  explicit CommandLine(const Usage& usage);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // The file's settings, where one is named, are read with `load` before the flags are applied.
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

  // --NAME TEXT, taken as it is.
  void Add(const std::string& name, std::string& out, const std::string& help);
  // The same; the environment's `variable` stands in for the flag.
  void AddWithVariable(const std::string& name, const std::string& variable, std::string& out,
                       const std::string& help);
  // --NAME TEXT, which `parse` makes a value of or refuses.
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
  // --NAME, which makes it true.
  void AddSwitch(const std::string& name, bool& out, const std::string& help);
  // --tls-cert-file and --tls-private-key-file, which belong together.
  void AddTls(std::string& certificate_file, std::string& key_file);
  // --metrics-authorization.
  void AddMetricsAuthorization(bool& out);
  // --kubeconfig and --context, for FindCluster().
  void AddCluster();

  // Nothing, when the program is to go on: else all that was asked for is done, or what is wrong
  // has been said, and this is the exit status. `health` is where the same flags make the program
  // answer.
  std::optional<int> Parse(int argc, const char* const* argv,
                           const std::function<HealthAddress()>& health);
  // The file and the flags once more, into the same variables.
  Result<> Reread();
  Result<config::ClusterAccess> FindCluster() const;
  // Says what is wrong; the exit status for it.
  int Refuse(const Error& error, int status = kUsageError) const;

 private:
  void AddLog(LogLevel& level, LogFormat& format);
  void ApplyFlags();

  CLI::App app_;
  std::string program_;
  std::string config_file_;
  std::string kubeconfig_;
  std::string context_;
  bool check_health_ = false;
  int argc_ = 0;
  const char* const* argv_ = nullptr;
  std::function<Result<>(const std::string& file)> load_;
};

}  // namespace synergy::daemon
