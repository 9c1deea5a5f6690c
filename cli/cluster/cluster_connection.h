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

// The values from the command line.
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

// Adds --namespace, all other options of kubectl that select a cluster and a user, and
// --gpu-resource, --device-classes and --scheduler-name. Omits options that `command` uses for
// something else. Parsing fills `arguments`, which must outlive `command`.
void AddClusterOptions(CLI::App& command, ClusterArguments& arguments);

// Adds --synergy-namespace and --synergy-service, in the same way.
void AddControllerOptions(CLI::App& command, ControllerAddress& controller);

struct Connection {
  std::unique_ptr<kube::ApiClient> client;
  wire::ObjectReader reader;
  std::string pod_namespace;  // from --namespace, or else the context, or else "default"
  std::vector<std::string> device_classes;
};

// Fails with kInvalid if there is no kubeconfig, or if it is malformed.
Result<Connection> Connect(const ClusterArguments& arguments);

// Connects to the same API server with only a bearer token, which must not be empty. Any thread may
// call it.
using ConnectByToken = std::function<Result<Connection>(const std::string& token)>;

// Finds the API server as Connect() does (inside a pod even without a service account's token), and
// drops all credentials. Failures: the same as Connect().
Result<ConnectByToken> FindServer(const ClusterArguments& arguments);

// Returns the kubeconfigs that kubectl would read.
std::vector<std::string> KubeconfigFiles(const ClusterArguments& arguments);

// Returns the names of the cluster's namespaces, for completion; none if they cannot be found
// within two seconds without a credential plugin.
std::vector<std::string> NamespaceNames(const ClusterArguments& arguments);

}  // namespace synergy::cli
