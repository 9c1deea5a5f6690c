#pragma once

// The commands that query a cluster: explain, top, profiles, queue and failures. Like kubectl's,
// they use only the user's kubeconfig and permissions. `failures` with files reads those instead.
//
// Threading: one caller at a time. Output goes to standard output.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/cluster_facts.h"
#include "cli/cluster/progress.h"
#include "cli/commands/failure_command.h"
#include "cli/commands/output.h"
#include "core/result.h"

namespace synergy::cli {

class ClusterCommands {
 public:
  // Adds the commands to `app`. REQUIRES: `app` outlives this object.
  explicit ClusterCommands(CLI::App& app);

  // Returns whether one of them was parsed.
  bool Parsed() const;
  // Returns kInvalid for invalid arguments.
  Result<> Run() const;

 private:
  void AddTopOptions();
  void AddFailuresOptions();
  Result<> RunExplain() const;
  // `name`: the pod; empty: the pods that --selector chooses.
  Result<> RunExplainPods(const std::string& name) const;
  Result<> RunExplainJob(const std::string& name) const;
  Result<Shown> ShowJob(const Connection& connection, const std::string& name) const;
  // Shows the failed attempts of a job that has no Workload, as `error` reports.
  Result<Shown> ShowAttempts(const Connection& connection, const std::string& name,
                             const Error& error) const;
  Result<> RunQueue() const;
  Result<Shown> ShowQueue(const Connection& connection) const;
  Result<> RunTop() const;
  Result<> RunProfiles() const;
  Result<Shown> ShowNamedProfile(const Profiles& profiles,
                                 const std::string& profile_namespace) const;
  Result<> RunFailures() const;
  bool ExportsProfile() const { return profile_named_.size() > 1; }
  // Returns the namespace of pods and profiles; empty: all.
  std::string NamespaceOf(const Connection& connection) const {
    return all_namespaces_ ? "" : connection.pod_namespace;
  }

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
  OutputArguments output_;
  std::string labels_;        // a selector; empty: all objects
  FailureArguments failure_;  // the arguments of `failures FILE`
  bool all_namespaces_ = false;
  bool each_node_ = false;
};

}  // namespace synergy::cli
