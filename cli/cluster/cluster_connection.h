#pragma once

// Connects a command to the cluster, with the user's own kubeconfig and rights.
//
// Threading: values; one caller at a time.

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cluster/progress.h"
#include "cluster/claims.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

// Values of the command line.
struct ClusterArguments {
  std::string kubeconfig;
  std::string context;
  std::string pod_namespace;
  std::string gpu_resource = "nvidia.com/gpu";
  std::vector<std::string> device_classes = {"gpu.nvidia.com"};
  std::string scheduler_name = ClaimRules().scheduler_name;
};

// Returns the rules for reading pods.
wire::PodRules RulesOf(const ClusterArguments& arguments);

// Adds --namespace, --kubeconfig, --context, --gpu-resource, --device-classes and
// --scheduler-name. Parsing fills `arguments`, which has to outlive `command`.
void AddClusterOptions(CLI::App& command, ClusterArguments& arguments);

// Adds --synergy-namespace and --synergy-service, in the same way.
void AddControllerOptions(CLI::App& command, ControllerAddress& controller);

struct Connection {
  std::unique_ptr<kube::ApiClient> client;
  wire::ObjectReader reader;
  std::string pod_namespace;  // --namespace, or the context's, or "default"
  std::vector<std::string> device_classes;
};

// Fails with kInvalid if there is no kubeconfig, or it is malformed.
Result<Connection> Connect(const ClusterArguments& arguments);

}  // namespace synergy::cli
