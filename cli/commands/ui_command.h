#pragma once

// `synergy ui`: the page with the cluster as it is now, in the user's own browser.
//
// Threading: one caller at a time. Output goes to standard output.

#include <cstdint>

#include <CLI/CLI.hpp>

#include "cli/cluster/cluster_connection.h"
#include "cli/cluster/progress.h"
#include "core/result.h"

namespace synergy::cli {

struct UiArguments {
  ClusterArguments cluster;
  ControllerAddress controller;
  uint16_t port = 0;  // 0: any free one
};

// Adds the command to `app`; parsing fills `arguments`, which has to stay where it is.
CLI::App* AddUi(CLI::App& app, UiArguments& arguments);

// Serves until the process is ended. kInvalid: the kubeconfig or an argument makes no sense.
Result<> RunUi(const UiArguments& arguments);

}  // namespace synergy::cli
