#pragma once

// How to reach an API server: from a kubeconfig file or from inside a pod.
//
// Threading: pure but for reading the files named. Errors name the file and the field.

#include <string>
#include <utility>
#include <vector>

#include "core/result.h"

namespace synergy::config {

struct CredentialPlugin {
  std::string api_version;  // "client.authentication.k8s.io/v1"
  std::string command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside what is there
  std::string install_hint;
};

struct ClusterAccess {
  std::string server;           // URL
  std::string ca_pem;           // empty: the system's authorities
  std::string certificate_pem;  // both or neither
  std::string key_pem;
  // The files that these came from, which may change; empty for what stands in the kubeconfig.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string token;       // at most one of token and token_file
  std::string token_file;  // read again as it changes (service account tokens rotate)
  std::string tls_server_name;
  bool skip_verify = false;
  std::string default_namespace;  // the context's; empty: none is set
  // A program that hands out credentials, as clouds' command lines do (client-go's credential
  // plugins); empty command: none. Whoever cannot run it must not connect.
  CredentialPlugin plugin;
};

// The current context of a kubeconfig, or `context` if not empty. Relative file names are relative
// to the kubeconfig. Credential plugins are refused: servers have credentials of their own.
Result<ClusterAccess> LoadKubeconfig(const std::string& file, const std::string& context = {});

// As kubectl finds it: of several files each entry is taken from the first that has it, and those
// that do not exist are passed over.
Result<ClusterAccess> LoadKubeconfigs(const std::vector<std::string>& files,
                                      const std::string& context = {});

// What a pod is given: KUBERNETES_SERVICE_HOST/PORT (passed in) and the service account's folder.
Result<ClusterAccess> InClusterAccess(
    const std::string& host, const std::string& port,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

// That of `kubeconfig`, and without one that of the pod that we run in, by its environment.
Result<ClusterAccess> FindClusterAccess(const std::string& kubeconfig, const std::string& context);

}  // namespace synergy::config
