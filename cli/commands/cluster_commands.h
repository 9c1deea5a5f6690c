#pragma once

// The commands that query a cluster: explain, top, profiles, queue and failures. Like kubectl's,
// they use the user's kubeconfig and permissions, and nothing else.
//
// Threading: one caller at a time. Output goes to standard output.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "core/result.h"

namespace synergy::cli {

class ClusterCommands {
 public:
  // Adds the commands to `app`. REQUIRES: `app` outlives this.
  explicit ClusterCommands(CLI::App& app);

  // Returns whether one of them was parsed.
  bool Parsed() const;
  // Returns the name of the parsed command, such as "explain".
  std::string Name() const;
  // kInvalid for invalid arguments.
  Result<> Run() const;

 private:
  void AddCommon(CLI::App& command);
  Result<> RunExplain() const;
  Result<> RunExplainJob(const std::string& name) const;
  // Prints the failed attempts of a job without a Workload; `error` reports that it has none.
  Result<> PrintAttempts(const Connection& connection, const std::string& name,
                         const Error& error) const;
  Result<> RunQueue() const;
  Result<> RunTop() const;
  Result<> RunProfiles() const;
  Result<> RunFailures() const;

  CLI::App* explain_;
  CLI::App* top_;
  CLI::App* profiles_;
  CLI::App* queue_;
  CLI::App* failures_;
  std::string since_ = "24h";
  std::vector<std::string> explained_;
  std::string top_of_;
  std::string queue_named_;
  std::vector<std::string> profile_named_;  // a name, or "export" and a name
  ClusterArguments cluster_;
  ControllerAddress controller_;
  std::string output_ = "table";
  bool all_namespaces_ = false;
  bool each_node_ = false;
};

}  // namespace synergy::cli
