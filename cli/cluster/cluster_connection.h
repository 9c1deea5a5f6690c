#pragma once

// Connects a command to the cluster, with the user's own kubeconfig and rights.
//
// Threading: values; one caller at a time.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/cluster/progress.h"
#include "cluster/claims.h"
#include "config/kubeconfig.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

// Values of the command line.
struct ClusterArguments {
  std::string kubeconfig;
  config::AccessOverrides access;
  std::string request_timeout;  // a Go duration; empty: the default
  std::string pod_namespace;
  std::string gpu_resource = "nvidia.com/gpu";
  std::vector<std::string> device_classes = {"gpu.nvidia.com"};
  std::string scheduler_name = ClaimRules().scheduler_name;
};

// Returns the rules for reading pods.
wire::PodRules RulesOf(const ClusterArguments& arguments);

// Adds --namespace and all other options of kubectl that say which cluster and as whom, and
// --gpu-resource, --device-classes and --scheduler-name. Leaves out those that `command` has for
// something else. Parsing fills `arguments`, which has to outlive `command`.
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

// Connects to the same API server with nothing but a bearer token, which must not be empty. From
// any thread.
using ConnectByToken = std::function<Result<Connection>(const std::string& token)>;

// Finds the API server as Connect() does, in a pod also without a service account's token, and
// drops all credentials. Failures: as Connect().
Result<ConnectByToken> FindServer(const ClusterArguments& arguments);

// Returns the kubeconfigs that kubectl would read.
std::vector<std::string> KubeconfigFiles(const ClusterArguments& arguments);

// Returns the names of the cluster's namespaces, for completion: none if they are not known within
// two seconds without a credential plugin.
std::vector<std::string> NamespaceNames(const ClusterArguments& arguments);

}  // namespace synergy::cli
