#pragma once

// `synergy ui`: a page with the cluster's present state, for the user's own browser, or for
// everyone with a token of the cluster.
//
// Threading: one caller at a time. Output goes to standard output. Running it blocks SIGINT and
// SIGTERM for the rest of the process.

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "core/result.h"

namespace synergy::cli {

struct UiArguments {
  ClusterArguments cluster;
  ControllerAddress controller;
  uint16_t port = 0;   // 0: any free port
  std::string listen;  // empty: only the user's own browser
  std::string certificate_file;
  std::string key_file;
};

// Adds the command to `app`; parsing fills `arguments`. REQUIRES: `arguments` stays at its address.
CLI::App* AddUi(CLI::App& app, UiArguments& arguments);

// Serves until SIGINT or SIGTERM; returns kInvalid for an invalid kubeconfig or argument.
Result<> RunUi(const UiArguments& arguments);

}  // namespace synergy::cli
