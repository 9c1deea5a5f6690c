#pragma once

// The cluster that a command asks, with the user's own kubeconfig and rights.
//
// Threading: values; one caller at a time.

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/cluster/progress.h"
#include "cluster/claims.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

// As written on the command line.
struct ClusterArguments {
  std::string kubeconfig;
  std::string context;
  std::string pod_namespace;
  std::string gpu_resource = "nvidia.com/gpu";
  std::string scheduler_name = ClaimRules().scheduler_name;
};

// What its pods are read by.
wire::PodRules RulesOf(const ClusterArguments& arguments);

// --namespace, --kubeconfig, --context, --gpu-resource and --scheduler-name; parsing fills
// `arguments`, which has to stay where it is.
void AddClusterOptions(CLI::App& command, ClusterArguments& arguments);

// --synergy-namespace and --synergy-service; likewise.
void AddControllerOptions(CLI::App& command, ControllerAddress& controller);

struct Connection {
  std::unique_ptr<kube::ApiClient> client;
  wire::ObjectReader reader;
  std::string pod_namespace;  // --namespace, else the context's, else "default"
};

// kInvalid: there is no kubeconfig, or it makes no sense.
Result<Connection> Connect(const ClusterArguments& arguments);

}  // namespace synergy::cli
